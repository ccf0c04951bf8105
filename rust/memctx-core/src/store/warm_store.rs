//! A session's store: writes that last, and a search that is exact.

#[cfg(feature = "cold")]
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};
use std::thread;
#[cfg(feature = "cold")]
use std::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use super::SEGMENTS;
use super::cold_store::{Scan, Wanted};
use super::directory::Directory;
use super::embed;
use super::embedding::{EmbeddingStatus, Pass};
use super::entry::Standing;
use super::health::Health;
use super::intake::{Added, Intake, Record};
use super::lines::Lines;
use super::lock::{Format, Lock};
use super::log::Log;
use super::model::Model;
#[cfg(feature = "cold")]
use super::older::Wait;
use super::search::{Found, Request};
use super::segment::Segment;
use super::settings::Settings;
use super::snapshot::Terms;
use super::vectors::{self, Saved};
use super::warm::{Cursor, Draft, Warm, digest};
use super::write::Written;
#[cfg(feature = "cold")]
use crate::cold::ColdStatus;
use crate::{Error, Result};

/// Lines that are taken in at a time.
const BATCH: usize = 512;

/// The store of one session, or of all sessions of a directory.
///
/// ```
/// use memctx_core::store::{Record, Request, Settings, WarmStore};
///
/// let folder = tempfile::tempdir()?;
/// let store = WarmStore::open(&folder.path().join("memory"), Settings::new("s1"))?;
/// let said = Record { role: "user", content: "The webhook listens on port 8443", timestamp: None, metadata: None };
/// store.add(&[said])?;
/// let found = store.search(&Request { query: "which port?", limit: 1, ..Request::default() })?;
/// assert_eq!(found[0].segment.content, "The webhook listens on port 8443");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WarmStore {
    inner: Arc<Inner>,
}

/// How much there is.
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

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) settings: Settings,
    pub(super) directory: Directory,
    pub(super) intake: Intake,
    pub(super) terms: Terms,
    /// Whoever wants to change the index takes the gate first, and locks the index only for the change itself.
    index: RwLock<Warm>,
    gate: Mutex<Gate>,
    /// How far everything is embedded.
    pub(super) pass: Mutex<Pass>,
    /// Everything before this place in the log has its vectors.
    pub(super) embedded: AtomicU64,
    health: Mutex<Health>,
    is_ready: Mutex<bool>,
    became_ready: Condvar,
    /// None if what left memory is not searched.
    #[cfg(feature = "cold")]
    pub(super) older: Option<super::older::Older>,
    /// Whether something is written and not indexed yet.
    pub(super) has_pending: AtomicBool,
    /// Whether a thread is indexing.
    pub(super) is_settling: AtomicBool,
    is_closed: AtomicBool,
}

/// What only one thread at a time may use.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) lock: Lock,
    pub(super) tail: Tail,
}

/// The end of the log, where reading goes on.
#[derive(Debug, Default)]
pub(super) struct Tail {
    pub(super) log: Option<Arc<Log>>,
    /// What was written and is not indexed yet, in order.
    pub(super) pending: Vec<Written>,
    /// Passages that `vectors.bin` lacks.
    pub(super) unsaved: usize,
    /// Segments that the snapshot lacks.
    pub(super) unsnapped: usize,
    /// Whether all of `vectors.bin` has been read since the store was opened.
    pub(super) is_checked: bool,
}

impl WarmStore {
    /// Open the store of a directory, which is made if it is missing. Loading goes on in the background; whatever
    /// needs the segments waits for it.
    pub fn open(path: &Path, settings: Settings) -> Result<Self> {
        settings.check()?;
        let directory = Directory::open(path)?;
        let format = Format::of(&directory);
        if format.min_reader > Format::OURS {
            return Err(Error::Version { path: path.to_owned(), found: format.version, supported: Format::OURS });
        }
        let scope = if settings.cross_session { "all".to_owned() } else { format!("one\n{}", settings.session) };
        let bounds = format!("{} {}", settings.max_segments, settings.eviction_days);
        let health = Health {
            is_read_only: format.min_writer > Format::OURS,
            network: directory.network(),
            ..Health::default()
        };
        let inner = Arc::new(Inner {
            intake: Intake::new(&settings)?,
            terms: Terms { scope, model: settings.model.words(), bounds },
            index: RwLock::new(Warm::new(settings.model.dim(), settings.model.own_worth())?),
            pass: Mutex::default(),
            embedded: AtomicU64::new(0),
            gate: Mutex::new(Gate { lock: Lock::new(directory.clone(), settings.lock_timeout), tail: Tail::default() }),
            health: Mutex::new(health),
            is_ready: Mutex::new(false),
            became_ready: Condvar::new(),
            has_pending: AtomicBool::new(false),
            is_settling: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            #[cfg(feature = "cold")]
            older: settings.cold.then(|| super::older::Older::new(&directory, &settings.model)),
            settings,
            directory,
        });
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

    /// The best segments for a request, best first: of those in memory and, if they are found in time, of those that are
    /// only on disk.
    pub fn search(&self, request: &Request<'_>) -> Result<Vec<Found>> {
        self.inner.check_open()?;
        #[cfg(feature = "cold")]
        return self.search_within(request, self.inner.settings.cold_deadline);
        #[cfg(not(feature = "cold"))]
        self.inner.search(request)
    }

    /// The best segments of everything ever stored, however long that takes.
    #[cfg(feature = "cold")]
    pub fn search_everything(&self, request: &Request<'_>) -> Result<Vec<Found>> {
        self.inner.check_open()?;
        self.inner.search_tiers(request, Wait::Forever)
    }

    /// [`WarmStore::search`], which waits no longer than this for what is only on disk. With no time at all that is looked
    /// for afterwards, and found by the next search for the same.
    #[cfg(feature = "cold")]
    pub fn search_within(&self, request: &Request<'_>, deadline: Duration) -> Result<Vec<Found>> {
        self.inner.check_open()?;
        self.inner.search_tiers(request, Wait::For(deadline))
    }

    /// Index everything for search on disk now; `anew` from the beginning. `told` hears how many bytes of how many are
    /// done, and may end it there. None if that is switched off.
    #[cfg(feature = "cold")]
    pub fn index_everything(
        &self,
        anew: bool,
        mut told: impl FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Option<ColdStatus>> {
        self.inner.check_open()?;
        self.inner.wait();
        self.inner.catch_up_older(anew, &mut told)
    }

    /// How far the search on disk is; none if it is switched off.
    #[cfg(feature = "cold")]
    pub fn cold(&self) -> Result<Option<ColdStatus>> {
        self.inner.check_open()?;
        Ok(self.inner.older_status())
    }

    /// The ids of the `k` segments nearest to a vector of everything stored, with their cosines, best first.
    #[cfg(feature = "cold")]
    pub fn nearest(&self, vector: &[f32], k: usize) -> Result<Vec<(String, f64)>> {
        self.inner.check_open()?;
        self.inner.nearest(vector, k)
    }

    /// Texts whose vectors are still to come from outside, with the ids to supply them under, at most about so many; none if
    /// there are none, or if another process sees to it.
    pub fn unembedded(&self, limit: usize) -> Result<Vec<(String, String)>> {
        self.inner.check_open()?;
        self.inner.unembedded(limit)
    }

    /// Keep the vectors of texts that `unembedded` gave, one behind the other. They are on disk when this returns.
    pub fn supply(&self, ids: &[&str], values: &[f32]) -> Result<()> {
        self.inner.check_open()?;
        self.inner.supply(ids, values)
    }

    /// Do without the vectors of texts that cannot be embedded, until the store is opened again.
    pub fn set_aside(&self, ids: &[&str]) -> Result<()> {
        self.inner.check_open()?;
        self.inner.set_aside(ids);
        Ok(())
    }

    /// How far everything is embedded.
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
    pub fn neighbours(&self, id: &str, reach: usize) -> Result<Vec<Segment>> {
        let index = self.inner.current()?;
        let Some(number) = index.find(id) else { return Ok(Vec::new()) };
        let mut numbers: Vec<u32> = index.neighbours(number, reach).map(|found| found.0).collect();
        numbers.sort_unstable();
        let read = |number| index.read(number).inspect_err(|fault| self.inner.note_damage(fault)).ok();
        Ok(numbers.into_iter().filter_map(read).collect())
    }

    /// Everything stored that the store may see, from disk and in order.
    pub fn segments(&self) -> Result<Scan> {
        self.inner.check_open()?;
        let session = (!self.inner.settings.cross_session).then(|| self.inner.settings.session.clone());
        Scan::of(&self.inner.directory, Wanted { session, ..Wanted::default() })
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

    /// Whether no segment is in memory.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// How much there is.
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

    /// What was skipped, healed or done without.
    pub fn health(&self) -> Result<Health> {
        self.inner.check_open()?;
        self.inner.wait();
        let is_unwritten = self.inner.gate().tail.log.as_ref().is_some_and(|log| log.is_poisoned());
        let is_degraded = is_unwritten || self.inner.index().has_lost_log();
        Ok(Health { is_degraded, ..self.inner.health().clone() })
    }

    /// Take in what others have written. Gives how many segments came.
    pub fn refresh(&self) -> Result<usize> {
        self.inner.check_open()?;
        self.inner.wait();
        let mut gate = self.inner.gate();
        self.inner.catch_up(&mut gate.tail)
    }

    /// Write vectors and snapshot now, so that the next start is fast. False if nothing could be written.
    pub fn snapshot(&self) -> Result<bool> {
        self.inner.check_open()?;
        self.inner.wait();
        Ok(self.inner.tidy(true))
    }

    /// Write what makes the next start fast, and refuse every further call.
    pub fn close(&self) {
        if self.inner.is_closed.swap(true, Ordering::SeqCst) {
            return;
        }
        self.inner.wait();
        self.inner.tidy(false);
        self.inner.sync_rest();
        self.inner.stop_leading();
        #[cfg(feature = "cold")]
        self.inner.close_older();
    }
}

impl Inner {
    fn load(self: &Arc<Self>) {
        if let Err(fault) = self.finish_replacing() {
            self.health().note(fault.to_string());
        }
        let loaded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.try_load()));
        match loaded {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => self.health().note(fault.to_string()),
            Err(_) => self.health().note("internal error while loading; please report it"),
        }
        *lock(&self.is_ready) = true;
        self.became_ready.notify_all();
        let is_due = self.is_tidying_due(&self.gate().tail);
        if is_due && !self.is_closed.load(Ordering::SeqCst) {
            self.tidy(false);
        }
        self.begin_replacing();
        #[cfg(feature = "cold")]
        self.wake_older();
    }

    fn try_load(&self) -> Result<()> {
        let mut gate = self.gate();
        gate.tail.log = Log::open(&self.directory, SEGMENTS, self.settings.durability)?.map(Arc::new);
        let Some(log) = gate.tail.log.clone() else { return Ok(()) };
        if !log.is_writable() {
            self.health().is_read_only = true;
        }
        let saved = self.load_tier(&log);
        self.follow(&mut gate.tail, &saved)?;
        let Settings { max_segments, eviction_days, .. } = self.settings;
        self.index_mut().evict(max_segments, eviction_days, now());
        Ok(())
    }

    /// Begin with the snapshot if it is good, else with nothing but the vectors on disk.
    fn load_tier(&self, log: &Log) -> Saved {
        let folder = self.directory.file(super::directory::INDEX);
        match Warm::load(&folder, &self.terms, (self.model().dim(), self.model().own_worth()), log.file()) {
            Ok((warm, found)) => {
                let mut health = self.health();
                health.snapshot = format!("{} segments loaded", warm.len());
                (health.skipped, health.skipped_lines) = (found.skipped, found.skipped_lines);
                drop(health);
                *self.index_mut() = warm;
                Saved::default()
            }
            Err(fault) => {
                let (saved, words) = vectors::load(&self.directory, self.model().stamp());
                let mut health = self.health();
                health.snapshot = format!("{fault}; made anew from the log");
                health.vectors = words;
                saved
            }
        }
    }

    /// Take in what was written here and what others have written. Gives how many segments came from others.
    pub(super) fn catch_up(&self, tail: &mut Tail) -> Result<usize> {
        self.settle(tail)?;
        self.follow(tail, &Saved::default())
    }

    /// Read what the log holds beyond what has been read. Gives how many segments came.
    pub(super) fn follow(&self, tail: &mut Tail, saved: &Saved) -> Result<usize> {
        if tail.log.as_ref().is_some_and(|log| log.current_len().is_none()) {
            // Deleted or replaced. What is in memory stays until there is another log to read.
            match Log::open(&self.directory, SEGMENTS, self.settings.durability)? {
                Some(log) => {
                    tail.log = Some(Arc::new(log));
                    *self.index_mut() = Warm::new(self.model().dim(), self.model().own_worth())?;
                    self.health().note("the log was replaced; read anew");
                }
                None => return Ok(0),
            }
        }
        if tail.log.is_none() {
            tail.log = Log::open(&self.directory, SEGMENTS, self.settings.durability)?.map(Arc::new);
        }
        let Some(log) = tail.log.clone() else { return Ok(0) };
        let length = log.current_len().unwrap_or_default();
        let mut cursor = self.index().cursor;
        if length < cursor.offset {
            *self.index_mut() = Warm::new(self.model().dim(), self.model().own_worth())?;
            self.health().note("the log became shorter; read anew");
            cursor = Cursor::default();
        }
        if length == cursor.offset {
            return Ok(0);
        }
        self.index_mut().read_from(log.file());
        let mut lines = Lines::new(log.file(), cursor.offset, cursor.line);
        let mut came = 0;
        loop {
            let (mut drafts, is_last) = self.read_batch(&mut lines);
            embed::embed(&mut drafts, self.model(), saved);
            came += drafts.len();
            tail.note(&drafts);
            let mut index = self.index_mut();
            drafts.into_iter().try_for_each(|draft| index.push(draft))?;
            index.cursor = Cursor { offset: lines.position(), line: lines.number() };
            index.keep_newest(self.settings.max_segments);
            if is_last {
                return Ok(came);
            }
        }
    }

    /// Some of the next lines, and whether they are the last.
    fn read_batch(&self, lines: &mut Lines) -> (Vec<Draft>, bool) {
        let mut drafts = Vec::with_capacity(BATCH);
        while drafts.len() < BATCH {
            let Some(line) = lines.next() else { return (drafts, true) };
            let read = match line.bytes {
                Ok(bytes) if bytes.trim_ascii().is_empty() => continue,
                Ok(bytes) => Segment::from_line(bytes),
                Err(fault) => Err(fault.to_owned()),
            };
            match read {
                Ok(segment) if self.settings.cross_session || segment.session == self.settings.session => {
                    let digest = digest(&segment.content);
                    drafts.push(Draft::new(segment, digest, line.offset, line.length));
                }
                Ok(_) => {}
                Err(fault) => self.health().skip(line.number, line.offset, fault),
            }
        }
        (drafts, false)
    }

    /// The best segments of those in memory.
    pub(super) fn search(&self, request: &Request<'_>) -> Result<Vec<Found>> {
        let Settings { cross_session, session, .. } = &self.settings;
        let is_foreign = !cross_session && request.session.is_some_and(|wanted| wanted != session);
        let index = self.current()?;
        if is_foreign || request.limit == 0 {
            return Ok(Vec::new());
        }
        let vector = embed::query(request, self.model())?.filter(|_| index.has_vectors());
        index.search(request, vector.as_deref(), now(), |fault| self.note_damage(&fault))
    }

    /// Count a segment that could not be read, which is left out and stops nothing.
    pub(super) fn note_damage(&self, fault: &Error) {
        let mut health = self.health();
        health.damaged += 1;
        health.note(fault.to_string());
    }

    /// The index, with what others have written unless someone is at it already.
    pub(super) fn current(&self) -> Result<RwLockReadGuard<'_, Warm>> {
        self.check_open()?;
        self.wait();
        // What was acknowledged here is found here; for what others wrote nobody waits.
        let free = if self.has_pending.load(Ordering::SeqCst) { Some(self.gate()) } else { self.free_gate() };
        if let Some(Err(fault)) = free.map(|mut gate| self.catch_up(&mut gate.tail)) {
            self.health().note(fault.to_string());
        }
        Ok(self.index())
    }

    /// The gate, if nobody holds it.
    fn free_gate(&self) -> Option<MutexGuard<'_, Gate>> {
        match self.gate.try_lock() {
            Ok(gate) => Some(gate),
            Err(TryLockError::Poisoned(gate)) => Some(gate.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Wait until the store is loaded.
    pub(super) fn wait(&self) {
        let mut is_ready = lock(&self.is_ready);
        while !*is_ready {
            is_ready = self.became_ready.wait(is_ready).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn check_open(&self) -> Result<()> {
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(Error::Refused { path: self.directory.path().to_owned(), why: "this store has been closed" });
        }
        Ok(())
    }

    /// Who makes the vectors.
    pub(super) fn model(&self) -> &Model {
        &self.settings.model
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    pub(super) fn index(&self) -> RwLockReadGuard<'_, Warm> {
        self.index.read().expect(UNUSABLE)
    }

    pub(super) fn index_mut(&self) -> RwLockWriteGuard<'_, Warm> {
        self.index.write().expect(UNUSABLE)
    }

    pub(super) fn gate(&self) -> MutexGuard<'_, Gate> {
        lock(&self.gate)
    }

    pub(super) fn health(&self) -> MutexGuard<'_, Health> {
        lock(&self.health)
    }
}

const UNUSABLE: &str = "the store is unusable after an earlier internal error";

impl Tail {
    /// Count what neither `vectors.bin` nor the snapshot has.
    pub(super) fn note(&mut self, drafts: &[Draft]) {
        self.unsnapped += drafts.len();
        self.unsaved += drafts.iter().filter(|draft| draft.standing == Standing::UNSAVED).count();
    }
}

/// Lock; what is locked here is whole after every step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Milliseconds since 1970; before that, 0.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |age| age.as_secs_f64() * 1000.0).floor()
}
