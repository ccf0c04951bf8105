//! `memctx.lowlevel.Store` and what it returns.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memctx_core::messages::{self, Row};
use memctx_core::store::{self, Ranking, Record, Request, Settings, Unsearched};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::array;
use crate::boundary::{all_of, amount_of, checked, enter_core, milliseconds, text_of, texts_of};
use crate::captured::{Captured, VisibleSegments};
use crate::conversation::Conversation;
use crate::disk_index_status::DiskIndexStatus;
use crate::embedding_status::EmbeddingStatus;
use crate::health::health;
use crate::hit::Hit;
use crate::log_reader::Scan;
use crate::rank::Candidates;
use crate::search_filter::SearchFilter;
use crate::search_hit::SearchHit;
use crate::segment::Segment;
use crate::store_options::StoreOptions;
use crate::vector_hold::VectorHold;

/// The segments of a session, or of all sessions of a directory: written durably, searched exactly.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Store {
    path: PathBuf,
    settings: Settings,
    /// Replaced in a child process, which must not share files and locks with its parent.
    handle: Mutex<Arc<store::Store>>,
}

impl Store {
    fn store(&self) -> Arc<store::Store> {
        Arc::clone(&self.slot())
    }

    /// Held only for as long as it takes to copy a pointer, and never while the interpreter is released: so no thread
    /// can hold it when a process forks.
    fn slot(&self) -> MutexGuard<'_, Arc<store::Store>> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Read records off Python objects and store them by `store_them`.
    fn store_all(
        &self,
        py: Python<'_>,
        records: &Bound<'_, PyAny>,
        store_them: impl FnOnce(&store::Store, &[Record<'_>]) -> memctx_core::Result<Vec<store::Added>> + Send,
    ) -> PyResult<Vec<Added>> {
        type Given<'py> = (Bound<'py, PyString>, Bound<'py, PyString>, Option<f64>, Option<Bound<'py, PyString>>);
        let given: Vec<Given<'_>> = records.try_iter()?.map(|record| record?.extract()).collect::<PyResult<_>>()?;
        let texts = given
            .iter()
            .map(|(role, content, _, more)| {
                Ok((text_of(role)?, text_of(content)?, more.as_ref().map(text_of).transpose()?))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let records: Vec<Record<'_>> = texts
            .iter()
            .zip(&given)
            .map(|((role, content, metadata), given)| Record {
                role,
                content,
                timestamp: given.2,
                metadata: metadata.as_deref(),
            })
            .collect();
        let store = self.store();
        Ok(enter_core(py, || store_them(&store, &records))?.into_iter().map(Added).collect())
    }
}

/// The segments of some results.
fn segments_of<'a>(hits: &'a [Bound<'_, SearchHit>]) -> Vec<&'a store::Segment> {
    hits.iter().map(|hit| &hit.get().found.segment).collect()
}

/// A segment's id, the number of its passages, and their vectors.
type Passages<'py> = (String, usize, Bound<'py, PyArray2<f32>>);

/// The records of some messages.
struct MessageRows<'c> {
    rows: Vec<Row<'c>>,
    /// The key of each message, and the end of its rows.
    messages: Vec<(u64, usize)>,
}

impl<'c> MessageRows<'c> {
    fn new(conversation: &'c messages::Conversation, places: &[u32], tools: bool) -> Self {
        let mut rows = Vec::new();
        let mut messages = Vec::with_capacity(places.len());
        for view in places.iter().map(|&place| &conversation.views[place as usize]) {
            rows.extend(messages::rows(view).into_iter().filter(|row| tools || row.role != "tool"));
            messages.push((view.key, rows.len()));
        }
        Self { rows, messages }
    }

    fn records(&self) -> Vec<Record<'_>> {
        self.rows
            .iter()
            .map(|row| Record {
                role: row.role,
                content: &row.text,
                timestamp: row.timestamp,
                metadata: row.metadata.as_deref(),
            })
            .collect()
    }

    /// Return the key of each message with what came of its records.
    fn grouped<'a, T>(&'a self, outcomes: &'a [T]) -> impl Iterator<Item = (u64, &'a [T])> {
        let mut start = 0;
        self.messages.iter().map(move |&(message, end)| (message, &outcomes[std::mem::replace(&mut start, end)..end]))
    }
}

#[pymethods]
impl Store {
    #[new]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] path: PathBuf,
        options: &Bound<'_, StoreOptions>,
    ) -> PyResult<Self> {
        let settings = options.get().0.clone();
        let opened = settings.clone();
        let store = enter_core(py, || store::Store::open(&path, opened))?;
        Ok(Self { path, settings, handle: Mutex::new(Arc::new(store)) })
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

    /// Store ``(role, content, timestamp, metadata)`` records; they are acknowledged when this returns.
    fn add(&self, py: Python<'_>, records: &Bound<'_, PyAny>) -> PyResult<Vec<Added>> {
        self.store_all(py, records, store::Store::add)
    }

    /// `add`, without waiting for the disk.
    fn put(&self, py: Python<'_>, records: &Bound<'_, PyAny>) -> PyResult<Vec<Added>> {
        self.store_all(py, records, store::Store::put)
    }

    /// Store what there is to archive of some messages of a conversation, without waiting for the disk.
    /// The messages are noted in ``captured``.
    #[pyo3(signature = (conversation, indices, *, tools = true, captured = None))]
    fn put_messages(
        &self,
        py: Python<'_>,
        conversation: &Conversation,
        #[pyo3(from_py_with = checked)] indices: Vec<i64>,
        tools: bool,
        captured: Option<&Bound<'_, Captured>>,
    ) -> PyResult<Vec<Added>> {
        let places = conversation.checked(&indices)?;
        let (store, captured) = (self.store(), captured.map(Bound::get));
        let added = enter_core(py, || {
            let rows = MessageRows::new(&conversation.0, &places, tools);
            let added = if rows.rows.is_empty() { Vec::new() } else { store.put(&rows.records())? };
            if let Some(captured) = captured {
                captured.note_all(
                    rows.grouped(&added)
                        .map(|(message, added)| (message, added.iter().filter_map(|added| added.digest).collect())),
                );
            }
            Ok(added)
        })?;
        Ok(added.into_iter().map(Added).collect())
    }

    /// Note the messages of a conversation that are stored, without storing the others.
    #[pyo3(signature = (conversation, captured, *, tools = true))]
    fn recognize(
        &self,
        py: Python<'_>,
        conversation: &Conversation,
        captured: &Bound<'_, Captured>,
        tools: bool,
    ) -> PyResult<()> {
        let (store, captured) = (self.store(), captured.get());
        enter_core(py, || {
            let places: Vec<u32> = (0..conversation.0.views.len() as u32).collect();
            let rows = MessageRows::new(&conversation.0, &places, tools);
            let found = store.recognize(&rows.records())?;
            let stored = rows.grouped(&found).filter_map(|(message, found)| {
                let all: Option<Vec<_>> = found.iter().map(Option::as_ref).collect();
                Some((message, all?.into_iter().filter_map(|added| added.digest).collect()))
            });
            captured.note_all(stored.collect::<Vec<_>>());
            Ok(())
        })
    }

    /// The segments that match a query best, best first.
    #[pyo3(signature = (
        query, *, filter = None, vector = None, limit = 10, min_score = 0.0, ranking = "best", window = 0,
        explain = false, everything = false
    ))]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn search(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyString>,
        filter: Option<&Bound<'_, SearchFilter>>,
        vector: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = checked)] limit: i64,
        #[pyo3(from_py_with = checked)] min_score: f64,
        #[pyo3(from_py_with = checked)] ranking: &str,
        #[pyo3(from_py_with = checked)] window: i64,
        explain: bool,
        everything: bool,
    ) -> PyResult<Vec<SearchHit>> {
        let query = text_of(query)?;
        let vector = vector.map(array::vector).transpose()?;
        let vector = vector.as_ref().map(array::values).transpose()?;
        let filter = SearchFilter::given(filter);
        let (limit, window) = (amount_of("limit", limit)?, amount_of("window", window)?);
        let store = self.store();
        let found = enter_core(py, || {
            let ranking = Ranking::parse(ranking)?;
            let request = Request {
                query: &query,
                vector,
                limit,
                filter,
                min_score,
                ranking,
                window,
                explain,
                ..Request::default()
            };
            if everything { store.search_everything(&request) } else { store.search(&request) }
        })?;
        Ok(found.into_iter().map(SearchHit::new).collect())
    }

    /// Rank segment lines from elsewhere as `search` ranks those of the store.
    #[pyo3(signature = (
        query, candidates, *, vector = None, limit = 10, min_score = 0.0, ranking = "best", explain = false
    ))]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn rank(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyString>,
        candidates: &Bound<'_, PyAny>,
        vector: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = checked)] limit: i64,
        #[pyo3(from_py_with = checked)] min_score: f64,
        #[pyo3(from_py_with = checked)] ranking: &str,
        explain: bool,
    ) -> PyResult<Vec<SearchHit>> {
        let (query, candidates) = (text_of(query)?, Candidates::new(candidates)?);
        let vector = vector.map(array::vector).transpose()?;
        let vector = vector.as_ref().map(array::values).transpose()?;
        let (limit, store) = (amount_of("limit", limit)?, self.store());
        let found = candidates.apply(|candidates| {
            enter_core(py, || {
                let ranking = Ranking::parse(ranking)?;
                let request =
                    Request { query: &query, vector, limit, min_score, ranking, explain, ..Request::default() };
                store.rank(&request, candidates)
            })
        })?;
        Ok(found.into_iter().map(SearchHit::new).collect())
    }

    /// The segments that match a query best without those that are visible, and the part of the older ones that was
    /// not searched within a deadline.
    #[pyo3(signature = (
        query, deadline_ms, *, vector = None, limit = 10, min_score = 0.0, min_certainty = 0.0, ranking = "best", window = 0, pool = 0,
        without = None, embedding_ms = 0.0
    ))]
    #[allow(clippy::too_many_arguments)] // named in Python
    fn search_within(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyString>,
        #[pyo3(from_py_with = checked)] deadline_ms: f64,
        vector: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = checked)] limit: i64,
        #[pyo3(from_py_with = checked)] min_score: f64,
        #[pyo3(from_py_with = checked)] min_certainty: f64,
        #[pyo3(from_py_with = checked)] ranking: &str,
        #[pyo3(from_py_with = checked)] window: i64,
        #[pyo3(from_py_with = checked)] pool: i64,
        without: Option<&Bound<'_, VisibleSegments>>,
        #[pyo3(from_py_with = checked)] embedding_ms: f64,
    ) -> PyResult<(Vec<SearchHit>, Option<&'static str>, usize)> {
        let query = text_of(query)?;
        let deadline = milliseconds("deadline_ms", deadline_ms)?;
        let embedding = milliseconds("embedding_ms", embedding_ms)?;
        let vector = vector.map(array::vector).transpose()?;
        let vector = vector.as_ref().map(array::values).transpose()?;
        let (limit, window) = (amount_of("limit", limit)?, amount_of("window", window)?);
        let pool = amount_of("pool", pool)?;
        let (store, except) = (self.store(), without.map(|without| &without.get().0));
        let searched = enter_core(py, || {
            let ranking = Ranking::parse(ranking)?;
            let request = Request {
                query: &query,
                vector,
                limit,
                min_score,
                min_certainty,
                ranking,
                window,
                pool,
                except,
                skips_repeats: true,
                embedding,
                ..Request::default()
            };
            store.search_within(&request, deadline)
        })?;
        let hits = searched.found.into_iter().map(SearchHit::new).collect();
        Ok((hits, searched.unsearched.map(Unsearched::name), searched.unembedded))
    }

    /// Index everything for search on disk, in the foreground. ``progress`` hears how many bytes of how many are done.
    #[pyo3(signature = (progress = None, *, rebuild = false))]
    fn catch_up(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        rebuild: bool,
    ) -> PyResult<Option<DiskIndexStatus>> {
        let store = self.store();
        let mut raised = None;
        let status = enter_core(py, || {
            store.index_everything(rebuild, |done, all| {
                let Some(progress) = &progress else { return ControlFlow::Continue(()) };
                match Python::attach(|py| progress.call1(py, (done, all)).map(drop)) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(fault) => {
                        raised = Some(fault);
                        ControlFlow::Break(())
                    }
                }
            })
        })?;
        raised.map_or(Ok(status.map(DiskIndexStatus)), Err)
    }

    /// Return the state of the disk index; None when it is switched off.
    fn disk_index(&self, py: Python<'_>) -> PyResult<Option<DiskIndexStatus>> {
        let store = self.store();
        Ok(enter_core(py, || store.disk_index())?.map(DiskIndexStatus))
    }

    /// The segments nearest to a vector by cosine, of everything stored, best first.
    #[pyo3(signature = (vector, k = 10))]
    fn nearest(
        &self,
        py: Python<'_>,
        vector: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = checked)] k: i64,
    ) -> PyResult<Vec<Hit>> {
        let vector = array::vector(vector)?;
        let (values, k, store) = (array::values(&vector)?, amount_of("k", k)?, self.store());
        Ok(Hit::cosines(enter_core(py, || store.nearest(values, k))?))
    }

    /// The vectors that segments have in memory: id, number of passages, and a row for each.
    fn passage_vectors<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Vec<Passages<'py>>> {
        let (ids, store, dim) = (texts_of(ids)?, self.store(), self.settings.model.dim());
        let ids = all_of(&ids)?;
        let ids: Vec<&str> = ids.iter().map(|id| &**id).collect();
        let found = enter_core(py, || store.passage_vectors(&ids))?;
        let rows = |(id, values): (String, Vec<f32>)| Ok((id, values.len() / dim, array::new_matrix(py, values, dim)?));
        found.into_iter().map(rows).collect()
    }

    /// Texts whose vectors are still to come, with the ids to supply them under; none while another process sees to it.
    #[pyo3(signature = (limit = 64))]
    fn unembedded(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] limit: i64,
    ) -> PyResult<Vec<(String, String)>> {
        let (limit, store) = (amount_of("limit", limit)?, self.store());
        enter_core(py, || store.unembedded(limit))
    }

    /// Keep the vectors of texts that `unembedded` gave, a row for each id.
    fn supply(&self, py: Python<'_>, ids: &Bound<'_, PyAny>, vectors: &Bound<'_, PyAny>) -> PyResult<()> {
        let (ids, vectors, store) = (texts_of(ids)?, array::matrix(vectors)?, self.store());
        let ids = all_of(&ids)?;
        let values = array::values(&vectors)?;
        enter_core(py, || store.supply(&ids.iter().map(|id| &**id).collect::<Vec<_>>(), values))
    }

    /// Embed some stored texts that lack their vectors, where the core makes them, and return how many.
    fn embed_some(&self, py: Python<'_>) -> PyResult<usize> {
        let store = self.store();
        enter_core(py, || store.embed_some())
    }

    /// Keep vectors made in the background out of memory until the hold is released.
    fn hold_vectors(&self, py: Python<'_>) -> PyResult<VectorHold> {
        let store = self.store();
        enter_core(py, || store.hold_vectors()).map(VectorHold::new)
    }

    /// Do without the vectors of texts that cannot be embedded, until the store is opened again.
    fn set_aside(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<()> {
        let (ids, store) = (texts_of(ids)?, self.store());
        let ids = all_of(&ids)?;
        enter_core(py, || store.set_aside(&ids.iter().map(|id| &**id).collect::<Vec<_>>()))
    }

    /// Return how much of the log has vectors.
    fn embedding(&self, py: Python<'_>) -> PyResult<EmbeddingStatus> {
        let store = self.store();
        enter_core(py, || store.embedding()).map(EmbeddingStatus)
    }

    /// The segment of an id, if it is in memory.
    fn get(&self, py: Python<'_>, id: &Bound<'_, PyString>) -> PyResult<Option<Segment>> {
        let (id, store) = (text_of(id)?, self.store());
        Ok(enter_core(py, || store.get(&id))?.map(Segment))
    }

    /// The segments around one in its session, in order and without it.
    #[pyo3(signature = (id, distance = 2))]
    fn neighbors(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyString>,
        #[pyo3(from_py_with = checked)] distance: i64,
    ) -> PyResult<Vec<Segment>> {
        let (id, distance, store) = (text_of(id)?, amount_of("distance", distance)?, self.store());
        Ok(enter_core(py, || store.neighbors(&id, distance))?.into_iter().map(Segment).collect())
    }

    /// The indices of results in the order of the log, a tool's result behind its call; those that are only on disk come
    /// first.
    fn log_order(&self, py: Python<'_>, hits: Vec<Bound<'_, SearchHit>>) -> PyResult<Vec<usize>> {
        let (segments, store) = (segments_of(&hits), self.store());
        enter_core(py, || store.log_order(&segments))
    }

    /// Segments that belong to results: the index of the result, the segment, and whether it was said before.
    #[pyo3(signature = (hits, *, limit, without = None))]
    fn companions(
        &self,
        py: Python<'_>,
        hits: Vec<Bound<'_, SearchHit>>,
        #[pyo3(from_py_with = checked)] limit: i64,
        without: Option<&Bound<'_, VisibleSegments>>,
    ) -> PyResult<Vec<(usize, Segment, bool)>> {
        let (of, limit, store) = (segments_of(&hits), amount_of("limit", limit)?, self.store());
        let except = without.map(|without| &without.get().0);
        let found = enter_core(py, || store.companions(&of, limit, except))?;
        Ok(found.into_iter().map(|found| (found.of, Segment(found.segment), found.is_before)).collect())
    }

    /// Everything stored that this store may see, in order, read from disk as it is asked for.
    fn segments(&self, py: Python<'_>) -> PyResult<Scan> {
        let store = self.store();
        Ok(Scan::new(enter_core(py, || store.segments())?))
    }

    /// The sessions in memory.
    fn sessions(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let store = self.store();
        enter_core(py, || store.sessions())
    }

    /// Look for a topic, or for more keywords of one, in what is added from now on.
    fn add_topic(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] name: &str,
        keywords: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (keywords, store) = (texts_of(keywords)?, self.store());
        let keywords = all_of(&keywords)?;
        enter_core(py, || store.add_topic(name, &keywords.iter().map(|word| &**word).collect::<Vec<_>>()))
    }

    /// The topics that are looked for.
    fn topics(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let store = self.store();
        enter_core(py, || store.topics())
    }

    /// Return counts of the store's contents.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let store = self.store();
        let found = enter_core(py, || store.statistics())?;
        let stats = PyDict::new(py);
        stats.set_item("segments", found.segments)?;
        stats.set_item("passages", found.passages)?;
        stats.set_item("sessions", found.sessions)?;
        stats.set_item("evicted", found.evicted)?;
        stats.set_item("log_bytes", found.log_bytes)?;
        stats.set_item("log_lines", found.log_lines)?;
        Ok(stats)
    }

    /// Report skipped, repaired and degraded parts.
    fn health<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let store = self.store();
        health(py, &enter_core(py, || store.health())?)
    }

    /// Take in what other processes wrote; how many segments came.
    fn refresh(&self, py: Python<'_>) -> PyResult<usize> {
        let store = self.store();
        enter_core(py, || store.refresh())
    }

    /// Write what makes the next start fast. False when nothing could be written.
    fn snapshot(&self, py: Python<'_>) -> PyResult<bool> {
        let store = self.store();
        enter_core(py, || store.snapshot())
    }

    /// Open every file again in a child process, sharing nothing with the parent.
    fn reopen(&self, py: Python<'_>) -> PyResult<()> {
        let settings = self.settings.clone();
        let fresh = enter_core(py, || store::Store::open(&self.path, settings))?;
        let old = std::mem::replace(&mut *self.slot(), Arc::new(fresh));
        // Another thread of the parent may have held its locks when the process forked, so it is never touched again.
        std::mem::forget(old);
        Ok(())
    }

    /// Write what makes the next start fast, and end.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let store = self.store();
        enter_core(py, || {
            store.close();
            Ok(())
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let store = self.store();
        enter_core(py, || store.len())
    }

    fn __repr__(&self) -> String {
        format!("Store({:?}, session_id={:?})", self.path.display().to_string(), self.settings.session)
    }
}

/// Outcome of one record.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Added(store::Added);

#[pymethods]
impl Added {
    /// The segment it is; None when it was not worth storing.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.0.id.as_deref()
    }

    /// ``added``, ``duplicate`` or ``noise``.
    #[getter]
    fn outcome(&self) -> &'static str {
        self.0.outcome.name()
    }

    /// The digest of the segment's content; None when it was not worth storing.
    #[getter]
    fn digest(&self) -> Option<u64> {
        self.0.digest
    }

    fn __repr__(&self) -> String {
        let id = self.0.id.as_ref().map_or_else(|| "None".to_owned(), |id| format!("{id:?}"));
        format!("Added(outcome={:?}, id={id})", self.0.outcome.name())
    }
}
