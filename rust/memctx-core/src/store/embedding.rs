//! Vectors that are made apart from the rest: which texts lack theirs, and where they are kept.
//!
//! There is one pass over the log, which goes on where it stopped. What the file of vectors holds says what is done, so
//! nothing is embedded twice, whichever process dies. One process at a time leads; the others read what it writes.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::inner::{Inner, lock};
use super::log::lease::Lease;
use super::log::lines::{Cursor, Lines, tail};
use super::log::lock::Lock;
use super::log::metadata::Done;
use super::log::segment::Segment;
use super::log::vectors::{self, Slot, vector_id};
use super::warm::passage::passages;
use super::warm::search::Request;
use crate::file::Identity;
use crate::vector::{check_finite, norm};
use crate::vmem::{self, Checksum, Follower};
use crate::{Error, Result};

/// Held by the process that leads, among the derived files.
const LEADING: &str = "EMBEDDING";
/// Texts that are embedded at a time where the core does it: few enough that a search soon has the first vectors.
const BATCH: usize = 64;
/// Vectors that memory gets at a time, during which searches wait.
const AT_ONCE: usize = 64;
/// Of so many texts one may be without a vector in a set that counts as complete, and one more.
const ALL_BUT: usize = 10;
/// Threads that make vectors for a search at most: the host has work, too.
const MOST_THREADS: usize = 4;
/// Pause between two looks at another process's progress.
const PAUSE: Duration = Duration::from_millis(100);
/// Pause between two looks for texts that other processes stored.
const IDLE: Duration = Duration::from_secs(2);
/// Time that the turn which stored something has the processor and the locks to itself, as a rule.
const HEAD_START: Duration = Duration::from_millis(250);
/// Pause after a fault, such as a full disk.
const AFTER_FAULT: Duration = Duration::from_secs(10);

/// The progress of embedding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingStatus {
    /// The model that makes the vectors.
    pub model: String,
    /// The model's revision.
    pub revision: String,
    /// Their length.
    pub dim: usize,
    /// True if a vector is there as soon as a text is.
    pub is_instant: bool,
    /// True if these vectors are to take the place of another model's, and have not yet.
    pub is_replacing: bool,
    /// Bytes of the log before the first text that lacks its vector,
    pub done_bytes: u64,
    /// of so many.
    pub log_bytes: u64,
    /// Pieces in memory whose vectors are still to come.
    pub lacking: usize,
    /// Texts that were given up for now.
    pub aside: usize,
}

/// The pass over the log.
#[derive(Debug, Default)]
pub(super) struct Pass {
    leading: Option<Lease>,
    slot: Option<Slot>,
    /// Everything before this place has its vectors or was set aside.
    cursor: Cursor,
    /// The position of the first text that was set aside.
    first_aside: Option<Cursor>,
    /// The offsets of vectors in their file, by hashes of ids.
    known: FxHashMap<u64, u64>,
    aside: FxHashSet<u64>,
    follower: Option<Follower>,
    log: Option<Identity>,
    /// True if all of the file has been read once.
    is_checked: bool,
    /// Vectors that memory got and the snapshot lacks.
    unsnapped: usize,
}

impl Pass {
    /// Begin with the first line again.
    fn rewind(&mut self) {
        (self.cursor, self.first_aside) = (Cursor::default(), None);
    }
}

impl Inner {
    /// Texts that lack their vectors, in the order of the log, whole segments at a time; none if another process leads.
    pub(super) fn unembedded(&self, limit: usize) -> Result<Vec<(String, String)>> {
        // What others wrote is to have its vectors here, too.
        drop(self.current()?);
        let mut pass = lock(&self.pass);
        // Under the lock that closing takes last: a closed store neither leads nor writes.
        self.check_open()?;
        self.follow_vectors(&mut pass)?;
        let stamp = self.model().stamp();
        pass.slot = Slot::for_new(&self.directory, stamp, self.settings.replaces_vectors);
        // Instant vectors are written to the current slot by maintenance.
        let is_done = self.model().is_instant() && pass.slot == Some(Slot::Current);
        let Some(slot) = pass.slot.filter(|_| !is_done && !self.health().is_read_only) else { return Ok(Vec::new()) };
        if pass.leading.is_none() {
            pass.leading = Lease::acquire(&self.directory.index()?.join(LEADING))?;
            if pass.leading.is_none() {
                return Ok(Vec::new());
            }
            self.resume(&mut pass, slot)?;
        }
        let wanted = self.collect(&mut pass, limit)?;
        self.embedded.store(pass.cursor.offset, Ordering::Relaxed);
        if wanted.is_empty() {
            self.complete(&mut pass, slot)?;
        }
        Ok(wanted)
    }

    /// Go on where the last one who led stopped.
    fn resume(&self, pass: &mut Pass, slot: Slot) -> Result<()> {
        self.follow_vectors(pass)?;
        pass.rewind();
        let imprint = slot.imprint(&self.directory).filter(|found| found.stamp == *self.model().stamp());
        let Some((done, log)) = imprint.map(|found| found.done).zip(self.directory.log()?) else { return Ok(()) };
        if tail(&log, done.offset).is_ok_and(|found| found == done.tail) {
            pass.cursor = Cursor { offset: done.offset, line: done.line };
        }
        Ok(())
    }

    fn collect(&self, pass: &mut Pass, limit: usize) -> Result<Vec<(String, String)>> {
        let Some(log) = self.directory.log()?.map(Arc::new) else { return Ok(Vec::new()) };
        let identity = log.metadata().map(|found| Identity::of(&found)).map_err(Error::io(self.directory.path()))?;
        if pass.log.replace(identity).is_some_and(|before| before != identity) {
            pass.rewind();
        }
        let mut lines = Lines::new(&log, pass.cursor.offset, pass.cursor.line);
        let mut wanted = Vec::new();
        while wanted.len() < limit.max(1) {
            let start = Cursor { offset: lines.position(), line: lines.number() };
            let Some(line) = lines.next() else { break };
            // What cannot be read is counted by those who read the log.
            if let Ok(segment) = line.bytes.map_err(ToOwned::to_owned).and_then(Segment::from_line) {
                for (piece, range) in passages(&segment.content).into_iter().enumerate() {
                    let id = vector_id(&segment.id, piece);
                    let hash = xxh3_64(id.as_bytes());
                    if pass.aside.contains(&hash) {
                        pass.first_aside.get_or_insert(start);
                    } else if !pass.known.contains_key(&hash) {
                        wanted.push((id, segment.content[range].to_owned()));
                    }
                }
            }
            if wanted.is_empty() {
                pass.cursor = Cursor { offset: lines.position(), line: lines.number() };
            }
        }
        Ok(wanted)
    }

    /// Note that everything is embedded, and let others lead. A new set takes the place of the old one.
    fn complete(&self, pass: &mut Pass, slot: Slot) -> Result<()> {
        let held = self.directory_lock().acquire(Instant::now())?;
        self.note_done(pass, slot)?;
        let is_complete = slot == Slot::Next && pass.aside.len().saturating_sub(1) * ALL_BUT <= pass.known.len();
        // Who writes now waits, so nothing more can come.
        if is_complete && self.collect(pass, 1)?.is_empty() {
            vectors::promote(&self.directory)?;
            self.follow_vectors(pass)?;
        }
        drop(held);
        pass.leading = None;
        let unsnapped = std::mem::take(&mut pass.unsnapped);
        self.gate().tail.unsnapped += unsnapped;
        #[cfg(feature = "disk-index")]
        if !self.model().is_instant() {
            self.wake_older();
            self.renew_older();
        }
        Ok(())
    }

    fn note_done(&self, pass: &Pass, slot: Slot) -> Result<()> {
        let Some(log) = self.directory.log()? else { return Ok(()) };
        let Cursor { offset, line } = pass.first_aside.unwrap_or(pass.cursor);
        let tail = tail(&log, offset).map_err(Error::io(self.directory.path()))?;
        slot.note(&self.directory, self.model().stamp(), Done { offset, line, tail })
    }

    /// Keep vectors, one behind the other.
    pub(super) fn supply(&self, ids: &[&str], values: &[f32]) -> Result<()> {
        let dim = self.model().dim();
        if values.len() != ids.len() * dim {
            return Err(Error::Dimension { expected: ids.len() * dim, found: values.len() });
        }
        check_finite(values, dim)?;
        let mut units = Vec::with_capacity(values.len());
        for (id, vector) in ids.iter().zip(values.chunks_exact(dim)) {
            let length = norm(vector);
            // Made here, zeros mean that nothing in the text counts; from elsewhere they mean that something went wrong.
            if length == 0.0 && !self.model().is_local() {
                return Err(Error::argument("vectors", "other than zeros", format!("zeros for {id:?}")));
            }
            let length = if length > 0.0 { length } else { 1.0 };
            units.extend(vector.iter().map(|value| (f64::from(*value) / length) as f32));
        }
        if ids.is_empty() {
            return Ok(());
        }
        self.wait();
        let mut pass = lock(&self.pass);
        self.check_open()?;
        let stamp = self.model().stamp();
        let Some(slot) = Slot::for_new(&self.directory, stamp, self.settings.replaces_vectors) else {
            let why =
                "its vectors belong to another model and are kept; open it with `replaces_vectors` to replace them";
            return Err(Error::Refused { path: self.directory.path().to_owned(), why });
        };
        pass.slot = Some(slot);
        if !pass.is_checked {
            // Long before anyone has to wait for it.
            let whole = vmem::verify(&slot.path(&self.directory));
            pass.is_checked = whole.is_ok_and(|report| report.checksum == Checksum::Valid);
        }
        let held = self.directory_lock().acquire(Instant::now())?;
        let is_kept = slot.add(&self.directory, stamp, ids, &units, &mut pass.is_checked)?;
        drop(held);
        if !is_kept {
            pass.rewind();
        }
        self.follow_vectors(&mut pass)
    }

    /// Do without the vectors of some texts.
    pub(super) fn set_aside(&self, ids: &[&str]) {
        lock(&self.pass).aside.extend(ids.iter().map(|id| xxh3_64(id.as_bytes())));
    }

    /// Take in the vectors that are on disk by now.
    fn follow_vectors(&self, pass: &mut Pass) -> Result<()> {
        if pass.follower.as_ref().is_none_or(|follower| follower.entries().is_replaced()) {
            pass.known.clear();
            pass.follower = vectors::open_of(&self.directory, self.model().stamp(), Follower::open);
        }
        let Some(follower) = &mut pass.follower else { return Ok(()) };
        while let Some((place, id)) = follower.advance()? {
            pass.known.insert(xxh3_64(id), place);
        }
        // What others wrote may have come to memory before its vectors did, or after.
        let wanting: Vec<(String, u64)> = {
            let index = self.index();
            let ids = index.wanting().map(|passage| index.vector_id(passage));
            ids.filter_map(|id| pass.known.get(&xxh3_64(id.as_bytes())).map(|&place| (id, place))).collect()
        };
        for some in wanting.chunks(AT_ONCE) {
            let read = |(id, place): &(String, u64)| Some((id.clone(), follower.entries().read(*place, id)?));
            let vectors: Vec<(String, Vec<f32>)> = some.iter().filter_map(read).collect();
            // A hold that begins now waits until these are in memory.
            let holds = lock(&self.vector_holds);
            if *holds > 0 {
                break; // the next look takes them in
            }
            let mut index = self.index_mut();
            for (id, vector) in vectors {
                if let Some(passage) = index.unsaved(&id) {
                    index.set_vector(passage, &vector)?;
                    pass.unsnapped += 1;
                }
            }
        }
        Ok(())
    }

    /// The progress of embedding.
    pub(super) fn embedding_status(&self) -> Result<EmbeddingStatus> {
        let lacking = self.current()?.lacking();
        let log_bytes = self.directory.log()?.and_then(|log| log.metadata().ok()).map_or(0, |found| found.len());
        let model = self.model();
        let slot = Slot::for_new(&self.directory, model.stamp(), self.settings.replaces_vectors);
        let noted = Slot::of(&self.directory, model.stamp()).and_then(|slot| slot.imprint(&self.directory));
        let noted = noted.map_or(0, |imprint| imprint.done.offset);
        let pass = lock(&self.pass);
        let is_current = model.is_instant() && slot == Some(Slot::Current);
        let reached = if pass.leading.is_some() { pass.cursor.offset } else { noted };
        Ok(EmbeddingStatus {
            model: model.name().to_owned(),
            revision: model.revision().to_owned(),
            dim: model.dim(),
            is_instant: model.is_instant(),
            is_replacing: slot == Some(Slot::Next),
            done_bytes: if is_current { log_bytes } else { reached.min(log_bytes) },
            log_bytes,
            lacking,
            aside: pass.aside.len(),
        })
    }

    /// Finish what a process that died left of a change of models.
    pub(super) fn finish_replacing(&self) -> Result<()> {
        if !self.health().is_read_only && vectors::is_promoting(&self.directory) {
            let _held = self.directory_lock().acquire(Instant::now())?;
            vectors::finish_promotion(&self.directory)?;
        }
        Ok(())
    }

    /// Let another process lead.
    pub(super) fn stop_leading(&self) {
        lock(&self.pass).leading = None;
    }

    /// Start the thread that embeds stored texts, if the core makes the vectors and texts may lack theirs.
    pub(super) fn begin_embedding(self: &Arc<Self>) {
        let is_needed = if self.model().is_instant() { self.is_replacing_itself() } else { self.model().is_local() };
        if is_needed && !self.health().is_read_only {
            let (store, signal) = (Arc::downgrade(self), Arc::clone(&self.stored));
            // Without a thread the texts are found by their words, and the next one to open the store tries again.
            let _ = thread::Builder::new().name("memctx-embed".to_owned()).spawn(move || embed_stored(&store, &signal));
        }
    }

    fn is_replacing_itself(&self) -> bool {
        let slot = || Slot::for_new(&self.directory, self.model().stamp(), self.settings.replaces_vectors);
        self.model().is_local() && slot() == Some(Slot::Next)
    }

    /// Make the vectors that a search would miss, within the time it allows; return how many are still missing.
    ///
    /// They stay in memory until those on disk take their place, and are the same.
    pub(super) fn embed_for(&self, request: &Request<'_>) -> Result<usize> {
        let wanted: Vec<String> = {
            let index = self.index();
            index.lacking_without(request.except).map(|passage| index.vector_id(passage)).collect()
        };
        if wanted.is_empty() || !self.model().is_local() {
            return Ok(wanted.len());
        }
        let deadline = Instant::now() + request.embedding;
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(wanted.len());
        // What was said last is asked for most.
        let stripe = |first: usize| -> Vec<(&String, Vec<f32>)> {
            let own = wanted.iter().rev().skip(first).step_by(threads).take_while(|_| Instant::now() < deadline);
            own.filter_map(|id| Some((id, self.model().vector(&self.index().text_of(id)?)?))).collect()
        };
        let made: Vec<(&String, Vec<f32>)> = thread::scope(|scope| {
            // Without a thread its share is made in the background.
            let begin = |first| thread::Builder::new().spawn_scoped(scope, move || stripe(first)).ok();
            let others: Vec<_> = (1..threads).filter_map(begin).collect();
            let own = stripe(0);
            own.into_iter().chain(others.into_iter().filter_map(|other| other.join().ok()).flatten()).collect()
        });
        let mut index = self.index_mut();
        for (id, vector) in &made {
            index.lend_vector(id, vector)?;
        }
        Ok(wanted.len() - made.len())
    }

    /// Embed some stored texts that lack their vectors, where the core makes them; return how many.
    pub(super) fn embed_some(&self) -> Result<usize> {
        if !self.model().is_local() {
            return Ok(0);
        }
        // One thread at a time: two would embed the same texts.
        let _turn = lock(&self.embedding);
        let texts = self.unembedded(BATCH)?;
        let ids: Vec<&str> = texts.iter().map(|(id, _)| id.as_str()).collect();
        let values: Vec<f32> = texts.iter().filter_map(|(_, text)| self.model().vector(text)).flatten().collect();
        self.supply(&ids, &values)?;
        Ok(ids.len())
    }

    /// Embed all stored texts that lack their vectors; return when to look for more, or none if there will be none.
    fn embed_all(&self, seen: &mut Option<u64>) -> Option<Duration> {
        let log = self.directory.log().ok().flatten();
        let length = log.and_then(|log| log.metadata().ok()).map(|found| found.len());
        let is_lacking = || self.index().lacking() > 0 || self.is_replacing_itself();
        // The texts of other processes count too, though they may not be in memory.
        if length == *seen && !is_lacking() {
            return Some(IDLE);
        }
        loop {
            match self.embed_some() {
                _ if self.is_closed() => return None,
                Ok(0) => break,
                Ok(_) => {}
                Err(fault) => {
                    self.health().note(fault.to_string());
                    return Some(AFTER_FAULT);
                }
            }
        }
        *seen = length;
        if self.model().is_instant() && !self.is_replacing_itself() {
            return None;
        }
        Some(if self.is_replacing_itself() { PAUSE } else { IDLE })
    }

    fn directory_lock(&self) -> Lock {
        Lock::new(self.directory.clone(), self.settings.lock_timeout)
    }
}

/// Keeps vectors that are made in the background out of memory for as long as it lives.
///
/// A turn that stores texts and then searches holds them: which vectors come meanwhile depends on the load of the
/// machine, and what it recalls must not.
#[derive(Debug)]
pub struct VectorHold(Arc<Inner>);

impl VectorHold {
    pub(super) fn new(inner: &Arc<Inner>) -> Self {
        *lock(&inner.vector_holds) += 1;
        Self(Arc::clone(inner))
    }
}

impl Drop for VectorHold {
    fn drop(&mut self) {
        *lock(&self.0.vector_holds) -= 1;
    }
}

/// Wakes the thread that embeds when something was stored.
#[derive(Debug, Default)]
pub(super) struct Signal {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    pub(super) fn set(&self) {
        *lock(&self.is_set) = true;
        self.changed.notify_one();
    }

    /// Wait until it is set, at most for this long, and clear it; return whether it was set.
    fn wait(&self, time: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(lock(&self.is_set), time, |is_set| !*is_set);
        std::mem::take(&mut *waited.unwrap_or_else(PoisonError::into_inner).0)
    }
}

/// Embed what is stored until the store is closed or dropped.
fn embed_stored(store: &Weak<Inner>, signal: &Signal) {
    let mut seen = None;
    while let Some(wait) =
        store.upgrade().filter(|inner| !inner.is_closed()).and_then(|inner| inner.embed_all(&mut seen))
    {
        if signal.wait(wait) {
            thread::sleep(HEAD_START);
        }
    }
}
