//! The lines of a file that may be large, damaged, or growing.

use std::fs::File;
use std::io;
use std::sync::Arc;

use memchr::memchr;

use crate::file::{read_at, read_exact_at};

/// Bytes read at a time.
const CHUNK: usize = 256 * 1024;
/// Bytes skipped where the disk cannot be read.
const UNREADABLE: u64 = 64 * 1024;
/// The longest line that is looked at.
pub(crate) const LONGEST: usize = 256 << 20;

/// Bytes before an offset of the log that identify it.
const TAIL: u64 = 4096;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A position up to which the log has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) offset: u64,
    /// Lines before it.
    pub(crate) line: u64,
}

/// Reads a file from front to back, holding one line at a time. Only a line feed ends a line.
#[derive(Debug)]
pub(crate) struct Lines {
    file: Arc<File>,
    buffer: Vec<u8>,
    /// The file offset of the buffer.
    base: u64,
    /// The start of the next line in the buffer, and how much of it has been searched for its end.
    start: usize,
    searched: usize,
    filled: usize,
    number: u64,
    /// In the midst of a line that is passed over.
    passing: Option<&'static str>,
    is_over: bool,
}

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The offset of the line.
    pub(crate) offset: u64,
    /// The line number, from 1.
    pub(crate) number: u64,
    /// Its length without the line feed.
    pub(crate) length: u64,
    /// Its bytes without the end, or why they were passed over.
    pub(crate) bytes: Result<&'a [u8], &'static str>,
}

impl Lines {
    /// Read on from a place at the beginning of a line; `number` lines lie before it.
    pub(crate) fn new(file: &Arc<File>, offset: u64, number: u64) -> Self {
        Self {
            file: Arc::clone(file),
            buffer: Vec::new(),
            base: offset,
            start: 0,
            searched: 0,
            filled: 0,
            number,
            passing: None,
            is_over: false,
        }
    }

    /// The next line that is complete; none at the end of the file.
    pub(crate) fn next(&mut self) -> Option<Line<'_>> {
        let offset = self.position();
        let end = loop {
            let unsearched = &self.buffer[self.searched..self.filled];
            if let Some(found) = memchr(b'\n', unsearched) {
                break self.searched + found;
            }
            self.searched = self.filled;
            if self.searched - self.start > LONGEST {
                self.pass_over("longer than 256 MiB");
            }
            if self.is_over || !self.fill() {
                return None;
            }
        };
        self.number += 1;
        let length = self.base + end as u64 - offset;
        let line = self.start..end;
        self.start = end + 1;
        self.searched = self.start;
        let bytes = match self.passing.take() {
            Some(fault) => Err(fault),
            None => Ok(trim(&self.buffer[line], offset)),
        };
        Some(Line { offset, number: self.number, length, bytes })
    }

    /// Return the offset of the next line; after the last, of an unfinished one.
    pub(crate) fn position(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Lines before that place.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Read more; false at the end of the file.
    fn fill(&mut self) -> bool {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.base += self.start as u64;
            self.filled -= self.start;
            self.searched -= self.start;
            self.start = 0;
        }
        if self.filled == self.buffer.len() {
            self.buffer.resize((self.buffer.len() * 2).max(CHUNK), 0);
        }
        let at = self.base + self.filled as u64;
        // A fault may pass; what cannot be read twice is taken for lost.
        let read = self.read(at).or_else(|_| self.read(at));
        match read {
            Ok(0) => self.is_over = true,
            Ok(bytes) => self.filled += bytes,
            Err(_) if self.file.metadata().is_ok_and(|found| found.len() > at) => {
                self.pass_over("the disk cannot be read here");
                self.base = (at / UNREADABLE + 1) * UNREADABLE;
            }
            Err(_) => self.is_over = true,
        }
        !self.is_over
    }

    fn read(&mut self, at: u64) -> io::Result<usize> {
        loop {
            match read_at(&self.file, &mut self.buffer[self.filled..], at) {
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }

    fn pass_over(&mut self, fault: &'static str) {
        self.base += self.filled as u64;
        (self.start, self.searched, self.filled) = (0, 0, 0);
        self.buffer.truncate(CHUNK);
        self.passing = Some(fault);
    }
}

/// Without what some editors put before a file and at the end of a line.
pub(crate) fn trim(line: &[u8], offset: u64) -> &[u8] {
    let line = if offset == 0 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Return the checksum of the bytes before an offset, which tells whether the log has been replaced.
pub(crate) fn tail(log: &File, offset: u64) -> io::Result<u32> {
    let length = offset.min(TAIL);
    let mut bytes = vec![0; length as usize];
    read_exact_at(log, &mut bytes, offset - length)?;
    Ok(crc32fast::hash(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write as _;

    fn file_of(bytes: &[u8]) -> Arc<File> {
        let mut file = tempfile::tempfile().expect("room");
        file.write_all(bytes).expect("room");
        Arc::new(file)
    }

    #[test]
    fn marks_of_editors_are_no_part_of_a_line() {
        let file = file_of(b"\xEF\xBB\xBFfirst\r\n\r\nsecond\xE2\x80\xA8still\x1C\nunfinished");
        let mut lines = Lines::new(&file, 0, 0);
        let mut read = Vec::new();
        while let Some(line) = lines.next() {
            read.push((line.number, line.bytes.expect("readable").to_vec()));
        }
        assert_eq!(read, [(1, b"first".to_vec()), (2, vec![]), (3, b"second\xE2\x80\xA8still\x1C".to_vec())]);
        assert_eq!(lines.position(), 28);
    }

    proptest! {
        #[test]
        fn lines_are_those_of_a_split(text in "[ab\n]{0,60}", from in 0..4_usize, size in 0..400_000_usize) {
            let text = format!("{}{text}", "x".repeat(size));
            let file = file_of(text.as_bytes());
            let start = text.match_indices('\n').nth(from).map_or(0, |(at, _)| at + 1);
            let mut lines = Lines::new(&file, start as u64, 7);
            let mut offset = start;
            for (number, wanted) in (8..).zip(text[start..].split_inclusive('\n')) {
                let Some(wanted_line) = wanted.strip_suffix('\n') else { break };
                let line = lines.next().expect("a line");
                prop_assert_eq!(line, Line {
                    offset: offset as u64,
                    number,
                    length: wanted_line.len() as u64,
                    bytes: Ok(wanted_line.as_bytes()),
                });
                offset += wanted.len();
            }
            prop_assert_eq!(lines.next(), None);
            prop_assert_eq!(lines.position(), offset as u64);
        }
    }
}
