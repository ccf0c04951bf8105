//! How records get into a store.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};
use std::thread;
use std::time::Instant;

use super::SEGMENTS;
use super::embed;
use super::intake::{Added, Outcome, Record};
use super::log::Log;
use super::segment::Segment;
use super::settings::Durability;
use super::vectors::Saved;
use super::warm::{Cursor, Draft, digest};
use super::warm_store::{Gate, Inner, Tail, now};
use crate::{Error, Result};

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

impl Inner {
    /// Store records, and say whether there is something to tidy up.
    pub(super) fn add(&self, records: &[Record<'_>]) -> Result<(Vec<Added>, bool)> {
        let now = now();
        let segments: Vec<Option<Segment>> =
            records.iter().map(|record| self.intake.segment(record, now)).collect::<Result<_>>()?;
        self.wait();
        if self.health().is_read_only {
            let why = "it is read-only, so nothing can be stored";
            return Err(Error::Refused { path: self.directory.path().to_owned(), why });
        }
        // Waiting for other threads counts too.
        let since = Instant::now();
        let mut gate = self.gate();
        let Batch { log, added, drafts, start, end, synced } = self.write(&mut gate, segments, since)?;
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
    fn write(&self, gate: &mut Gate, segments: Vec<Option<Segment>>, since: Instant) -> Result<Batch> {
        let Gate { lock, tail } = gate;
        let held = lock.acquire(since)?;
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
        embed::embed(&mut drafts, &Saved::default());
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
}
