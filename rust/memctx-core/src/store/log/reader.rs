//! The log reader: everything ever archived, read from disk and not kept in memory.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::SEGMENTS;
use super::checksum::{self, Checksum};
use super::directory::Directory;
use super::lines::{Lines, tail};
use super::segment::Segment;
use crate::file::read_exact_at;
use crate::store::health::Health;
use crate::store::search_filter::SearchFilter;
use crate::{Error, Result};

/// Bytes read at a time when looking for the last line.
const CHUNK: usize = 16 * 1024;

/// Reads all segments of a directory, whatever is in memory. It takes no lock and writes nothing.
#[derive(Debug)]
pub struct LogReader {
    directory: Directory,
}

impl SearchFilter {
    /// Return the segment of a line if it is wanted.
    fn read(&self, line: &[u8]) -> Option<Segment> {
        if !self.may_admit(line) {
            return None;
        }
        Segment::from_line(line).ok().filter(|segment| self.admits(segment))
    }

    /// Return whether it is worth reading a line: one that says it is of another session is not.
    fn may_admit(&self, line: &[u8]) -> bool {
        let Some(wanted) = &self.session else { return true };
        quick_key(line).is_none_or(|(_, session)| session == wanted.as_bytes())
    }
}

impl LogReader {
    /// The store of a directory that exists.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { directory: Directory::existing(path)? })
    }

    /// Return the wanted segments in the order of the log, those whose content holds `contains` if that is given. An id
    /// that was written more than once comes once, as last written.
    pub fn scan(&self, filter: SearchFilter, contains: Option<String>) -> Result<Scan> {
        Ok(Scan { contains, ..Scan::of(&self.directory, filter)? })
    }

    /// At most `limit` wanted segments whose lines begin at or after a place, and the place to go on from. A line without
    /// its end is left for later; an id that was written more than once comes as often.
    pub fn read_from(&self, offset: u64, filter: &SearchFilter, limit: usize) -> Result<(Vec<Segment>, u64)> {
        let mut found = Vec::new();
        let Some(file) = self.directory.read(SEGMENTS)?.map(Arc::new) else { return Ok((found, offset)) };
        let mut lines = Lines::new(&file, offset.saturating_sub(1), 0);
        if limit == 0 || offset > 0 && lines.next().is_none() {
            // The line that the offset is in has no end yet, or there is no such offset.
            return Ok((found, offset));
        }
        while found.len() < limit
            && let Some(line) = lines.next()
        {
            found.extend(line.bytes.ok().and_then(|bytes| filter.read(bytes)));
        }
        Ok((found, lines.position()))
    }

    /// Return the offset at which the last whole line ends.
    pub fn end(&self) -> Result<u64> {
        let Some(file) = self.directory.log()? else { return Ok(0) };
        let read = || -> io::Result<u64> {
            let mut end = file.metadata()?.len();
            let mut chunk = [0; CHUNK];
            while end > 0 {
                let some = &mut chunk[..end.min(CHUNK as u64) as usize];
                let start = end - some.len() as u64;
                read_exact_at(&file, some, start)?;
                if let Some(found) = memchr::memrchr(b'\n', some) {
                    return Ok(start + found as u64 + 1);
                }
                end = start;
            }
            Ok(0)
        };
        read().map_err(Error::io(&self.directory.file(SEGMENTS)))
    }

    /// Return a checksum of the bytes before an offset, which tells whether the log has been replaced; `None` if the log
    /// is shorter.
    pub fn mark(&self, offset: u64) -> Result<Option<u32>> {
        let path = self.directory.file(SEGMENTS);
        let Some(file) = self.directory.log()? else { return Ok((offset == 0).then_some(0)) };
        if file.metadata().map_err(Error::io(&path))?.len() < offset {
            return Ok(None);
        }
        tail(&file, offset).map(Some).map_err(Error::io(&path))
    }

    /// Return the offset behind the first wanted segment of an id.
    pub fn offset_after(&self, id: &str, filter: &SearchFilter) -> Result<Option<u64>> {
        let mut after = None;
        self.visit(filter, |segment, end| {
            after = (segment.id == id).then_some(end);
            after.is_none()
        })?;
        Ok(after)
    }

    /// Return the id of the last wanted segment that lies before an offset.
    pub fn last_before(&self, offset: u64, filter: &SearchFilter) -> Result<Option<String>> {
        let mut last = None;
        self.visit(filter, |segment, end| {
            let is_before = end <= offset;
            if is_before {
                last = Some(segment.id);
            }
            is_before
        })?;
        Ok(last)
    }

    /// Call `visit` with each wanted segment and the offset behind it, until that returns false.
    fn visit(&self, filter: &SearchFilter, mut visit: impl FnMut(Segment, u64) -> bool) -> Result<()> {
        let Some(file) = self.directory.log()?.map(Arc::new) else { return Ok(()) };
        let mut lines = Lines::new(&file, 0, 0);
        while let Some(line) = lines.next() {
            let end = line.offset + line.length + 1;
            if let Some(segment) = line.bytes.ok().and_then(|bytes| filter.read(bytes))
                && !visit(segment, end)
            {
                break;
            }
        }
        Ok(())
    }

    /// Return the lines that a reader skips.
    pub fn health(&self) -> Result<Health> {
        let mut scan = self.scan(SearchFilter::default(), None)?;
        while scan.next().is_some() {}
        Ok(scan.health)
    }
}

/// Gives segments one by one.
#[derive(Debug)]
pub struct Scan {
    lines: Option<Lines>,
    filter: SearchFilter,
    contains: Option<String>,
    /// The offset of the last line of each id that occurs more than once in its session, by a hash of both.
    last: FxHashMap<u64, u64>,
    /// The offset at which the scan ends: lines appended later are left for the next scan.
    end: u64,
    health: Health,
}

impl Scan {
    pub(crate) fn of(directory: &Directory, filter: SearchFilter) -> Result<Self> {
        let file = directory.read(SEGMENTS)?.map(Arc::new);
        let (last, end) = file.as_ref().map(repeated).unwrap_or_default();
        let lines = file.map(|file| Lines::new(&file, 0, 0));
        Ok(Self { lines, filter, contains: None, last, end, health: Health::default() })
    }

    fn admits(&self, segment: &Segment) -> bool {
        let holds = |text: &String| memchr::memmem::find(segment.content.as_bytes(), text.as_bytes()).is_some();
        self.contains.as_ref().is_none_or(holds) && self.filter.admits(segment)
    }

    /// Return the lines skipped so far.
    #[must_use]
    pub fn health(&self) -> &Health {
        &self.health
    }
}

impl Iterator for Scan {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        loop {
            let line = self.lines.as_mut()?.next().filter(|line| line.offset < self.end)?;
            let read = match line.bytes {
                Ok(bytes) if bytes.trim_ascii().is_empty() => continue,
                Ok(bytes) => Segment::from_line(bytes),
                Err(fault) => Err(fault.to_owned()),
            };
            match read {
                Ok(segment) => {
                    let key = hash(segment.id.as_bytes(), segment.session.as_bytes());
                    let is_last = self.last.get(&key).is_none_or(|&last| last == line.offset);
                    if is_last && self.admits(&segment) {
                        return Some(segment);
                    }
                }
                Err(fault) => self.health.skip(line.number, line.offset, fault),
            }
        }
    }
}

/// The ids that occur more than once in a session, with the place of their last line, and the end of the last line.
fn repeated(file: &Arc<File>) -> (FxHashMap<u64, u64>, u64) {
    let mut seen: FxHashSet<u64> = FxHashSet::default();
    let mut last = FxHashMap::default();
    let mut lines = Lines::new(file, 0, 0);
    while let Some(line) = lines.next() {
        let Ok(bytes) = line.bytes else { continue };
        let key = match quick_key(bytes) {
            Some((id, session)) if checksum::check(bytes) == Checksum::Holds => hash(id, session),
            _ => match Segment::from_line(bytes) {
                Ok(segment) => hash(segment.id.as_bytes(), segment.session.as_bytes()),
                Err(_) => continue,
            },
        };
        if !seen.insert(key) {
            last.insert(key, line.offset);
        }
    }
    (last, lines.position())
}

/// The id and the session of a line in the usual form.
fn quick_key(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (id, rest) = quick_text(line.strip_prefix(b"{\"id\":\"")?)?;
    let (session, _) = quick_text(rest.strip_prefix(b",\"sessionId\":\"")?)?;
    Some((id, session))
}

/// A text without escapes, and what follows its closing quote.
fn quick_text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr2(b'"', b'\\', bytes)?;
    (bytes[end] == b'"').then(|| (&bytes[..end], &bytes[end + 1..]))
}

fn hash(id: &[u8], session: &[u8]) -> u64 {
    use std::hash::BuildHasher as _;
    FxBuildHasher.hash_one((id, session))
}
