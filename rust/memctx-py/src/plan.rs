//! `memctx._core.plan_facts`: what becomes of the facts that are known when new statements come in.

use memctx_core::knowledge::{self, Action, Draft, Known, Op};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{enter_core, guarded, text_of};

/// A draft as Python hands it over: id, content, action, target.
type Row<'py> = (Bound<'py, PyString>, Bound<'py, PyString>, Option<String>, Option<Bound<'py, PyString>>);
/// What is to be done: action, target, reason, and why the extractor's word was not followed.
type Planned = (&'static str, Option<String>, String, Option<String>);

/// What is to be done for each draft, in order; a later one sees what becomes of the earlier ones.
#[pyfunction]
#[pyo3(signature = (drafts, known, *, allow_delete = false))]
pub(crate) fn plan_facts(
    py: Python<'_>,
    drafts: Vec<Row<'_>>,
    known: Vec<(Bound<'_, PyString>, Bound<'_, PyString>)>,
    allow_delete: bool,
) -> PyResult<Vec<Planned>> {
    let actions = guarded(|| {
        let parse = |row: &Row<'_>| row.2.as_deref().map(Action::parse).transpose();
        drafts.iter().map(parse).collect::<memctx_core::Result<Vec<_>>>()
    })?;
    let contents = drafts.iter().map(|row| text_of(&row.1)).collect::<PyResult<Vec<_>>>()?;
    let rows = drafts.iter().zip(&contents).zip(actions).map(|(((id, _, _, target), content), action)| {
        let target = target.as_ref().map(|target| target.to_str()).transpose()?;
        Ok(Draft { id: id.to_str()?, content, action, target })
    });
    let rows = rows.collect::<PyResult<Vec<_>>>()?;
    let known_contents = known.iter().map(|(_, content)| text_of(content)).collect::<PyResult<Vec<_>>>()?;
    let known = known.iter().zip(&known_contents).map(|((id, _), content)| Ok(Known { id: id.to_str()?, content }));
    let known = known.collect::<PyResult<Vec<_>>>()?;
    let row = |op: Op| {
        let Op { action, target, reason, degraded } = op;
        (action.name(), target, reason.into_owned(), degraded.map(std::borrow::Cow::into_owned))
    };
    enter_core(py, || Ok(knowledge::plan(&rows, &known, allow_delete).into_iter().map(row).collect()))
}
