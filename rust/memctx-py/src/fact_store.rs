//! `memctx.lowlevel.FactStore`.

// The words of the format.
#![allow(clippy::similar_names)]

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memctx_core::facts::{self, Change, Kind, Request, Settings};
use memctx_core::redact::Redaction;
use memctx_core::store::Durability;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::boundary::{amount_of, checked, enter_core, text_of, texts_of};
use crate::error::ConfigError;
use crate::fact::{Fact, FactHit};
use crate::fact_change::{Asked, AskedStatement, id_of};
use crate::store::{health, session_of};

/// The facts of a session, or of all sessions of a directory: changed durably, searched exactly.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct FactStore {
    path: PathBuf,
    settings: Settings,
    /// Replaced in a child process, which must not share files and locks with its parent.
    store: Mutex<Arc<facts::FactStore>>,
}

impl FactStore {
    fn store(&self) -> Arc<facts::FactStore> {
        Arc::clone(&self.slot())
    }

    /// Held only for as long as it takes to copy a pointer, and never while the interpreter is released: so no thread
    /// can hold it when a process forks.
    fn slot(&self) -> MutexGuard<'_, Arc<facts::FactStore>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, py: Python<'_>, asked: &Asked<'_>) -> PyResult<Fact> {
        let store = self.store();
        Ok(Fact(enter_core(py, || store.change(&asked.change()?))?))
    }
}

#[pymethods]
impl FactStore {
    #[new]
    #[pyo3(signature = (
        path, *, session_id, cross_session = false, durability = "fsync", redaction = "mask", pii = false,
        patterns = None, lock_timeout = 5.0
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] path: PathBuf,
        session_id: &Bound<'_, PyString>,
        cross_session: bool,
        #[pyo3(from_py_with = checked)] durability: &str,
        #[pyo3(from_py_with = checked)] redaction: &str,
        pii: bool,
        #[pyo3(from_py_with = checked)] patterns: Option<HashMap<String, String>>,
        #[pyo3(from_py_with = checked)] lock_timeout: f64,
    ) -> PyResult<Self> {
        let Ok(lock_timeout) = Duration::try_from_secs_f64(lock_timeout) else {
            let words = format!("lock_timeout must be 0 or more seconds, not {lock_timeout}");
            return Err(ConfigError::new_err(words));
        };
        let mut patterns: Vec<(String, String)> = patterns.unwrap_or_default().into_iter().collect();
        patterns.sort_unstable();
        let session = session_of(session_id)?.to_owned();
        let settings = enter_core(py, || {
            Ok(Settings {
                cross_session,
                durability: Durability::parse(durability)?,
                redaction: Redaction::parse(redaction)?,
                pii,
                patterns,
                lock_timeout,
                ..Settings::new(session)
            })
        })?;
        let opened = settings.clone();
        let store = enter_core(py, || facts::FactStore::open(&path, opened))?;
        Ok(Self { path, settings, store: Mutex::new(Arc::new(store)) })
    }

    /// The directory.
    #[getter]
    fn path(&self) -> &std::ffi::OsStr {
        self.path.as_os_str()
    }

    /// The session that writes.
    #[getter]
    fn session_id(&self) -> &str {
        &self.settings.session
    }

    /// True if the facts of all sessions are visible.
    #[getter]
    fn cross_session(&self) -> bool {
        self.settings.cross_session
    }

    /// State something; the fact that says it, which may be there already.
    #[pyo3(signature = (r#type, content, *, context = None, sources = None, id = None, timestamp = None))]
    #[allow(clippy::too_many_arguments)]
    fn add(
        &self,
        py: Python<'_>,
        r#type: &Bound<'_, PyString>,
        content: &Bound<'_, PyString>,
        context: Option<&Bound<'_, PyString>>,
        sources: Option<&Bound<'_, PyAny>>,
        id: Option<&Bound<'_, PyString>>,
        #[pyo3(from_py_with = checked)] timestamp: Option<f64>,
    ) -> PyResult<Fact> {
        let said = AskedStatement::new(content, context, sources, timestamp)?;
        self.change(py, &Asked::Add { id: id.map(id_of).transpose()?, kind: text_of(r#type)?, said })
    }

    /// Replace the content of a fact, under the same id.
    #[pyo3(signature = (id, content, *, context = None, sources = None))]
    fn update(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyString>,
        content: &Bound<'_, PyString>,
        context: Option<&Bound<'_, PyString>>,
        sources: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Fact> {
        let said = AskedStatement::new(content, context, sources, None)?;
        self.change(py, &Asked::Update { target: text_of(id)?, said })
    }

    /// State something that takes the place of a fact; the new fact.
    #[pyo3(signature = (id, r#type, content, *, context = None, sources = None, new_id = None))]
    #[allow(clippy::too_many_arguments)]
    fn supersede(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyString>,
        r#type: &Bound<'_, PyString>,
        content: &Bound<'_, PyString>,
        context: Option<&Bound<'_, PyString>>,
        sources: Option<&Bound<'_, PyAny>>,
        new_id: Option<&Bound<'_, PyString>>,
    ) -> PyResult<Fact> {
        let said = AskedStatement::new(content, context, sources, None)?;
        let (target, id) = (text_of(id)?, new_id.map(id_of).transpose()?);
        self.change(py, &Asked::Supersede { target, id, kind: text_of(r#type)?, said })
    }

    /// Take a fact back. It stays in the log and in its history.
    fn forget(&self, py: Python<'_>, id: &Bound<'_, PyString>) -> PyResult<Fact> {
        self.change(py, &Asked::Delete { target: text_of(id)? })
    }

    /// Make planned changes in one append; what became of each.
    fn apply(&self, py: Python<'_>, changes: &Bound<'_, PyAny>) -> PyResult<Vec<&'static str>> {
        let given: Vec<Bound<'_, PyTuple>> =
            changes.try_iter()?.map(|change| Ok(change?.cast_into::<PyTuple>()?)).collect::<PyResult<_>>()?;
        let asked: Vec<Asked<'static>> = given.iter().map(Asked::of).collect::<PyResult<_>>()?;
        let store = self.store();
        let outcomes = enter_core(py, || {
            let changes: Vec<Change<'_>> = asked.iter().map(Asked::change).collect::<memctx_core::Result<_>>()?;
            store.apply(&changes)
        })?;
        Ok(outcomes.into_iter().map(facts::Outcome::name).collect())
    }

    /// Return a fact as it is now, superseded or not; None if it is not known or was forgotten.
    fn get(&self, py: Python<'_>, id: &Bound<'_, PyString>) -> PyResult<Option<Fact>> {
        let (id, store) = (text_of(id)?, self.store());
        Ok(enter_core(py, || store.get(&id))?.map(Fact))
    }

    /// Return the facts that hold, newest first.
    #[pyo3(signature = (*, types = None, limit = None, include_superseded = false))]
    fn facts(
        &self,
        py: Python<'_>,
        types: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = checked)] limit: Option<i64>,
        include_superseded: bool,
    ) -> PyResult<Vec<Fact>> {
        let (kinds, store) = (kinds_of(py, types)?, self.store());
        let limit = limit.map_or(Ok(usize::MAX), |limit| amount_of("limit", limit))?;
        let found = enter_core(py, || store.facts(kinds.as_deref(), limit, include_superseded))?;
        Ok(found.into_iter().map(Fact).collect())
    }

    /// Return all states of a fact and of those it took the place of, oldest first.
    fn history(&self, py: Python<'_>, id: &Bound<'_, PyString>) -> PyResult<Vec<Fact>> {
        let (id, store) = (text_of(id)?, self.store());
        Ok(enter_core(py, || store.history(&id))?.into_iter().map(Fact).collect())
    }

    /// Return the facts that answer a question, best first; none if it is about something else.
    #[pyo3(signature = (query, *, limit = 10, types = None, explain = false))]
    fn search(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyString>,
        #[pyo3(from_py_with = checked)] limit: i64,
        types: Option<&Bound<'_, PyAny>>,
        explain: bool,
    ) -> PyResult<Vec<FactHit>> {
        let (query, limit, store) = (text_of(query)?, amount_of("limit", limit)?, self.store());
        let kinds = kinds_of(py, types)?;
        let request = Request { query: &query, limit, kinds: kinds.as_deref(), explain };
        Ok(enter_core(py, || store.search(&request))?.into_iter().map(FactHit).collect())
    }

    /// Return the facts that share most with a text, however little, closest first.
    #[pyo3(signature = (text, *, limit = 20, types = None))]
    fn nearest(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyString>,
        #[pyo3(from_py_with = checked)] limit: i64,
        types: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Fact>> {
        let (text, limit, store) = (text_of(text)?, amount_of("limit", limit)?, self.store());
        let kinds = kinds_of(py, types)?;
        let found = enter_core(py, || store.nearest(&text, limit, kinds.as_deref()))?;
        Ok(found.into_iter().map(Fact).collect())
    }

    /// Return the size of the store.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let store = self.store();
        let found = enter_core(py, || store.statistics())?;
        let stats = PyDict::new(py);
        stats.set_item("active", found.active)?;
        stats.set_item("superseded", found.superseded)?;
        stats.set_item("forgotten", found.forgotten)?;
        stats.set_item("states", found.states)?;
        stats.set_item("log_bytes", found.log_bytes)?;
        stats.set_item("log_lines", found.log_lines)?;
        Ok(stats)
    }

    /// Return what was skipped, repaired or missing.
    fn health<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let store = self.store();
        let health = health(py, &enter_core(py, || store.health())?)?;
        // Facts have neither.
        health.del_item("snapshot")?;
        health.del_item("vectors")?;
        Ok(health)
    }

    /// Start over in a child process, sharing nothing with the parent.
    fn reopen(&self, py: Python<'_>) -> PyResult<()> {
        let settings = self.settings.clone();
        let fresh = enter_core(py, || facts::FactStore::open(&self.path, settings))?;
        let old = std::mem::replace(&mut *self.slot(), Arc::new(fresh));
        // Another thread of the parent may have held its locks when the process forked, so it is never touched again.
        std::mem::forget(old);
        Ok(())
    }

    /// Refuse every further call.
    fn close(&self) {
        self.store().close();
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let store = self.store();
        enter_core(py, || store.len())
    }

    /// Always: a store without facts is still a store.
    #[expect(clippy::unused_self, reason = "Python hands it over")]
    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self) -> String {
        format!("FactStore({:?}, session_id={:?})", self.path.display().to_string(), self.settings.session)
    }
}

fn kinds_of(py: Python<'_>, types: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<Kind>>> {
    let Some(types) = types else { return Ok(None) };
    let names: Vec<String> =
        texts_of(types)?.iter().map(|name| text_of(name).map(Cow::into_owned)).collect::<PyResult<_>>()?;
    enter_core(py, || names.iter().map(|name| Kind::parse(name)).collect()).map(Some)
}
