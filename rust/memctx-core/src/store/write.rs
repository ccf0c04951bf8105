//! Writing records: to the log first, then to the index.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use rustc_hash::FxHashMap;

use super::embed;
use super::follower::Followed;
use super::inner::{Gate, Inner, Tail, now};
use super::intake::{Added, Outcome, Record};
use super::log::SEGMENTS;
use super::log::append_only::Log;
use super::log::lines::Cursor;
use super::log::segment::Segment;
use super::log::vectors::Saved;
use super::warm::tier::{Draft, digest};
use crate::{Error, Result};

/// So many are indexed before starting a thread for it would pay.
const FEW: usize = 3;

/// Records on their way to disk.
struct Batch {
    log: Arc<Log>,
    added: Vec<Added>,
    written: Written,
    /// The offset up to which the log must be on disk before the records are acknowledged.
    synced: u64,
}

/// Records that are in the log.
struct Down {
    added: Vec<Added>,
    /// The number of new records that are not in the index yet.
    count: usize,
    unsynced: Unsynced,
}

/// A place in the log up to which it must reach the disk.
#[derive(Clone)]
struct Unsynced {
    log: Arc<Log>,
    end: u64,
}

/// Lines that are in the log and not yet in the index.
#[derive(Debug, Default)]
pub(super) struct Written {
    drafts: Vec<Draft>,
    start: u64,
    end: u64,
}

impl Inner {
    /// Store records. The disk comes first: indexing beside it would keep the processor from threads that wait for the
    /// disk. Many are then indexed by another thread; a search waits for it.
    pub(super) fn add(self: &Arc<Self>, records: &[Record<'_>]) -> Result<Vec<Added>> {
        let Down { added, count, unsynced } = self.write_down(records)?;
        let synced = self.sync(&unsynced, count);
        // What is in the log can be found, whether or not it reached the disk.
        self.index_written(count)?;
        synced.map(|()| added)
    }

    /// Store records as `add` does, but let another thread wait for the disk.
    pub(super) fn put(self: &Arc<Self>, records: &[Record<'_>]) -> Result<Vec<Added>> {
        let Down { added, count, unsynced } = self.write_down(records)?;
        self.index_written(count)?;
        let inner = Arc::clone(self);
        let waiting = unsynced.clone();
        let sync = move || {
            if let Err(fault) = inner.sync(&waiting, count) {
                inner.health().note(fault.to_string());
            }
        };
        if thread::Builder::new().name("memctx-sync".to_owned()).spawn(sync).is_err() {
            self.sync(&unsynced, count)?;
        }
        Ok(added)
    }

    /// Find records that are stored, without storing the others.
    pub(super) fn recognize(&self, records: &[Record<'_>]) -> Result<Vec<Option<Added>>> {
        let (now, session) = (now(), &self.settings.session);
        let index = self.current()?;
        let found = records.iter().map(|record| {
            let Some(segment) = self.intake.segment(session, record, now)? else {
                return Ok(Some(Added { id: None, outcome: Outcome::Noise, digest: None }));
            };
            let digest = digest(&segment.content);
            let earlier = index.duplicate(&segment.session, &segment.role, digest);
            let duplicate =
                |id: &str| Added { id: Some(id.to_owned()), outcome: Outcome::Duplicate, digest: Some(digest) };
            Ok(earlier.map(|earlier| duplicate(&earlier.id)))
        });
        found.collect()
    }

    /// Wait for the disk to have what was written, so many records.
    fn sync(&self, unsynced: &Unsynced, count: usize) -> Result<()> {
        let synced = unsynced.log.sync(unsynced.end);
        if count > 0 || synced.is_err() {
            self.health().note_write(synced.as_ref().err());
        }
        if unsynced.log.is_poisoned() {
            self.health().note("a write did not reach the disk; it is written again with the next one");
        }
        synced
    }

    /// Wait until writes that no caller waited for are on disk.
    pub(super) fn sync_rest(&self) {
        let Some(log) = self.gate().tail.log.clone() else { return };
        let Some(end) = log.unsynced_end() else { return };
        if let Err(fault) = self.sync(&Unsynced { log, end }, 0) {
            self.health().note(fault.to_string());
        }
    }

    /// Write records to the log, from where the operating system will take them to the disk.
    fn write_down(&self, records: &[Record<'_>]) -> Result<Down> {
        let now = self.stamp();
        let session = &self.settings.session;
        let segments: Vec<Option<Segment>> =
            records.iter().map(|record| self.intake.segment(session, record, now)).collect::<Result<_>>()?;
        self.wait();
        if self.health().is_read_only {
            let why = "it is read-only, so nothing can be stored";
            return Err(Error::Refused { path: self.directory.path().to_owned(), why });
        }
        // Waiting for other threads counts too.
        let since = Instant::now();
        let mut gate = self.gate();
        let written = self.write(&mut gate, records, segments, since);
        let Batch { log, added, written, synced } =
            written.inspect_err(|fault| self.health().note_write(Some(fault)))?;
        let count = written.drafts.len();
        if count > 0 {
            gate.tail.pending.push(written);
            self.has_pending.store(true, Ordering::SeqCst);
        }
        Ok(Down { added, count, unsynced: Unsynced { log, end: synced } })
    }

    /// Index what was just written, so many records: a few at once, more in another thread.
    fn index_written(self: &Arc<Self>, count: usize) -> Result<()> {
        let is_work_left = {
            let mut gate = self.gate();
            if count <= FEW {
                self.settle(&mut gate.tail)?;
            }
            count > FEW || self.is_tidying_due(&gate.tail)
        };
        if is_work_left {
            self.settle_in_background();
        }
        self.stored.set();
        #[cfg(feature = "disk-index")]
        self.wake_older();
        Ok(())
    }

    /// Let another thread index what was written and tidy up, unless one is at it.
    fn settle_in_background(self: &Arc<Self>) {
        if self.is_settling.swap(true, Ordering::SeqCst) {
            return;
        }
        let inner = Arc::clone(self);
        let settle = move || {
            loop {
                let is_due = {
                    let mut gate = inner.gate();
                    if let Err(fault) = inner.settle(&mut gate.tail) {
                        inner.health().note(fault.to_string());
                    }
                    inner.is_tidying_due(&gate.tail)
                };
                #[cfg(feature = "disk-index")]
                inner.wake_older();
                if is_due {
                    inner.tidy(false);
                }
                inner.is_settling.store(false, Ordering::SeqCst);
                // A writer that came in between may have relied on this thread.
                if !inner.has_pending.load(Ordering::SeqCst) || inner.is_settling.swap(true, Ordering::SeqCst) {
                    return;
                }
            }
        };
        if thread::Builder::new().name("memctx-index".to_owned()).spawn(settle).is_err() {
            // The next search or addition does it.
            self.is_settling.store(false, Ordering::SeqCst);
        }
    }

    /// Index what was written.
    pub(super) fn settle(&self, tail: &mut Tail) -> Result<()> {
        for written in std::mem::take(&mut tail.pending) {
            self.take_in(tail, written)?;
        }
        self.has_pending.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Write what is new, under the directory's lock.
    fn write(
        &self,
        gate: &mut Gate,
        records: &[Record<'_>],
        segments: Vec<Option<Segment>>,
        since: Instant,
    ) -> Result<Batch> {
        let Gate { lock, tail } = gate;
        let held = lock.acquire(since)?;
        let followed = self.catch_up(tail)?;
        let log = self.log(tail, followed)?;
        // What was read to the end is made of whole lines.
        let is_read = followed.length == Some(self.index().cursor.offset);
        if !is_read && log.close_last_line()? {
            self.health().repaired += 1;
            self.catch_up(tail)?;
        }
        let mut batch = self.sort_out(records, segments, Arc::clone(&log));
        let drafts = &mut batch.written.drafts;
        if !drafts.is_empty() {
            let room = drafts.iter().map(|draft| draft.segment.line_room()).sum();
            let mut lines = Vec::with_capacity(room);
            for draft in &mut *drafts {
                let start = lines.len();
                draft.segment.write_line(&mut lines);
                (draft.offset, draft.bytes) = (start as u64, (lines.len() - start) as u64);
                lines.push(b'\n');
            }
            let place = log.append(lines)?;
            self.health().repaired += u64::from(place.repaired);
            for draft in drafts {
                draft.offset += place.start;
            }
            (batch.written.start, batch.written.end, batch.synced) = (place.start, place.end, place.end);
        }
        drop(held);
        Ok(batch)
    }

    /// The log to write to; a new one if there is none or someone deleted it.
    fn log(&self, tail: &mut Tail, followed: Followed) -> Result<Arc<Log>> {
        if let Some(log) = tail.log.as_ref().filter(|_| followed.length.is_some()) {
            return Ok(Arc::clone(log));
        }
        let log = Arc::new(Log::create(&self.directory, SEGMENTS, self.settings.durability)?);
        if tail.log.replace(Arc::clone(&log)).is_some() {
            self.health().note("the log was deleted; a new one was started; segments in memory stay searchable");
        }
        let mut index = self.index_mut();
        index.read_from(log.file());
        index.cursor = Cursor::default();
        Ok(log)
    }

    /// Return the new segments among those made from these records.
    fn sort_out(&self, records: &[Record<'_>], segments: Vec<Option<Segment>>, log: Arc<Log>) -> Batch {
        let index = self.index();
        let added = Vec::with_capacity(segments.len());
        let mut batch = Batch { log, added, written: Written::default(), synced: 0 };
        let drafts = &mut batch.written.drafts;
        // Where among the drafts they are.
        let mut fresh: FxHashMap<(&str, u64), usize> = FxHashMap::default();
        for (record, segment) in records.iter().zip(segments) {
            let Some(segment) = segment else {
                batch.added.push(Added { id: None, outcome: Outcome::Noise, digest: None });
                continue;
            };
            let digest = digest(&segment.content);
            let earlier = index.duplicate(&segment.session, &segment.role, digest).map(|duplicate| {
                // Its writer may not have waited for the disk yet; we do before it is acknowledged here.
                batch.synced = batch.synced.max(duplicate.line.end());
                duplicate.id.to_string()
            });
            let said = (record.role, digest);
            let earlier = earlier.or_else(|| fresh.get(&said).map(|&at: &usize| drafts[at].segment.id.clone()));
            if let Some(id) = earlier {
                batch.added.push(Added { id: Some(id), outcome: Outcome::Duplicate, digest: Some(digest) });
                continue;
            }
            fresh.insert(said, drafts.len());
            batch.added.push(Added { id: Some(segment.id.clone()), outcome: Outcome::Added, digest: Some(digest) });
            drafts.push(Draft::new(segment, digest, 0, 0));
        }
        batch
    }

    fn take_in(&self, tail: &mut Tail, written: Written) -> Result<()> {
        let Written { mut drafts, start, end } = written;
        embed::embed(&mut drafts, self.model(), &Saved::default());
        if self.index().cursor.offset != start {
            // An unfinished line lay before: read it too.
            self.follow(tail, &Saved::default())?;
            return Ok(());
        }
        tail.note(&drafts);
        let mut index = self.index_mut();
        index.cursor = Cursor { offset: end, line: index.cursor.line + drafts.len() as u64 };
        drafts.into_iter().try_for_each(|draft| index.push(draft))?;
        index.keep_newest(self.settings.max_segments);
        Ok(())
    }
}
