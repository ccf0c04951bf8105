//! Functions of `memctx.lowlevel.ingest`.

use std::sync::RwLock;

use memctx_core::ingest::{self, Topics as Core};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{checked, enter_core, reading, text_of, texts_of, writing};

/// Return the text without the lines that a chat host added, and without white space around it.
#[pyfunction]
pub(crate) fn strip_channel_prefix(py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<String> {
    let text = text_of(text)?;
    enter_core(py, || Ok(ingest::strip_channel_prefix(&text).into_owned()))
}

/// Return whether a text is not worth keeping.
#[pyfunction]
pub(crate) fn is_noise(py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<bool> {
    let text = text_of(text)?;
    enter_core(py, || Ok(ingest::is_noise(&text)))
}

/// Return the entities of a text, by kind, each value once, 256 at most.
#[pyfunction]
pub(crate) fn entities(py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<Vec<Entity>> {
    let text = text_of(text)?;
    enter_core(py, || Ok(ingest::entities(&text).into_iter().map(Entity).collect()))
}

/// Entity in a text.
#[pyclass(frozen, eq, hash, module = "memctx._core")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Entity(ingest::Entity);

#[pymethods]
impl Entity {
    /// Kind of the entity.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind.name()
    }

    /// Spelling in the text.
    #[getter]
    fn value(&self) -> &str {
        &self.0.value
    }

    /// Offset in UTF-16 units.
    #[getter]
    fn offset(&self) -> u32 {
        self.0.offset
    }

    fn __repr__(&self) -> String {
        format!("Entity(kind={:?}, value={:?}, offset={})", self.kind(), self.0.value, self.0.offset)
    }
}

/// The topics that are looked for, each with its keywords.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Topics(RwLock<Core>);

#[pymethods]
impl Topics {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        enter_core(py, || Ok(Self(RwLock::new(Core::default()))))
    }

    /// Add a topic, or keywords to the one that has this name already. On an error nothing is added.
    fn add(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] name: &str,
        keywords: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let keywords = texts_of(keywords)?;
        let keywords = keywords.iter().map(|keyword| keyword.to_str()).collect::<PyResult<Vec<_>>>()?;
        enter_core(py, || writing(&self.0).add(name, &keywords))
    }

    /// Return the names of all topics, in the order they were defined.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        enter_core(py, || Ok(reading(&self.0).names().to_vec()))
    }

    /// Return the topics of a text, in the order they were defined.
    fn of(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<Vec<String>> {
        let text = text_of(text)?;
        enter_core(py, || Ok(reading(&self.0).of(&text).into_iter().map(str::to_owned).collect()))
    }
}
