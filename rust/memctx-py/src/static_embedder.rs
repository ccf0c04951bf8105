//! `memctx._core.StaticEmbedder`.

use std::path::PathBuf;
use std::sync::Arc;

use memctx_core::embed::{Choices, StaticEmbedder as Core};
use memctx_core::store::Model;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{amount_of, checked, enter_core};
use crate::embed;
use crate::error::to_python;

/// Vectors from a table of word parts, such as those of model2vec and `WordLlama`: meaning without a runtime.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct StaticEmbedder(Arc<Core>);

impl StaticEmbedder {
    /// It as the model of a store.
    pub(crate) fn model(&self) -> PyResult<Model> {
        Model::table(&self.0).map_err(|fault| to_python(&fault))
    }
}

#[pymethods]
impl StaticEmbedder {
    /// Load a model from its folder, or from the ``.safetensors`` file of its table.
    #[staticmethod]
    #[pyo3(signature = (path, *, tokenizer = None, name = None, dim = None, max_tokens = 512))]
    fn load(
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] path: PathBuf,
        #[pyo3(from_py_with = checked)] tokenizer: Option<PathBuf>,
        #[pyo3(from_py_with = checked)] name: Option<String>,
        #[pyo3(from_py_with = checked)] dim: Option<i64>,
        #[pyo3(from_py_with = checked)] max_tokens: i64,
    ) -> PyResult<Self> {
        let dim = dim.map(|dim| amount_of("dim", dim)).transpose()?;
        let max_tokens = amount_of("max_tokens", max_tokens)?;
        let choices = Choices { tokenizer: tokenizer.as_deref(), name: name.as_deref(), dim, max_tokens };
        enter_core(py, || Core::load(&path, choices)).map(|core| Self(Arc::new(core)))
    }

    /// The name stored beside vectors made with it: the one given, or that of the folder or file.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Changes with all else that changes its vectors: table, tokenizer, ``max_tokens``, and how they are used.
    #[getter]
    fn revision(&self) -> &str {
        self.0.revision()
    }

    /// The length of its vectors.
    #[getter]
    fn dim(&self) -> usize {
        self.0.dim()
    }

    /// Always true: a vector takes microseconds, so it can be made wherever one is needed.
    #[allow(clippy::unused_self)] // a property in Python, which other embedders answer otherwise
    #[getter]
    fn is_instant(&self) -> bool {
        true
    }

    /// Return the vector of a text: length 1, or all zeros when no known part is in the text.
    fn embed<'py>(&self, text: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        embed::embed(&*self.0, self.0.dim(), text)
    }

    /// Return one row for each text.
    fn embed_many<'py>(&self, texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        embed::embed_many(&*self.0, self.0.dim(), texts)
    }
}
