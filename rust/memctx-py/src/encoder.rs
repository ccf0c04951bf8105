//! `memctx._core.Encoder`.

use std::path::PathBuf;
use std::sync::Arc;

use memctx_core::embed::Encoder as Core;
use memctx_core::store::Model;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{checked, enter_core};
use crate::embed;
use crate::error::to_python;

/// Vectors from a small transformer over word pieces: meaning in many languages without a runtime.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Encoder(Arc<Core>);

impl Encoder {
    /// It as the model of a store.
    pub(crate) fn model(&self) -> PyResult<Model> {
        Model::encoder(&self.0).map_err(|fault| to_python(&fault))
    }
}

#[pymethods]
impl Encoder {
    /// Load an encoder from its file.
    #[staticmethod]
    fn load(py: Python<'_>, #[pyo3(from_py_with = checked)] path: PathBuf) -> PyResult<Self> {
        enter_core(py, || Core::load(&path)).map(|core| Self(Arc::new(core)))
    }

    /// The name stored beside vectors made with it.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// A number that changes with the file.
    #[getter]
    fn revision(&self) -> &str {
        self.0.revision()
    }

    /// The length of its vectors.
    #[getter]
    fn dim(&self) -> usize {
        self.0.dim()
    }

    /// Return the numbers of the pieces that a text is cut into.
    fn tokens(&self, #[pyo3(from_py_with = checked)] text: &str) -> Vec<u32> {
        self.0.tokens(text)
    }

    /// Return the vector of a text: length 1, or all zeros when no known piece is in the text.
    fn embed<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        embed::embed(&*self.0, self.0.dim(), text)
    }

    /// Return one row for each text.
    fn embed_many<'py>(&self, texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        embed::embed_many(&*self.0, self.0.dim(), texts)
    }
}
