//! `memctx.Segment`.

use memctx_core::store::Segment as Core;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One archived message.
#[pyclass(frozen, eq, module = "memctx._core")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Segment(pub(crate) Core);

#[pymethods]
impl Segment {
    /// Unique; a UUID for those that memctx wrote.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// The session it belongs to.
    #[getter]
    fn session_id(&self) -> &str {
        &self.0.session
    }

    /// The host's own key of the session, where it gave one.
    #[getter]
    fn session_key(&self) -> Option<&str> {
        self.0.session_key.as_deref()
    }

    /// Time of the message, in milliseconds since 1970.
    #[getter]
    fn timestamp(&self) -> f64 {
        self.0.timestamp
    }

    /// Role of the speaker: ``user``, ``assistant``, ``tool`` or what another program wrote.
    #[getter]
    fn role(&self) -> &str {
        &self.0.role
    }

    /// The text, secrets masked.
    #[getter]
    fn content(&self) -> &str {
        &self.0.content
    }

    /// The stored estimate of its tokens.
    #[getter]
    fn tokens(&self) -> u32 {
        self.0.tokens
    }

    /// Topics of the segment.
    #[getter]
    fn topics(&self) -> Vec<String> {
        self.0.topics()
    }

    /// Topics, entities and whatever else was stored beside the text.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parsed = py.import("json")?.call_method1("loads", (&self.0.metadata,))?;
        Ok(parsed.cast_into::<PyDict>()?)
    }

    fn __repr__(&self) -> String {
        const SHOWN: usize = 40;
        let Core { id, role, content, .. } = &self.0;
        let start: String = content.chars().take(SHOWN).collect();
        let dots = if start.len() < content.len() { "…" } else { "" };
        format!("Segment(id={id:?}, role={role:?}, content={:?})", start + dots)
    }
}
