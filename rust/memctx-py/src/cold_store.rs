//! `memctx.ColdStore` and the iterator over what is on disk.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Mutex;

use memctx_core::store::{self, Wanted};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::boundary::{amount_of, enter_core, text_of, texts_of};
use crate::segment::Segment;
use crate::warm_store::{all_of, health, session_of};

/// Everything ever archived in a directory, read from disk as it is asked for.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct ColdStore {
    path: PathBuf,
    store: store::ColdStore,
}

#[pymethods]
impl ColdStore {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let store = enter_core(py, || store::ColdStore::open(&path))?;
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
        since: Option<f64>,
        until: Option<f64>,
        topics: Option<&Bound<'_, PyAny>>,
        contains: Option<&Bound<'_, PyString>>,
    ) -> PyResult<Scan> {
        let wanted = Wanted {
            session: session_id.map(|session| Ok::<_, PyErr>(session_of(session)?.to_owned())).transpose()?,
            roles: owned(roles)?,
            since,
            until,
            topics: owned(topics)?,
            contains: contains.map(|text| Ok::<_, PyErr>(text_of(text)?.into_owned())).transpose()?,
        };
        Ok(Scan::new(enter_core(py, || self.store.scan(wanted))?))
    }

    /// At most so many segments whose lines begin at or after a place, and the place to go on from.
    #[pyo3(signature = (offset, *, session_id = None, roles = None, limit = 256))]
    fn read_from(
        &self,
        py: Python<'_>,
        offset: i64,
        session_id: Option<&Bound<'_, PyString>>,
        roles: Option<&Bound<'_, PyAny>>,
        limit: i64,
    ) -> PyResult<(Vec<Segment>, u64)> {
        let session = session_id.map(|session| Ok::<_, PyErr>(session_of(session)?.to_owned())).transpose()?;
        let wanted = Wanted { session, roles: owned(roles)?, ..Wanted::default() };
        let (offset, limit) = (amount_of("offset", offset)?, amount_of("limit", limit)?);
        let (found, next) = enter_core(py, || self.store.read_from(offset, &wanted, limit))?;
        Ok((found.into_iter().map(Segment).collect(), next))
    }

    /// What a reader passes over. It reads the whole log.
    fn health<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        health(py, &enter_core(py, || self.store.health())?)
    }

    fn __repr__(&self) -> String {
        format!("ColdStore({:?})", self.path.display().to_string())
    }
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
