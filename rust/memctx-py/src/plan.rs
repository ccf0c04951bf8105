//! `memctx._core.plan_facts`: the changes to known facts that new statements require.

use memctx_core::facts::{self, Action, Draft, Known, Op};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{checked, enter_core, guarded, text_of, valid};

/// A draft as Python hands it over: id, content, action, target.
type Row<'py> = (Bound<'py, PyString>, Bound<'py, PyString>, Option<String>, Option<Bound<'py, PyString>>);
/// Step of a plan: action, target, reason, and why the extractor's proposal was overruled.
type Planned = (&'static str, Option<String>, String, Option<String>);

/// Plan the step for each candidate, in order; a later one sees the effect of the earlier ones.
#[pyfunction]
#[pyo3(signature = (drafts, known, *, allow_delete = false))]
pub(crate) fn plan_facts(
    py: Python<'_>,
    drafts: Vec<Row<'_>>,
    #[pyo3(from_py_with = checked)] known: Vec<(Bound<'_, PyString>, Bound<'_, PyString>)>,
    allow_delete: bool,
) -> PyResult<Vec<Planned>> {
    let actions = guarded(|| {
        let parse = |row: &Row<'_>| row.2.as_deref().map(Action::parse).transpose();
        drafts.iter().map(parse).collect::<memctx_core::Result<Vec<_>>>()
    })?;
    let contents = drafts.iter().map(|row| text_of(&row.1)).collect::<PyResult<Vec<_>>>()?;
    let rows = drafts.iter().zip(&contents).zip(actions).map(|(((id, _, _, target), content), action)| {
        let target = target.as_ref().map(|target| target.to_str()).transpose()?;
        Ok(Draft { id: valid(id)?, content, action, target })
    });
    let rows = rows.collect::<PyResult<Vec<_>>>()?;
    let known_contents = known.iter().map(|(_, content)| text_of(content)).collect::<PyResult<Vec<_>>>()?;
    let known = known.iter().zip(&known_contents).map(|((id, _), content)| Ok(Known { id: valid(id)?, content }));
    let known = known.collect::<PyResult<Vec<_>>>()?;
    let row = |op: Op| {
        let Op { action, target, reason, degraded } = op;
        (action.name(), target, reason.into_owned(), degraded.map(std::borrow::Cow::into_owned))
    };
    enter_core(py, || Ok(facts::plan(&rows, &known, allow_delete).into_iter().map(row).collect()))
}
