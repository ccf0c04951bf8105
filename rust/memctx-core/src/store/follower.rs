//! The log follower: reads the log when a store is opened, and whenever another process has appended to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::embed;
use super::inner::{Inner, Tail, now};
use super::log::SEGMENTS;
use super::log::append_only::Log;
use super::log::lines::{Cursor, Lines};
use super::log::segment::Segment;
use super::log::vectors::{self, Saved};
use super::settings::Settings;
use super::warm::tier::{Draft, Warm, digest};
use crate::Result;
use crate::vmem::Follower;

/// Lines that are taken in at a time.
const BATCH: usize = 512;

/// The result of following the log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Followed {
    /// The number of segments read.
    pub(super) came: usize,
    /// The length of the log; `None` if there is none.
    pub(super) length: Option<u64>,
}

impl Inner {
    /// Load, and do what was left to do when the store was last open.
    pub(super) fn load(self: &Arc<Self>) {
        if let Err(fault) = self.finish_replacing() {
            self.health().note(fault.to_string());
        }
        let loaded = catch_unwind(AssertUnwindSafe(|| self.try_load()));
        match loaded {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => self.health().note(fault.to_string()),
            Err(_) => self.health().note("internal error while loading; please report it"),
        }
        self.be_ready();
        let is_due = self.is_tidying_due(&self.gate().tail);
        if is_due && !self.is_closed() {
            self.tidy(false);
        }
        self.begin_embedding();
        #[cfg(feature = "disk-index")]
        self.wake_older();
    }

    fn try_load(&self) -> Result<()> {
        let mut gate = self.gate();
        gate.tail.log = Log::open(&self.directory, SEGMENTS, self.settings.durability)?.map(Arc::new);
        let Some(log) = gate.tail.log.clone() else { return Ok(()) };
        if !log.is_writable() {
            self.health().is_read_only = true;
        }
        let saved = self.load_tier(&mut gate.tail, &log);
        gate.tail.is_unsure = self.index().wanting().next().is_some() || !self.has_own_vectors();
        self.follow(&mut gate.tail, &saved)?;
        let Settings { max_segments, eviction_days, .. } = self.settings;
        self.index_mut().evict(max_segments, eviction_days, now());
        Ok(())
    }

    /// Begin with the snapshot if it is good, else with nothing but the vectors on disk.
    fn load_tier(&self, tail: &mut Tail, log: &Log) -> Saved {
        let model = (self.model().dim(), self.model().own_weight());
        let folder = self.directory.derived().map_err(|_| "it is behind a symbolic link");
        let vectors = || vectors::open_of(&self.directory, self.model().stamp(), Follower::open);
        match folder.and_then(|folder| Warm::load(&folder, &self.terms, model, log.file(), vectors)) {
            Ok((warm, found, vectors)) => {
                tail.vectors = vectors;
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
                health.snapshot = format!("{fault}; rebuilt from the log");
                health.vectors = words;
                saved
            }
        }
    }

    /// Take in what was written here and what others have written.
    pub(super) fn catch_up(&self, tail: &mut Tail) -> Result<Followed> {
        self.settle(tail)?;
        self.follow(tail, &Saved::default())
    }

    /// Read what the log holds beyond what has been read.
    pub(super) fn follow(&self, tail: &mut Tail, saved: &Saved) -> Result<Followed> {
        let length = tail.log.as_ref().and_then(|log| log.current_len());
        if tail.log.is_some() && length.is_none() {
            // Deleted or replaced. What is in memory stays until there is another log to read.
            match Log::open(&self.directory, SEGMENTS, self.settings.durability)? {
                Some(log) => {
                    tail.log = Some(Arc::new(log));
                    tail.vectors = None;
                    *self.index_mut() = Warm::new(self.model().dim(), self.model().own_weight())?;
                    self.health().note("the log was replaced; read again from the start");
                }
                None => return Ok(Followed::default()),
            }
        }
        if tail.log.is_none() {
            tail.log = Log::open(&self.directory, SEGMENTS, self.settings.durability)?.map(Arc::new);
        }
        let Some(log) = tail.log.clone() else { return Ok(Followed::default()) };
        let known = length.or_else(|| log.current_len());
        let length = known.unwrap_or_default();
        let mut cursor = self.index().cursor;
        if length < cursor.offset {
            tail.vectors = None;
            *self.index_mut() = Warm::new(self.model().dim(), self.model().own_weight())?;
            self.health().note("the log became shorter; read again from the start");
            cursor = Cursor::default();
        }
        if length == cursor.offset {
            return Ok(Followed { came: 0, length: known });
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
                return Ok(Followed { came, length: known });
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
}
