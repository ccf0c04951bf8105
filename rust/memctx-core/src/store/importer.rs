//! Bulk import: records of many sessions, appended to the log under the store's lock, each once.

use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use super::inner::now;
use super::intake::{Intake, Outcome, Record};
use super::log::SEGMENTS;
use super::log::append_only::Log;
use super::log::directory::Directory;
use super::log::lines::Lines;
use super::log::lock::{Format, Lock};
use super::log::segment::Segment;
use super::settings::Durability;
use crate::redact::Redactor;
use crate::{Error, Result};

/// Appends records of any session to the log of a store. It knows everything the log holds, in 64 bits for each segment.
///
/// ```
/// use std::time::Duration;
/// use memctx_core::redact::{Redaction, Redactor};
/// use memctx_core::store::{Importer, Outcome, Record};
///
/// let folder = tempfile::tempdir()?;
/// let redactor = Redactor::new(Redaction::Mask, false, &[])?;
/// let mut importer = Importer::open(&folder.path().join("memory"), redactor, Duration::from_secs(5))?;
/// let said = Record { role: "user", content: "The webhook listens on port 8443", timestamp: None, metadata: None };
/// assert_eq!(importer.add(&[("s1", said), ("s1", said)])?, [Outcome::Added, Outcome::Duplicate]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Importer {
    directory: Directory,
    lock: Lock,
    intake: Intake,
    log: Option<Arc<Log>>,
    /// The offset up to which the log has been read.
    end: u64,
    known: FxHashSet<u64>,
    /// Keyed at random, so that no content can be made to look like another.
    hasher: RandomState,
}

impl Importer {
    /// Open the store of a directory, created if missing, and read its log.
    pub fn open(path: &Path, redactor: Redactor, lock_timeout: Duration) -> Result<Self> {
        let directory = Directory::open(path)?;
        Format::check_writable(&directory)?;
        let lock = Lock::new(directory.clone(), lock_timeout);
        // Makes the directory a store, though nothing may be added to it.
        drop(lock.acquire(Instant::now())?);
        let mut importer = Self {
            directory,
            lock,
            intake: Intake::new(redactor),
            log: None,
            end: 0,
            known: FxHashSet::default(),
            hasher: RandomState::new(),
        };
        importer.catch_up()?;
        Ok(importer)
    }

    /// The offset up to which the log is known.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Append the records that are new to their session, and return the outcome of each once they are on disk.
    pub fn add(&mut self, records: &[(&str, Record<'_>)]) -> Result<Vec<Outcome>> {
        let now = now();
        let segments: Vec<Option<Segment>> =
            records.iter().map(|(session, record)| self.intake.segment(session, record, now)).collect::<Result<_>>()?;
        let held = self.lock.acquire(Instant::now())?;
        self.catch_up()?;
        let log = self.writable()?;
        // An unfinished last line may be a whole record, which then counts.
        if log.close_last_line()? {
            self.catch_up()?;
        }
        let mut fresh: FxHashSet<u64> = FxHashSet::default();
        let mut lines = Vec::new();
        let outcomes = segments
            .iter()
            .map(|segment| {
                let Some(segment) = segment else { return Outcome::Noise };
                let key = self.key(segment);
                if self.known.contains(&key) || !fresh.insert(key) {
                    return Outcome::Duplicate;
                }
                segment.write_line(&mut lines);
                lines.push(b'\n');
                Outcome::Added
            })
            .collect();
        let place = if lines.is_empty() { None } else { Some(log.append(lines)?) };
        drop(held);
        // Also what another process wrote and may not have waited for: it counts as stored here.
        log.sync(place.map_or(self.end, |place| place.end))?;
        if let Some(place) = place.filter(|place| place.start == self.end) {
            self.end = place.end;
            self.known.extend(fresh);
        }
        Ok(outcomes)
    }

    /// Read what has been appended to the log since.
    fn catch_up(&mut self) -> Result<()> {
        let length = self.log.as_ref().and_then(|log| log.current_len());
        if length.is_none() {
            self.log = Log::open(&self.directory, SEGMENTS, Durability::Fsync)?.map(Arc::new);
        }
        if length.is_none_or(|length| length < self.end) {
            // Another log, or none: everything may be new to it.
            self.known.clear();
            self.end = 0;
        }
        let Some(log) = self.log.clone() else { return Ok(()) };
        let mut lines = Lines::new(log.file(), self.end, 0);
        while let Some(line) = lines.next() {
            if let Ok(segment) = line.bytes.map_err(ToOwned::to_owned).and_then(Segment::from_line) {
                let key = self.key(&segment);
                self.known.insert(key);
            }
        }
        self.end = lines.position();
        Ok(())
    }

    /// Return the log to append to, created if missing.
    fn writable(&mut self) -> Result<Arc<Log>> {
        let log = match &self.log {
            Some(log) => Arc::clone(log),
            None => Arc::new(Log::create(&self.directory, SEGMENTS, Durability::Fsync)?),
        };
        if !log.is_writable() {
            let why = "it is read-only, so nothing can be stored";
            return Err(Error::Refused { path: self.directory.path().to_owned(), why });
        }
        self.log = Some(Arc::clone(&log));
        Ok(log)
    }

    /// Return the hash that segments with the same session, role and content share.
    fn key(&self, segment: &Segment) -> u64 {
        self.hasher.hash_one((&segment.session, &segment.role, &segment.content))
    }
}
