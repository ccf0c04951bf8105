//! A session's store: writes that last, and a search that is exact.

#[cfg(feature = "disk-index")]
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::thread;
#[cfg(feature = "disk-index")]
use std::time::Duration;

use super::embedding::{EmbeddingStatus, VectorHold};
#[cfg(feature = "disk-index")]
use super::evicted::Wait;
use super::health::Health;
use super::inner::Inner;
use super::intake::{Added, Record};
use super::log::directory::Directory;
use super::log::lock::Format;
use super::log::reader::Scan;
use super::log::segment::Segment;
use super::search_filter::SearchFilter;
#[cfg(feature = "disk-index")]
use super::searched::Searched;
use super::settings::Settings;
use super::warm::search::{Found, Request};
use crate::Result;
#[cfg(feature = "disk-index")]
use crate::disk_index::IndexStatus;

/// The store of one session, or of all sessions of a directory.
///
/// ```
/// use memctx_core::store::{Record, Request, Settings, Store};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(&folder.path().join("memory"), Settings::new("s1"))?;
/// let said = Record { role: "user", content: "The webhook listens on port 8443", timestamp: None, metadata: None };
/// store.add(&[said])?;
/// let found = store.search(&Request { query: "which port?", limit: 1, ..Request::default() })?;
/// assert_eq!(found[0].segment.content, "The webhook listens on port 8443");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    pub(super) inner: Arc<Inner>,
}

/// Numbers of segments, passages and sessions.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// Segments in memory.
    pub segments: usize,
    /// Pieces they are indexed in.
    pub passages: usize,
    /// Sessions among them.
    pub sessions: usize,
    /// Segments that left memory; they are still on disk.
    pub evicted: u64,
    /// Bytes of the log that have been read.
    pub log_bytes: u64,
    /// Lines of the log that have been read.
    pub log_lines: u64,
}

impl Store {
    /// Open the store of a directory, which is made if it is missing. Loading goes on in the background; whatever
    /// needs the segments waits for it.
    pub fn open(path: &Path, settings: Settings) -> Result<Self> {
        settings.check()?;
        let directory = Directory::open(path)?;
        let format = Format::check_readable(&directory)?;
        let health = Health {
            is_read_only: format.min_writer > Format::OURS,
            network: directory.network(),
            ..Health::default()
        };
        let inner = Arc::new(Inner::new(directory, settings, health)?);
        let loading = Arc::clone(&inner);
        if thread::Builder::new().name("memctx-open".to_owned()).spawn(move || loading.load()).is_err() {
            inner.load();
        }
        Ok(Self { inner })
    }

    /// Store records. They are acknowledged, in the sense of the durability set, when this returns; on an error none
    /// of them is.
    pub fn add(&self, records: &[Record<'_>]) -> Result<Vec<Added>> {
        self.inner.check_open()?;
        self.inner.add(records)
    }

    /// Store records as `add` does, without waiting for the disk: the sync goes on in the background, and what the
    /// system loses power over before it is done may be lost. A crash of the process loses nothing.
    pub fn put(&self, records: &[Record<'_>]) -> Result<Vec<Added>> {
        self.inner.check_open()?;
        self.inner.put(records)
    }

    /// Return for each record the outcome of storing it again: a duplicate or noise, or none if it is new.
    pub fn recognize(&self, records: &[Record<'_>]) -> Result<Vec<Option<Added>>> {
        self.inner.check_open()?;
        self.inner.recognize(records)
    }

    /// The best segments for a request, best first: of those in memory and, if they are found in time, of those that are
    /// only on disk.
    pub fn search(&self, request: &Request<'_>) -> Result<Vec<Found>> {
        self.inner.check_open()?;
        #[cfg(feature = "disk-index")]
        return Ok(self.search_within(request, self.inner.settings.disk_deadline)?.found);
        #[cfg(not(feature = "disk-index"))]
        self.inner.search(request)
    }

    /// The best segments of everything ever stored, however long that takes.
    #[cfg(feature = "disk-index")]
    pub fn search_everything(&self, request: &Request<'_>) -> Result<Vec<Found>> {
        self.inner.check_open()?;
        Ok(self.inner.search_tiers(request, Wait::Forever)?.found)
    }

    /// [`Store::search`], which waits no longer than this for what is only on disk, and says how much of that was not
    /// searched. What comes later is found by the next search for the same, at once.
    #[cfg(feature = "disk-index")]
    pub fn search_within(&self, request: &Request<'_>, deadline: Duration) -> Result<Searched> {
        self.inner.check_open()?;
        self.inner.search_tiers(request, Wait::For(deadline))
    }

    /// Index everything for search on disk now; with `rebuild` from the beginning. `progress` is called with the bytes done and
    /// all bytes, and may stop it. `None` if the disk index is switched off.
    #[cfg(feature = "disk-index")]
    pub fn index_everything(
        &self,
        rebuild: bool,
        mut progress: impl FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Option<IndexStatus>> {
        self.inner.check_open()?;
        self.inner.wait();
        self.inner.catch_up_older(rebuild, &mut progress)
    }

    /// Return the progress of the disk index; `None` if it is switched off.
    #[cfg(feature = "disk-index")]
    pub fn disk_index(&self) -> Result<Option<IndexStatus>> {
        self.inner.check_open()?;
        Ok(self.inner.older_status())
    }

    /// The ids of the `k` segments nearest to a vector of everything stored, with their cosines, best first.
    #[cfg(feature = "disk-index")]
    pub fn nearest(&self, vector: &[f32], k: usize) -> Result<Vec<(String, f64)>> {
        self.inner.check_open()?;
        self.inner.nearest(vector, k)
    }

    /// Return about `limit` texts that lack vectors of an external model, with the ids to supply them under; none if
    /// another process leads.
    pub fn unembedded(&self, limit: usize) -> Result<Vec<(String, String)>> {
        self.inner.check_open()?;
        self.inner.unembedded(limit)
    }

    /// Keep the vectors of texts that `unembedded` gave, one behind the other. They are on disk when this returns.
    pub fn supply(&self, ids: &[&str], values: &[f32]) -> Result<()> {
        self.inner.check_open()?;
        self.inner.supply(ids, values)
    }

    /// Embed some stored texts that lack their vectors, in this thread, if the core makes them; return how many. Zero when
    /// all have theirs, and while another process leads.
    pub fn embed_some(&self) -> Result<usize> {
        self.inner.check_open()?;
        self.inner.embed_some()
    }

    /// Keep vectors made in the background out of memory until the hold is dropped, so that a turn finds what it stores
    /// by its words, however long it takes. They are on disk by then, or made as ever.
    pub fn hold_vectors(&self) -> Result<VectorHold> {
        self.inner.check_open()?;
        Ok(VectorHold::new(&self.inner))
    }

    /// Do without the vectors of texts that cannot be embedded, until the store is opened again.
    pub fn set_aside(&self, ids: &[&str]) -> Result<()> {
        self.inner.check_open()?;
        self.inner.set_aside(ids);
        Ok(())
    }

    /// The progress of embedding.
    pub fn embedding(&self) -> Result<EmbeddingStatus> {
        self.inner.check_open()?;
        self.inner.embedding_status()
    }

    /// The segment of an id, if it is in memory.
    pub fn get(&self, id: &str) -> Result<Option<Segment>> {
        let index = self.inner.current()?;
        index.find(id).map(|number| index.read(number)).transpose()
    }

    /// The segments before and after one in its session, in order and without it; none if the id is not known.
    pub fn neighbors(&self, id: &str, reach: usize) -> Result<Vec<Segment>> {
        let index = self.inner.current()?;
        let Some(number) = index.find(id) else { return Ok(Vec::new()) };
        let mut numbers: Vec<u32> = index.neighbors(number, reach).map(|found| found.0).collect();
        numbers.sort_unstable();
        let read = |number| index.read(number).inspect_err(|fault| self.inner.note_damage(fault)).ok();
        Ok(numbers.into_iter().filter_map(read).collect())
    }

    /// Everything stored that the store may see, from disk and in order.
    pub fn segments(&self) -> Result<Scan> {
        self.inner.check_open()?;
        let session = (!self.inner.settings.cross_session).then(|| self.inner.settings.session.clone());
        Scan::of(&self.inner.directory, SearchFilter { session, ..SearchFilter::default() })
    }

    /// The sessions in memory.
    pub fn sessions(&self) -> Result<Vec<String>> {
        let index = self.inner.current()?;
        let is_live = |timeline: &Vec<u32>| timeline.iter().any(|&number| index.entries[number as usize].is_live);
        let live = index.sessions.iter().zip(&index.timelines).filter(|(_, timeline)| is_live(timeline));
        Ok(live.map(|(session, _)| session.to_owned()).collect())
    }

    /// Look for a topic, or for more keywords of one, in what is added from now on.
    pub fn add_topic(&self, name: &str, keywords: &[&str]) -> Result<()> {
        self.inner.check_open()?;
        self.inner.intake.add_topic(name, keywords)
    }

    /// The topics that are looked for.
    pub fn topics(&self) -> Result<Vec<String>> {
        self.inner.check_open()?;
        Ok(self.inner.intake.topics())
    }

    /// Segments in memory.
    pub fn len(&self) -> Result<usize> {
        Ok(self.inner.current()?.len())
    }

    /// Return whether no segment is in memory.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Numbers of segments, passages and sessions.
    pub fn statistics(&self) -> Result<Statistics> {
        let sessions = self.sessions()?.len();
        let index = self.inner.current()?;
        Ok(Statistics {
            segments: index.len(),
            passages: index.passages.iter().filter(|it| index.entries[it.segment as usize].is_live).count(),
            sessions,
            evicted: index.evicted,
            log_bytes: index.cursor.offset,
            log_lines: index.cursor.line,
        })
    }

    /// Health reports: lines skipped, lines completed, and reduced operation.
    pub fn health(&self) -> Result<Health> {
        self.inner.check_open()?;
        self.inner.wait();
        let is_poisoned = self.inner.gate().tail.log.as_ref().is_some_and(|log| log.is_poisoned());
        let is_log_lost = self.inner.index().has_lost_log();
        let known = self.inner.health().clone();
        #[cfg_attr(not(feature = "disk-index"), expect(unused_mut))]
        let mut health = known.with_reasons(is_poisoned, is_log_lost);
        #[cfg(feature = "disk-index")]
        if let Some(fault) = self.inner.older_unavailable() {
            health.reasons.push(format!("the disk index is unavailable and is being rebuilt: {fault}"));
        }
        Ok(health)
    }

    /// Take in what others have written. Gives how many segments came.
    pub fn refresh(&self) -> Result<usize> {
        self.inner.check_open()?;
        self.inner.wait();
        let mut gate = self.inner.gate();
        Ok(self.inner.catch_up(&mut gate.tail)?.came)
    }

    /// Write vectors and snapshot now, so that the next start is fast. False if nothing could be written.
    pub fn snapshot(&self) -> Result<bool> {
        self.inner.check_open()?;
        self.inner.wait();
        Ok(self.inner.tidy(true))
    }

    /// Write what makes the next start fast, and refuse every further call.
    pub fn close(&self) {
        if !self.inner.begin_closing() {
            return;
        }
        self.inner.wait();
        self.inner.tidy(false);
        self.inner.sync_rest();
        self.inner.stop_leading();
        self.inner.stored.set();
        #[cfg(feature = "disk-index")]
        self.inner.close_older();
    }
}
