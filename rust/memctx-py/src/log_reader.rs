//! `memctx.lowlevel.LogReader` and the iterator over what is on disk.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Mutex;

use memctx_core::store::{self, Wanted};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::boundary::{amount_of, checked, enter_core, text_of, texts_of};
use crate::segment::Segment;
use crate::store::{all_of, health, session_of};

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

    /// The segments that pass all tests, in the order they were written.
    #[pyo3(signature = (*, session_id = None, roles = None, since = None, until = None, topics = None, contains = None))]
    #[allow(clippy::too_many_arguments)]
    fn scan(
        &self,
        py: Python<'_>,
        session_id: Option<&Bound<'_, PyString>>,
        roles: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = checked)] since: Option<f64>,
        #[pyo3(from_py_with = checked)] until: Option<f64>,
        topics: Option<&Bound<'_, PyAny>>,
        contains: Option<&Bound<'_, PyString>>,
    ) -> PyResult<Scan> {
        let wanted = Wanted {
            since,
            until,
            topics: owned(topics)?,
            contains: contains.map(|text| Ok::<_, PyErr>(text_of(text)?.into_owned())).transpose()?,
            ..wanted_of(session_id, roles)?
        };
        Ok(Scan::new(enter_core(py, || self.store.scan(wanted))?))
    }

    /// At most so many segments whose lines begin at or after a place, and the place to go on from.
    #[pyo3(signature = (offset, *, session_id = None, roles = None, limit = 256))]
    fn read_from(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] offset: i64,
        session_id: Option<&Bound<'_, PyString>>,
        roles: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = checked)] limit: i64,
    ) -> PyResult<(Vec<Segment>, u64)> {
        let wanted = wanted_of(session_id, roles)?;
        let (offset, limit) = (amount_of("offset", offset)?, amount_of("limit", limit)?);
        let (found, next) = enter_core(py, || self.store.read_from(offset, &wanted, limit))?;
        Ok((found.into_iter().map(Segment).collect(), next))
    }

    /// Return the offset at which the last whole line ends.
    fn end(&self, py: Python<'_>) -> PyResult<u64> {
        enter_core(py, || self.store.end())
    }

    /// Return a checksum of the bytes before an offset; None if the log is shorter.
    fn mark(&self, py: Python<'_>, #[pyo3(from_py_with = checked)] offset: i64) -> PyResult<Option<u32>> {
        let offset = amount_of("offset", offset)?;
        enter_core(py, || self.store.mark(offset))
    }

    /// Return the offset behind the first segment of an id; None if there is none.
    #[pyo3(signature = (id, *, session_id = None, roles = None))]
    fn offset_after(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyString>,
        session_id: Option<&Bound<'_, PyString>>,
        roles: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<u64>> {
        let (id, wanted) = (text_of(id)?, wanted_of(session_id, roles)?);
        enter_core(py, || self.store.offset_after(&id, &wanted))
    }

    /// Return the id of the last segment that lies before an offset; None if there is none.
    #[pyo3(signature = (offset, *, session_id = None, roles = None))]
    fn last_before(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] offset: i64,
        session_id: Option<&Bound<'_, PyString>>,
        roles: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<String>> {
        let (offset, wanted) = (amount_of("offset", offset)?, wanted_of(session_id, roles)?);
        enter_core(py, || self.store.last_before(offset, &wanted))
    }

    /// What a reader passes over. It reads the whole log.
    fn health<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        health(py, &enter_core(py, || self.store.health())?)
    }

    fn __repr__(&self) -> String {
        format!("LogReader({:?})", self.path.display().to_string())
    }
}

fn wanted_of(session_id: Option<&Bound<'_, PyString>>, roles: Option<&Bound<'_, PyAny>>) -> PyResult<Wanted> {
    let session = session_id.map(|session| Ok::<_, PyErr>(session_of(session)?.to_owned())).transpose()?;
    Ok(Wanted { session, roles: owned(roles)?, ..Wanted::default() })
}

fn owned(texts: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<String>>> {
    let Some(texts) = texts.map(texts_of).transpose()? else { return Ok(None) };
    Ok(Some(all_of(&texts)?.into_iter().map(Cow::into_owned).collect()))
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
