//! `memctx.lowlevel.FactStore`.

// The words of the format.
#![allow(clippy::similar_names)]

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memctx_core::facts::{self, Change, Kind, Request, Settings};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::boundary::{amount_of, checked, enter_core, text_of, texts_of};
use crate::fact::{Fact, FactHit};
use crate::fact_change::{Asked, AskedStatement, id_of};
use crate::health::health;
use crate::store_options::StoreOptions;

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
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] path: PathBuf,
        options: &Bound<'_, StoreOptions>,
    ) -> PyResult<Self> {
        let options = options.get().0.clone();
        let settings = Settings {
            session: options.session,
            cross_session: options.cross_session,
            durability: options.durability,
            redaction: options.redaction,
            pii: options.pii,
            patterns: options.patterns,
            lock_timeout: options.lock_timeout,
        };
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

    /// Return the facts that were forgotten, newest first.
    #[pyo3(signature = (*, limit = None))]
    fn forgotten(&self, py: Python<'_>, #[pyo3(from_py_with = checked)] limit: Option<i64>) -> PyResult<Vec<Fact>> {
        let limit = limit.map_or(Ok(usize::MAX), |limit| amount_of("limit", limit))?;
        let store = self.store();
        Ok(enter_core(py, || store.forgotten(limit))?.into_iter().map(Fact).collect())
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
