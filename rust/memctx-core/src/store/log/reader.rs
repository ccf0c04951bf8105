//! The log reader: everything ever archived, read from disk and not kept in memory.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::SEGMENTS;
use super::checksum::{self, Checksum};
use super::directory::Directory;
use super::kind::LogKind;
use super::lines::{Lines, tail};
use super::segment::Segment;
use crate::file::read_exact_at;
use crate::store::health::Health;
use crate::store::search_filter::SearchFilter;
use crate::{Error, Result};

/// Bytes read at a time when looking for the last line.
const CHUNK: usize = 16 * 1024;
/// Bytes of lines after which a page of them ends.
const PAGE_BYTES: usize = 4 << 20;

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
        Directory::existing(path).map(Self::of)
    }

    pub(crate) fn of(directory: Directory) -> Self {
        Self { directory }
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
        let lines = self.lines_from(offset, LogKind::Segments)?.filter(|_| limit > 0);
        let Some(mut lines) = lines else { return Ok((found, offset)) };
        while found.len() < limit
            && let Some(line) = lines.next()
        {
            found.extend(line.bytes.ok().and_then(|bytes| filter.read(bytes)));
        }
        Ok((found, lines.position()))
    }

    /// Return at most `limit` readable lines of a log that begin at or after a place, each with the offset behind it and
    /// its text without the end, and the place to go on from. Damaged lines are passed over, and a line without its end
    /// is left for later. A page ends after about 4 MiB; it is empty only if there is nothing more to read.
    pub fn read_lines(&self, offset: u64, log: LogKind, limit: usize) -> Result<(Vec<(u64, String)>, u64)> {
        let mut found = Vec::new();
        let Some(mut lines) = self.lines_from(offset, log)?.filter(|_| limit > 0) else { return Ok((found, offset)) };
        let mut bytes = 0;
        while found.len() < limit
            && bytes < PAGE_BYTES
            && let Some(line) = lines.next()
        {
            let end = line.offset + line.length + 1;
            let is_readable = |line: &&[u8]| log.check(line).is_ok();
            if let Some(text) = line.bytes.ok().filter(is_readable).and_then(|line| std::str::from_utf8(line).ok()) {
                bytes += text.len();
                found.push((end, text.to_owned()));
            }
        }
        Ok((found, lines.position()))
    }

    /// Return the lines of a log that begin at or after a place; `None` if the line that it is in has no end yet, or
    /// there is no such place.
    fn lines_from(&self, offset: u64, log: LogKind) -> Result<Option<Lines>> {
        let Some(file) = self.directory.read(log.file())?.map(Arc::new) else { return Ok(None) };
        let mut lines = Lines::new(&file, offset.saturating_sub(1), 0);
        let is_there = offset == 0 || lines.next().is_some();
        Ok(is_there.then_some(lines))
    }

    /// Return the offset at which the last whole line of a log ends.
    pub fn end(&self, log: LogKind) -> Result<u64> {
        let Some(file) = self.directory.read(log.file())? else { return Ok(0) };
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
        read().map_err(Error::io(&self.directory.file(log.file())))
    }

    /// Return a checksum of the bytes before an offset of a log, which tells whether it has been replaced; `None` if the
    /// log is shorter.
    pub fn mark(&self, offset: u64, log: LogKind) -> Result<Option<u32>> {
        let path = self.directory.file(log.file());
        let Some(file) = self.directory.read(log.file())? else { return Ok((offset == 0).then_some(0)) };
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
