//! `memctx.Fact` and `memctx.lowlevel.FactHit`.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use memctx_core::facts::Found;
use memctx_core::store::Fact as Core;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A statement that holds, or held until another took its place.
#[pyclass(frozen, eq, module = "memctx._core")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fact(pub(crate) Core);

#[pymethods]
impl Fact {
    /// Unique; the same in every state of the fact.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// ``decision``, ``implementation``, ``config``, ``issue``, ``task_state``, ``architecture``, ``preference``, ``note``,
    /// or what another program wrote.
    #[getter]
    fn r#type(&self) -> &str {
        &self.0.kind
    }

    /// The statement, secrets masked.
    #[getter]
    fn content(&self) -> &str {
        &self.0.content
    }

    /// Context in which it came up.
    #[getter]
    fn context(&self) -> Option<&str> {
        self.0.context.as_deref()
    }

    /// Time of the statement or of the last change, in milliseconds since 1970; None if another program did not write
    /// it.
    #[getter]
    fn timestamp(&self) -> Option<f64> {
        self.0.timestamp
    }

    /// The fact that took its place.
    #[getter]
    fn superseded_by(&self) -> Option<&str> {
        self.0.superseded_by.as_deref()
    }

    /// The session it came up in; None where another program did not say.
    #[getter]
    fn session_id(&self) -> Option<&str> {
        self.0.session.as_deref()
    }

    /// The segments it was taken from.
    #[getter]
    fn sources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.sources)
    }

    /// True if it holds: neither superseded nor forgotten.
    #[getter]
    fn is_active(&self) -> bool {
        self.0.is_active()
    }

    /// Number of changes before this state.
    #[getter]
    fn revision(&self) -> u32 {
        self.0.revision
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.0.id, self.0.revision).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        const SHOWN: usize = 60;
        let Core { id, kind, content, revision, superseded_by, is_deleted, .. } = &self.0;
        let start: String = content.chars().take(SHOWN).collect();
        let dots = if start.len() < content.len() { "…" } else { "" };
        let revised = if *revision > 0 { format!(", revision={revision}") } else { String::new() };
        let fate = match superseded_by {
            _ if *is_deleted => ", forgotten".to_owned(),
            Some(by) => format!(", superseded_by={by:?}"),
            None => String::new(),
        };
        format!("Fact(id={id:?}, type={kind:?}, content={:?}{revised}{fate})", start + dots)
    }
}

/// A fact that answers a question.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct FactHit(pub(crate) Found);

#[pymethods]
impl FactHit {
    /// The fact.
    #[getter]
    fn fact(&self) -> Fact {
        Fact(self.0.fact.clone())
    }

    /// The share of what the question's words tell that the fact has, from 0 to 1.
    #[getter]
    fn score(&self) -> f64 {
        self.0.score
    }

    /// Number of the question's words that it has.
    #[getter]
    fn matched(&self) -> usize {
        self.0.matched
    }

    /// Explanation of the score, if it was asked for.
    #[getter]
    fn explanation(&self) -> Option<String> {
        self.0.explanation.as_ref().map(ToString::to_string)
    }

    fn __repr__(&self) -> String {
        let Found { fact, score, matched, .. } = &self.0;
        format!("FactHit(id={:?}, score={score:.6}, matched={matched})", fact.id)
    }
}
