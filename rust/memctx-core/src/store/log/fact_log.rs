//! The log of facts: every change a line, the last line of an id counts.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::append_only::Log;
use super::directory::Directory;
use super::fact::Fact;
use super::lines::{Cursor, Lines};
use super::lock::{Format, Held, Lock};
use crate::store::health::Health;
use crate::store::settings::Durability;
use crate::{Error, Result};

/// The log of facts.
pub(crate) const KNOWLEDGE: &str = "knowledge.jsonl";

/// Facts on disk, shared with other processes as segments are: read on from where reading ended.
#[derive(Debug)]
pub(crate) struct FactLog {
    directory: Directory,
    durability: Durability,
    lock: Lock,
    log: Option<Arc<Log>>,
    cursor: Cursor,
    /// The log's length when it was last read; an unfinished line may lie between the cursor and here.
    seen: u64,
    /// True if the log was deleted while memory held what it said.
    has_lost_log: bool,
    health: Health,
}

/// The states of facts appended since the log was last read.
#[derive(Debug)]
pub(crate) struct News {
    /// True if it is another log now, and what was read before counts no more.
    pub(crate) is_replaced: bool,
    /// The states of facts, in order.
    pub(crate) facts: Vec<Fact>,
}

/// Something that must be on disk before it is vouched for.
#[derive(Debug)]
pub(crate) struct Unsynced {
    log: Option<Arc<Log>>,
    end: u64,
}

impl Unsynced {
    /// Return once it is on disk.
    pub(crate) fn sync(&self) -> Result<()> {
        self.log.as_ref().map_or(Ok(()), |log| log.sync(self.end))
    }
}

impl FactLog {
    /// The log of a directory, which is made if it is missing. Nothing is read yet.
    pub(crate) fn open(path: &Path, durability: Durability, lock_timeout: Duration) -> Result<Self> {
        let directory = Directory::open(path)?;
        let format = Format::check_readable(&directory)?;
        let health = Health {
            is_read_only: format.min_writer > Format::OURS,
            network: directory.network(),
            ..Health::default()
        };
        let lock = Lock::new(directory.clone(), lock_timeout);
        let cursor = Cursor::default();
        Ok(Self { directory, durability, lock, log: None, cursor, seen: 0, has_lost_log: false, health })
    }

    /// Read the lines written since, by any process; `None` if there are none.
    pub(crate) fn news(&mut self) -> Result<Option<News>> {
        let mut is_replaced = false;
        if self.log.as_ref().is_none_or(|log| log.current_len().is_none()) {
            // If it was deleted, what was read stays known until there is another.
            let Some(log) = Log::open(&self.directory, KNOWLEDGE, self.durability)? else { return Ok(None) };
            self.health.is_read_only |= !log.is_writable();
            is_replaced = self.log.replace(Arc::new(log)).is_some();
            self.start_again(if is_replaced {
                Some("the log of facts was replaced; read again from the start")
            } else {
                None
            });
        }
        let Some(log) = self.log.clone() else { return Ok(None) };
        let length = log.current_len().unwrap_or_default();
        if length < self.cursor.offset {
            self.start_again(Some("the log of facts became shorter; read again from the start"));
            is_replaced = true;
        }
        if length == self.seen && !is_replaced {
            return Ok(None);
        }
        let mut facts = Vec::new();
        let mut lines = Lines::new(log.file(), self.cursor.offset, self.cursor.line);
        while let Some(line) = lines.next() {
            let read = match line.bytes {
                Ok(bytes) if bytes.trim_ascii().is_empty() => continue,
                Ok(bytes) => Fact::from_line(bytes),
                Err(fault) => Err(fault.to_owned()),
            };
            match read {
                Ok(fact) => facts.push(fact),
                Err(fault) => self.health.skip(line.number, line.offset, fault),
            }
        }
        self.cursor = Cursor { offset: lines.position(), line: lines.number() };
        self.seen = length.max(self.cursor.offset);
        Ok(Some(News { is_replaced, facts }))
    }

    /// Wait for the right to write, since when the caller has been waiting.
    pub(crate) fn acquire(&self, since: Instant) -> Result<Held> {
        if self.health.is_read_only {
            let why = "it is read-only, so no fact can be stored";
            return Err(Error::Refused { path: self.directory.path().to_owned(), why });
        }
        self.lock.acquire(since)
    }

    /// Close a last line that lacks its end, so that it counts before anything is added. Gives whether there was one.
    pub(crate) fn repair(&mut self, _held: &Held) -> Result<bool> {
        let repaired = self.log.as_ref().map_or(Ok(false), |log| log.close_last_line())?;
        self.health.repaired += u64::from(repaired);
        Ok(repaired)
    }

    /// Write states of facts behind all others. Gives whether they have been read with that: they have not if something
    /// lies before them.
    pub(crate) fn append(&mut self, _held: &Held, facts: &[Fact]) -> Result<bool> {
        let mut lines = Vec::new();
        for fact in facts {
            lines.extend_from_slice(&fact.to_line());
            lines.push(b'\n');
        }
        let log = self.writable()?;
        let place = log.append(lines)?;
        self.health.repaired += u64::from(place.repaired);
        let is_read = place.start == self.cursor.offset;
        if is_read {
            self.cursor = Cursor { offset: place.end, line: self.cursor.line + facts.len() as u64 };
            self.seen = place.end;
        }
        Ok(is_read)
    }

    /// The log to write to; a new one if there is none or someone deleted it.
    fn writable(&mut self) -> Result<Arc<Log>> {
        if let Some(log) = self.log.as_ref().filter(|log| log.current_len().is_some()) {
            return Ok(Arc::clone(log));
        }
        let log = Arc::new(Log::create(&self.directory, KNOWLEDGE, self.durability)?);
        let is_another = self.log.replace(Arc::clone(&log)).is_some();
        let words = "the log of facts was deleted; a new one was started; facts in memory stay searchable";
        self.start_again(is_another.then_some(words));
        self.has_lost_log |= is_another;
        Ok(log)
    }

    /// All that has been read or written so far.
    pub(crate) fn unsynced(&self) -> Unsynced {
        Unsynced { log: self.log.clone(), end: self.cursor.offset }
    }

    /// Return the health of the log.
    pub(crate) fn health(&self) -> Health {
        let is_poisoned = self.log.as_ref().is_some_and(|log| log.is_poisoned());
        self.health.clone().with_reasons(is_poisoned, self.has_lost_log)
    }

    /// Remember what a write failed with, or that one succeeded.
    pub(crate) fn note_write(&mut self, fault: Option<&Error>) {
        self.health.note_write(fault);
    }

    /// Remember what went wrong.
    pub(crate) fn note(&mut self, fault: impl Into<String>) {
        self.health.note(fault);
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Bytes and lines that have been read.
    pub(crate) fn read_so_far(&self) -> (u64, u64) {
        (self.cursor.offset, self.cursor.line)
    }

    fn start_again(&mut self, why: Option<&str>) {
        (self.cursor, self.seen) = (Cursor::default(), 0);
        (self.health.skipped, self.health.skipped_lines) = (Vec::new(), 0);
        if let Some(why) = why {
            self.health.note(why);
        }
    }
}
