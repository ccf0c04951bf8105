//! `memctx.lowlevel.LogReader` and the iterator over what is on disk.

use std::path::PathBuf;
use std::sync::Mutex;

use memctx_core::store::{self, LogKind};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::boundary::{amount_of, checked, enter_core, text_of};
use crate::health::health;
use crate::search_filter::SearchFilter;
use crate::segment::Segment;

/// Everything ever archived in a directory, read from disk as it is asked for.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct LogReader {
    path: PathBuf,
    store: store::LogReader,
}

#[pymethods]
impl LogReader {
    #[new]
    fn new(py: Python<'_>, #[pyo3(from_py_with = checked)] path: PathBuf) -> PyResult<Self> {
        let store = enter_core(py, || store::LogReader::open(&path))?;
        Ok(Self { path, store })
    }

    /// The segments that pass the filter, in the order they were written.
    #[pyo3(signature = (filter = None, *, contains = None))]
    fn scan(
        &self,
        py: Python<'_>,
        filter: Option<&Bound<'_, SearchFilter>>,
        contains: Option<&Bound<'_, PyString>>,
    ) -> PyResult<Scan> {
        let contains = contains.map(|text| Ok::<_, PyErr>(text_of(text)?.into_owned())).transpose()?;
        let filter = SearchFilter::given(filter);
        Ok(Scan::new(enter_core(py, || self.store.scan(filter, contains))?))
    }

    /// At most so many segments whose lines begin at or after an offset, and the offset to go on from.
    #[pyo3(signature = (offset, filter = None, *, limit = 256))]
    fn read_from(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] offset: i64,
        filter: Option<&Bound<'_, SearchFilter>>,
        #[pyo3(from_py_with = checked)] limit: i64,
    ) -> PyResult<(Vec<Segment>, u64)> {
        let filter = SearchFilter::given(filter);
        let (offset, limit) = (amount_of("offset", offset)?, amount_of("limit", limit)?);
        let (found, next) = enter_core(py, || self.store.read_from(offset, &filter, limit))?;
        Ok((found.into_iter().map(Segment).collect(), next))
    }

    /// At most so many readable lines of a log from an offset on, each with the offset behind it, and the offset to go on
    /// from.
    #[pyo3(signature = (offset, *, log = "segments", limit = 256))]
    fn read_lines(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] offset: i64,
        #[pyo3(from_py_with = checked)] log: &str,
        #[pyo3(from_py_with = checked)] limit: i64,
    ) -> PyResult<(Vec<(u64, String)>, u64)> {
        let (offset, limit) = (amount_of("offset", offset)?, amount_of("limit", limit)?);
        enter_core(py, || self.store.read_lines(offset, LogKind::parse(log)?, limit))
    }

    /// Return the offset at which the last whole line of a log ends.
    #[pyo3(signature = (*, log = "segments"))]
    fn end(&self, py: Python<'_>, #[pyo3(from_py_with = checked)] log: &str) -> PyResult<u64> {
        enter_core(py, || self.store.end(LogKind::parse(log)?))
    }

    /// Return a checksum of the bytes before an offset; None if the log is shorter.
    #[pyo3(signature = (offset, *, log = "segments"))]
    fn mark(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] offset: i64,
        #[pyo3(from_py_with = checked)] log: &str,
    ) -> PyResult<Option<u32>> {
        let offset = amount_of("offset", offset)?;
        enter_core(py, || self.store.mark(offset, LogKind::parse(log)?))
    }

    /// Return the offset behind the first segment of an id; None if there is none.
    #[pyo3(signature = (id, filter = None))]
    fn offset_after(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyString>,
        filter: Option<&Bound<'_, SearchFilter>>,
    ) -> PyResult<Option<u64>> {
        let (id, filter) = (text_of(id)?, SearchFilter::given(filter));
        enter_core(py, || self.store.offset_after(&id, &filter))
    }

    /// Return the id of the last segment that lies before an offset; None if there is none.
    #[pyo3(signature = (offset, filter = None))]
    fn last_before(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] offset: i64,
        filter: Option<&Bound<'_, SearchFilter>>,
    ) -> PyResult<Option<String>> {
        let (offset, filter) = (amount_of("offset", offset)?, SearchFilter::given(filter));
        enter_core(py, || self.store.last_before(offset, &filter))
    }

    /// Report what a reader skips. It reads the whole log.
    fn health<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        health(py, &enter_core(py, || self.store.health())?)
    }

    fn __repr__(&self) -> String {
        format!("LogReader({:?})", self.path.display().to_string())
    }
}

/// Gives segments one by one.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Scan(Mutex<store::Scan>);

impl Scan {
    pub(crate) fn new(scan: store::Scan) -> Self {
        Self(Mutex::new(scan))
    }
}

#[pymethods]
impl Scan {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Segment>> {
        enter_core(py, || Ok(self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next()))
            .map(|segment| segment.map(Segment))
    }
}
