//! `memctx.lowlevel.Bm25Index`.

use std::sync::RwLock;

use memctx_core::bm25::Bm25Index as Core;
use memctx_core::text::Mode;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{Limits, checked, count_of, enter_core, reading, text_of, valid, writing};
use crate::explanation::Explanation;
use crate::hit::Hit;

/// A text index in memory that is exact at every moment.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Bm25Index {
    mode: Mode,
    inner: RwLock<Core>,
}

#[pymethods]
impl Bm25Index {
    #[new]
    #[pyo3(signature = (mode = "memctx"))]
    fn new(py: Python<'_>, #[pyo3(from_py_with = checked)] mode: &str) -> PyResult<Self> {
        let mode = enter_core(py, || Mode::parse(mode))?;
        Ok(Self { mode, inner: RwLock::new(Core::new(mode)) })
    }

    /// The tokenizer the index was made with.
    #[getter]
    fn mode(&self) -> &'static str {
        self.mode.name()
    }

    /// Add a document; one with the same id is replaced. ``group`` is what a search can be limited to.
    #[pyo3(signature = (id, text, *, group = ""))]
    fn add(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] id: &str,
        text: &Bound<'_, PyString>,
        #[pyo3(from_py_with = checked)] group: &str,
    ) -> PyResult<()> {
        let text = text_of(text)?;
        enter_core(py, || writing(&self.inner).add(id, &text, group))
    }

    /// Add ``(id, text)`` pairs in order.
    #[pyo3(signature = (items, *, group = ""))]
    fn add_many(
        &self,
        py: Python<'_>,
        items: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = checked)] group: &str,
    ) -> PyResult<()> {
        let items: Vec<(Bound<'_, PyString>, Bound<'_, PyString>)> =
            items.try_iter()?.map(|item| item?.extract()).collect::<PyResult<_>>()?;
        let items = items.iter().map(|(id, text)| Ok((valid(id)?, text_of(text)?))).collect::<PyResult<Vec<_>>>()?;
        // One lock for each document lets searches of other threads in between.
        enter_core(py, || items.iter().try_for_each(|(id, text)| writing(&self.inner).add(id, text, group)))
    }

    /// Take a document out. False when there was none.
    fn remove(&self, py: Python<'_>, #[pyo3(from_py_with = checked)] id: &str) -> PyResult<bool> {
        enter_core(py, || Ok(writing(&self.inner).remove(id)))
    }

    /// Return the best ``k`` documents that share a term with the query, best first, older first among equals.
    #[pyo3(signature = (query, k = 10, *, group = None, within = None))]
    fn search<'py>(
        &self,
        py: Python<'py>,
        query: &Bound<'py, PyString>,
        #[pyo3(from_py_with = checked)] k: i64,
        group: Option<Bound<'py, PyString>>,
        within: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Hit>> {
        let (query, k) = (text_of(query)?, count_of(k)?);
        Limits::new(group, within)?.apply(|filter| {
            enter_core(py, || {
                let index = reading(&self.inner);
                Ok(Hit::list(index.id_map(), &index.search(&query, k, filter), "bm25"))
            })
        })
    }

    /// Return the score of one document, term by term; None when the id is unknown.
    fn explain(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyString>,
        #[pyo3(from_py_with = checked)] id: &str,
    ) -> PyResult<Option<Explanation>> {
        let query = text_of(query)?;
        enter_core(py, || Ok(reading(&self.inner).explain(&query, id).map(Explanation)))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        enter_core(py, || Ok(reading(&self.inner).id_map().len()))
    }

    fn __contains__(&self, py: Python<'_>, #[pyo3(from_py_with = checked)] id: &str) -> PyResult<bool> {
        enter_core(py, || Ok(reading(&self.inner).id_map().number(id).is_some()))
    }
}
