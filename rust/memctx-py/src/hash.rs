//! `memctx.lowlevel.HashEmbedder`.

use std::sync::Arc;

use memctx_core::embed::HashEmbedder as Core;
use memctx_core::store::{Maker, Model, VectorWeight};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{checked, dim_of, enter_core};
use crate::embed;
use crate::error::to_python;

/// Vectors from character trigrams: no model, no network, the same on every machine.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct HashEmbedder(Arc<Core>);

impl HashEmbedder {
    /// It as the model of a store.
    pub(crate) fn model(&self) -> PyResult<Model> {
        if self.0.dim() == Model::hash().dim() {
            return Ok(Model::hash());
        }
        let maker: Arc<dyn Maker> = self.0.clone();
        let model = Model::instant(Core::NAME, "1", self.0.dim(), maker).map_err(|fault| to_python(&fault))?;
        Ok(model.worth(VectorWeight::SPELLING))
    }
}

#[pymethods]
impl HashEmbedder {
    #[new]
    #[pyo3(signature = (dim = 384))]
    fn new(py: Python<'_>, #[pyo3(from_py_with = checked)] dim: i64) -> PyResult<Self> {
        let dim = dim_of(dim, Core::MAX_DIM)?;
        enter_core(py, || Core::new(dim)).map(|core| Self(Arc::new(core)))
    }

    /// The name stored beside vectors made with it.
    #[allow(clippy::unused_self)] // a property in Python, like those of other embedders
    #[getter]
    fn name(&self) -> &'static str {
        Core::NAME
    }

    /// The length of its vectors.
    #[getter]
    fn dim(&self) -> usize {
        self.0.dim()
    }

    /// Return the vector of a text: length 1, or all zeros when nothing in the text counts.
    fn embed<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        embed::embed(&*self.0, self.0.dim(), text)
    }

    /// Return one row for each text.
    fn embed_many<'py>(&self, texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        embed::embed_many(&*self.0, self.0.dim(), texts)
    }
}
