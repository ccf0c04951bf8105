//! A session's store: writes that last, and a search that is exact.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::SEGMENTS;
use super::cold_store::{Scan, Wanted};
use super::directory::Directory;
use super::entry::Passage;
use super::health::Health;
use super::intake::{Added, Intake, Outcome, Record};
use super::lines::Lines;
use super::lock::{Format, Lock};
use super::log::Log;
use super::passage::passages;
use super::search::{Found, Request};
use super::segment::Segment;
use super::settings::{Durability, Settings};
use super::snapshot::Terms;
use super::vectors::{self, Saved, Stamp};
use super::warm::{Cursor, Draft, Warm, digest};
use crate::vector::HashEmbedder;
use crate::{Error, Result};

/// Length of the vectors.
const DIM: usize = 384;
/// Lines that are taken in at a time.
const BATCH: usize = 512;
/// Characters of a query that its vector is made of.
const QUERY: usize = 2000;
/// Passages without a place in `vectors.bin`, and segments without one in the snapshot, that make writing them worth
/// while.
const MANY: usize = 1024;
/// A log below this size is read faster than a snapshot.
const SMALL: u64 = 256 * 1024;

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
struct Inner {
    settings: Settings,
    directory: Directory,
    intake: Intake,
    stamp: Stamp,
    terms: Terms,
    /// Whoever wants to change the index takes the gate first, and locks the index only for the change itself.
    index: RwLock<Warm>,
    gate: Mutex<Gate>,
    health: Mutex<Health>,
    is_ready: Mutex<bool>,
    became_ready: Condvar,
    is_tidying: AtomicBool,
    is_closed: AtomicBool,
}

#[derive(Debug)]
struct Gate {
    lock: Lock,
    tail: Tail,
}

/// The end of the log, where reading goes on.
#[derive(Debug, Default)]
struct Tail {
    log: Option<Arc<Log>>,
    /// Passages that `vectors.bin` lacks.
    unsaved: usize,
    /// Segments that the snapshot lacks.
    unsnapped: usize,
}

impl WarmStore {
    /// Open the store of a directory, which is made if it is missing. Loading goes on in the background; whatever
    /// needs the segments waits for it.
    pub fn open(path: &Path, settings: Settings) -> Result<Self> {
        settings.check()?;
        let directory = Directory::open(path)?;
        let format = Format::of(&directory);
        if format.min_reader > Format::OURS {
            return Err(Error::Version { path: path.to_owned(), found: format.format, supported: Format::OURS });
        }
        let scope = if settings.cross_session { "all".to_owned() } else { format!("one\n{}", settings.session) };
        let bounds = format!("{} {}", settings.max_segments, settings.eviction_days);
        let model = format!("{} {DIM}", HashEmbedder::NAME);
        let health = Health {
            is_read_only: format.min_writer > Format::OURS,
            network: directory.network(),
            ..Health::default()
        };
        let inner = Arc::new(Inner {
            intake: Intake::new(&settings)?,
            stamp: Stamp { model: HashEmbedder::NAME.to_owned(), revision: 1, dim: DIM },
            terms: Terms { scope, model, bounds },
            index: RwLock::new(Warm::new(DIM)?),
            gate: Mutex::new(Gate { lock: Lock::new(directory.clone(), settings.lock_timeout), tail: Tail::default() }),
            health: Mutex::new(health),
            is_ready: Mutex::new(false),
            became_ready: Condvar::new(),
            is_tidying: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
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
        let (added, is_tidying_due) = self.inner.add(records)?;
        if is_tidying_due && !self.inner.is_tidying.swap(true, Ordering::SeqCst) {
            let inner = Arc::clone(&self.inner);
            let tidy = move || {
                inner.tidy(false);
                inner.is_tidying.store(false, Ordering::SeqCst);
            };
            if thread::Builder::new().name("memctx-tidy".to_owned()).spawn(tidy).is_err() {
                self.inner.is_tidying.store(false, Ordering::SeqCst);
            }
        }
        Ok(added)
    }

    /// The best segments for a request, best first.
    pub fn search(&self, request: &Request<'_>) -> Result<Vec<Found>> {
        self.inner.check_open()?;
        self.inner.search(request)
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
        Ok(self.inner.health().clone())
    }

    /// Take in what others have written. Gives how many segments came.
    pub fn refresh(&self) -> Result<usize> {
        self.inner.check_open()?;
        self.inner.wait();
        let mut gate = self.inner.gate();
        self.inner.catch_up(&mut gate.tail, &Saved::default())
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
    }
}

impl Inner {
    fn load(&self) {
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
    }

    fn try_load(&self) -> Result<()> {
        let mut gate = self.gate();
        gate.tail.log = Log::open(&self.directory, SEGMENTS, self.settings.durability)?.map(Arc::new);
        let Some(log) = gate.tail.log.clone() else { return Ok(()) };
        if !log.is_writable() {
            self.health().is_read_only = true;
        }
        let saved = self.load_tier(&log);
        self.catch_up(&mut gate.tail, &saved)?;
        let Settings { max_segments, eviction_days, .. } = self.settings;
        self.index_mut().evict(max_segments, eviction_days, now());
        Ok(())
    }

    /// Begin with the snapshot if it is good, else with nothing but the vectors on disk.
    fn load_tier(&self, log: &Log) -> Saved {
        let folder = self.directory.file(super::directory::INDEX);
        match Warm::load(&folder, &self.terms, DIM, log.file()) {
            Ok((warm, skipped)) => {
                let mut health = self.health();
                health.snapshot = format!("{} segments loaded", warm.len());
                health.skipped_lines += skipped.len() as u64;
                health.skipped = skipped;
                drop(health);
                *self.index_mut() = warm;
                Saved::default()
            }
            Err(fault) => {
                let (saved, words) = vectors::load(&self.directory, &self.stamp);
                let mut health = self.health();
                health.snapshot = format!("{fault}; made anew from the log");
                health.vectors = words;
                saved
            }
        }
    }

    /// Take in what the log holds beyond what has been read. Gives how many segments came.
    fn catch_up(&self, tail: &mut Tail, saved: &Saved) -> Result<usize> {
        if tail.log.as_ref().is_some_and(|log| log.current_len().is_none()) {
            // Deleted or replaced. What is in memory stays until there is another log to read.
            match Log::open(&self.directory, SEGMENTS, self.settings.durability)? {
                Some(log) => {
                    tail.log = Some(Arc::new(log));
                    *self.index_mut() = Warm::new(DIM)?;
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
            *self.index_mut() = Warm::new(DIM)?;
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
            self.embed(&mut drafts, saved);
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
                    drafts.push(Draft::new(segment, line.offset, line.length));
                }
                Ok(_) => {}
                Err(fault) => self.health().skip(line.number, line.offset, fault),
            }
        }
        (drafts, false)
    }

    /// Give drafts the vectors of their passages, from disk where they are there.
    fn embed(&self, drafts: &mut [Draft], saved: &Saved) {
        const WORTH_A_THREAD: usize = 32;
        let embed = |drafts: &mut [Draft]| {
            for draft in drafts {
                let pieces = passages(&draft.segment.content);
                if let Some(vectors) = saved.of(&draft.segment.id, pieces.len()) {
                    (draft.vectors, draft.is_saved) = (vectors, true);
                    continue;
                }
                draft.vectors = vec![0.0; pieces.len() * DIM];
                for (piece, vector) in pieces.into_iter().zip(draft.vectors.chunks_exact_mut(DIM)) {
                    embedder().embed(&draft.segment.content[piece], vector);
                }
            }
        };
        if drafts.len() < WORTH_A_THREAD {
            return embed(drafts);
        }
        let (left, right) = drafts.split_at_mut(drafts.len() / 2);
        let right = Mutex::new(right);
        let embed_right = || embed(&mut lock(&right));
        thread::scope(|scope| {
            let other = thread::Builder::new().spawn_scoped(scope, embed_right);
            embed(left);
            if other.is_err() {
                embed_right();
            }
        });
    }

    /// Store records, and say whether there is something to tidy up.
    fn add(&self, records: &[Record<'_>]) -> Result<(Vec<Added>, bool)> {
        let now = now();
        let segments: Vec<Option<Segment>> =
            records.iter().map(|record| self.intake.segment(record, now)).collect::<Result<_>>()?;
        self.wait();
        if self.health().is_read_only {
            let why = "it is read-only, so nothing can be stored";
            return Err(Error::Refused { path: self.directory.path().to_owned(), why });
        }
        // Waiting for other threads counts too.
        let start = Instant::now();
        let mut gate = self.gate();
        let Batch { log, added, drafts, start, end, synced } = self.write(&mut gate, segments, start)?;
        let index = |gate: MutexGuard<'_, Gate>| {
            let mut gate = gate;
            self.take_in(&mut gate.tail, drafts, start, end)?;
            Ok(self.is_tidying_due(&gate.tail))
        };
        if self.settings.durability == Durability::Os {
            return Ok((added, index(gate)?));
        }
        let is_due = thread::scope(|scope| {
            // The disk is slower than indexing, so both go on side by side.
            let syncing = thread::Builder::new().spawn_scoped(scope, || log.sync(synced));
            let is_due = index(gate);
            // Where there is no other thread, or no longer, this one does it.
            let synced = syncing.ok().and_then(|syncing| syncing.join().ok()).unwrap_or_else(|| log.sync(synced));
            synced.and(is_due)
        });
        if log.is_poisoned() {
            self.health().note("a write did not reach the disk; it is written again with the next one");
        }
        Ok((added, is_due?))
    }

    /// Write what is new, under the directory's lock.
    fn write(&self, gate: &mut Gate, segments: Vec<Option<Segment>>, start: Instant) -> Result<Batch> {
        let Gate { lock, tail } = gate;
        let held = lock.acquire(start)?;
        self.catch_up(tail, &Saved::default())?;
        let log = self.log(tail)?;
        if log.close_last_line()? {
            self.health().healed += 1;
            self.catch_up(tail, &Saved::default())?;
        }
        let mut batch = self.sort_out(segments, Arc::clone(&log));
        if !batch.drafts.is_empty() {
            let mut lines = Vec::new();
            for draft in &mut batch.drafts {
                let line = draft.segment.to_line();
                (draft.offset, draft.bytes) = (lines.len() as u64, line.len() as u64);
                lines.extend_from_slice(&line);
                lines.push(b'\n');
            }
            let place = log.append(lines)?;
            self.health().healed += u64::from(place.healed);
            (batch.start, batch.end, batch.synced) = (place.start, place.end, place.end);
            for draft in &mut batch.drafts {
                draft.offset += place.start;
            }
        }
        drop(held);
        Ok(batch)
    }

    /// The log to write to; a new one if there is none or someone deleted it.
    fn log(&self, tail: &mut Tail) -> Result<Arc<Log>> {
        if let Some(log) = tail.log.as_ref().filter(|log| log.current_len().is_some()) {
            return Ok(Arc::clone(log));
        }
        let log = Arc::new(Log::create(&self.directory, SEGMENTS, self.settings.durability)?);
        if tail.log.replace(Arc::clone(&log)).is_some() {
            self.health().note("the log was deleted; begun anew, with what is in memory still in memory");
        }
        let mut index = self.index_mut();
        index.read_from(log.file());
        index.cursor = Cursor::default();
        Ok(log)
    }

    /// Which of the segments are new.
    fn sort_out(&self, segments: Vec<Option<Segment>>, log: Arc<Log>) -> Batch {
        let index = self.index();
        let mut batch = Batch { log, added: Vec::new(), drafts: Vec::new(), start: 0, end: 0, synced: 0 };
        let mut fresh: HashMap<(String, u64), String> = HashMap::new();
        for segment in segments {
            let Some(segment) = segment else {
                batch.added.push(Added { id: None, outcome: Outcome::Noise });
                continue;
            };
            let digest = digest(&segment.content);
            let earlier = index.twin(&segment.session, &segment.role, digest).map(|twin| {
                // Whoever wrote it may not have waited for the disk yet; we do before we vouch for it.
                batch.synced = batch.synced.max(twin.line.end());
                twin.id.to_string()
            });
            let earlier = earlier.or_else(|| fresh.get(&(segment.role.clone(), digest)).cloned());
            if let Some(id) = earlier {
                batch.added.push(Added { id: Some(id), outcome: Outcome::Duplicate });
                continue;
            }
            fresh.insert((segment.role.clone(), digest), segment.id.clone());
            batch.added.push(Added { id: Some(segment.id.clone()), outcome: Outcome::Added });
            batch.drafts.push(Draft::new(segment, 0, 0));
        }
        batch
    }

    /// Index what was just written from `start` to `end`.
    fn take_in(&self, tail: &mut Tail, mut drafts: Vec<Draft>, start: u64, end: u64) -> Result<()> {
        if drafts.is_empty() {
            return Ok(());
        }
        self.embed(&mut drafts, &Saved::default());
        if self.index().cursor.offset != start {
            // An unfinished line lay before: read it too.
            self.catch_up(tail, &Saved::default())?;
            return Ok(());
        }
        tail.note(&drafts);
        let mut index = self.index_mut();
        index.cursor = Cursor { offset: end, line: index.cursor.line + drafts.len() as u64 };
        drafts.into_iter().try_for_each(|draft| index.push(draft))?;
        index.keep_newest(self.settings.max_segments);
        Ok(())
    }

    fn search(&self, request: &Request<'_>) -> Result<Vec<Found>> {
        let Settings { cross_session, session, .. } = &self.settings;
        let is_foreign = !cross_session && request.session.is_some_and(|wanted| wanted != session);
        let index = self.current()?;
        if is_foreign || request.limit == 0 {
            return Ok(Vec::new());
        }
        let mut vector = [0.0; DIM];
        let query = request.query.char_indices().nth(QUERY).map_or(request.query, |(end, _)| &request.query[..end]);
        embedder().embed(query, &mut vector);
        let vector = vector.iter().any(|value| *value != 0.0).then_some(&vector[..]);
        index.search(request, vector, now(), |fault| self.note_damage(&fault))
    }

    /// Count a segment that could not be read, which is left out and stops nothing.
    fn note_damage(&self, fault: &Error) {
        let mut health = self.health();
        health.damaged += 1;
        health.note(fault.to_string());
    }

    fn is_tidying_due(&self, tail: &Tail) -> bool {
        let index = self.index();
        tail.unsaved >= MANY || tail.unsnapped >= MANY.max(index.len() / 8) || index.is_sparse()
    }

    /// Write vectors and snapshot, and close the gaps in memory. False if nothing could be written.
    fn tidy(&self, force: bool) -> bool {
        let done = self.try_tidy(&mut self.gate(), force);
        done.unwrap_or_else(|fault| {
            self.health().note(fault.to_string());
            false
        })
    }

    fn try_tidy(&self, gate: &mut Gate, force: bool) -> Result<bool> {
        let Gate { lock, tail } = gate;
        let Some(log) = tail.log.clone().filter(|log| log.current_len().is_some()) else { return Ok(false) };
        if self.health().is_read_only {
            return Ok(false);
        }
        if self.index().is_sparse() {
            let compacted = self.index().compacted()?;
            *self.index_mut() = compacted;
        }
        if tail.unsaved > 0 {
            let _held = lock.acquire(Instant::now())?;
            self.save_vectors()?;
            tail.unsaved = 0;
        }
        let index = self.index();
        let is_worth_it = tail.unsnapped > 0 && index.cursor.offset >= SMALL;
        if (is_worth_it || force) && index.has_one_source() {
            let folder = self.directory.index()?;
            remove_leftovers(&folder);
            let skipped = self.health().skipped.clone();
            index.save(&folder, &self.terms, &skipped, log.file())?;
            tail.unsnapped = 0;
        }
        Ok(true)
    }

    fn save_vectors(&self) -> Result<()> {
        remove_leftovers(self.directory.path());
        let index = self.index();
        let is_unsaved = |passage: &Passage| passage.is_saved == 0 && index.entries[passage.segment as usize].is_live;
        let unsaved: Vec<u32> =
            (0..).zip(&index.passages).filter(|(_, passage)| is_unsaved(passage)).map(|found| found.0).collect();
        let ids: Vec<String> = unsaved.iter().map(|&passage| index.vector_id(passage)).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let values: Vec<f32> = unsaved.iter().flat_map(|&passage| index.rows.row(passage)).copied().collect();
        drop(index);
        if vectors::save(&self.directory, &self.stamp, &ids, &values)? {
            let mut index = self.index_mut();
            for passage in unsaved {
                index.passages[passage as usize].is_saved = 1;
            }
        }
        Ok(())
    }

    /// The index, with what others have written unless someone is at it already.
    fn current(&self) -> Result<RwLockReadGuard<'_, Warm>> {
        self.check_open()?;
        self.wait();
        let free = match self.gate.try_lock() {
            Ok(gate) => Some(gate),
            Err(TryLockError::Poisoned(gate)) => Some(gate.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        if let Some(Err(fault)) = free.map(|mut gate| self.catch_up(&mut gate.tail, &Saved::default())) {
            self.health().note(fault.to_string());
        }
        Ok(self.index())
    }

    /// Wait until the store is loaded.
    fn wait(&self) {
        let mut is_ready = lock(&self.is_ready);
        while !*is_ready {
            is_ready = self.became_ready.wait(is_ready).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn check_open(&self) -> Result<()> {
        if self.is_closed.load(Ordering::SeqCst) {
            return Err(Error::Refused { path: self.directory.path().to_owned(), why: "this store has been closed" });
        }
        Ok(())
    }

    fn index(&self) -> RwLockReadGuard<'_, Warm> {
        self.index.read().expect(UNUSABLE)
    }

    fn index_mut(&self) -> RwLockWriteGuard<'_, Warm> {
        self.index.write().expect(UNUSABLE)
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        lock(&self.gate)
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        lock(&self.health)
    }
}

const UNUSABLE: &str = "the store is unusable after an earlier internal error";

/// Records on their way to the index.
struct Batch {
    log: Arc<Log>,
    added: Vec<Added>,
    drafts: Vec<Draft>,
    /// Where the lines of the drafts are.
    start: u64,
    end: u64,
    /// How far the log must be on disk before the records are acknowledged.
    synced: u64,
}

impl Tail {
    /// Count what neither `vectors.bin` nor the snapshot has.
    fn note(&mut self, drafts: &[Draft]) {
        self.unsnapped += drafts.len();
        self.unsaved += drafts.iter().filter(|draft| !draft.is_saved).count();
    }
}

/// Lock; what is locked here is whole after every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One for the process: it remembers what it has seen.
fn embedder() -> &'static HashEmbedder {
    static EMBEDDER: OnceLock<HashEmbedder> = OnceLock::new();
    EMBEDDER.get_or_init(|| HashEmbedder::new(DIM).expect("a length that is allowed"))
}

/// Milliseconds since 1970; before that, 0.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |age| age.as_secs_f64() * 1000.0).floor()
}

/// Delete the temporary files of processes that died, which are old by now.
fn remove_leftovers(folder: &Path) {
    const PREFIXES: [&str; 3] = [".snapshot-", ".stamp-", ".vmem-"];
    const OLD: Duration = Duration::from_secs(60);
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let name = file.file_name();
        let is_temporary = PREFIXES.iter().any(|prefix| name.to_string_lossy().starts_with(prefix));
        let age = file.metadata().and_then(|found| found.modified()).map(|time| time.elapsed().unwrap_or_default());
        if is_temporary && age.is_ok_and(|age| age > OLD) {
            // Another process may have been faster.
            let _ = std::fs::remove_file(file.path());
        }
    }
}
