//! Reading a file in one pass, however it may be damaged.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crc32fast::Hasher;

use super::header::{HEADER_BYTES, Header};
use super::trailer::{self, TRAILER_BYTES, Trailer};
use crate::{Error, Result};

/// Bytes read at a time: enough to make system calls cheap, few enough to stay in the cache.
const CHUNK: usize = 256 * 1024;

/// Whether a file carries a checksum and whether it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// It does and it does.
    Valid,
    /// It carries none.
    Absent,
    /// The entries are not those the checksum was made of.
    Wrong,
}

/// What was found in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Length of the vectors.
    pub dim: usize,
    /// Entries promised by the checksum or, without one, by the header.
    pub declared: usize,
    /// Entries that are there in full.
    pub complete: usize,
    /// Complete entries that are skipped: the id is not UTF-8 or a value is not finite.
    pub unreadable: usize,
    /// Bytes behind the last complete entry that belong to nothing.
    pub trailing_bytes: u64,
    /// Whether a checksum holds.
    pub checksum: Checksum,
}

impl Report {
    /// Whether every promised entry is there, readable, and no checksum contradicts it.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.complete == self.declared && self.unreadable == 0 && self.checksum != Checksum::Wrong
    }
}

/// The contents of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Vectors {
    /// The ids, in the order of the file. One may occur twice; the last counts.
    pub ids: Vec<String>,
    /// One vector for each id, one behind the other.
    pub values: Vec<f32>,
    /// How the file was found.
    pub report: Report,
}

/// Read a file. One that was cut short gives its complete entries; the report says what is missing.
///
/// A wrong magic number, an unknown version and a checksum that does not hold are errors.
pub fn read(path: &Path) -> Result<Vectors> {
    let mut source = Source::open(path)?;
    let rows = source.most_entries();
    let mut ids = Vec::with_capacity(rows);
    let mut values = Vec::with_capacity(rows * source.header.dim as usize);
    let report = source.walk(|id, vector| {
        let before = values.len();
        values.extend(vector.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        let is_readable = is_finite(&values[before..]);
        match std::str::from_utf8(id) {
            Ok(id) if is_readable => ids.push(id.to_owned()),
            _ => {
                values.truncate(before);
                return false;
            }
        }
        true
    })?;
    if report.checksum == Checksum::Wrong {
        let offset = source.file_bytes - TRAILER_BYTES as u64;
        return Err(Error::corrupt(path, offset, "the checksum is not that of the entries before it"));
    }
    Ok(Vectors { ids, values, report })
}

/// Check a file without keeping its contents.
pub fn verify(path: &Path) -> Result<Report> {
    let mut values: Vec<f32> = Vec::new();
    Source::open(path)?.walk(|id, vector| {
        values.clear();
        values.extend(vector.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
        std::str::from_utf8(id).is_ok() && is_finite(&values)
    })
}

/// Without a branch for each value, which lets the compiler use vector registers.
fn is_finite(values: &[f32]) -> bool {
    values.iter().fold(true, |all, value| all & value.is_finite())
}

/// An open file of which the header has been read.
pub(super) struct Source<'a> {
    path: &'a Path,
    reader: BufReader<File>,
    pub(super) header: Header,
    pub(super) trailer: Option<Trailer>,
    file_bytes: u64,
    checksum: Hasher,
}

impl<'a> Source<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let mut file = File::open(path).map_err(Error::io(path))?;
        let file_bytes = file.metadata().map_err(Error::io(path))?.len();
        if file_bytes < HEADER_BYTES as u64 {
            let fault = format!("{file_bytes} bytes are no header, which has {HEADER_BYTES}");
            return Err(Error::corrupt(path, 0, fault));
        }
        let mut bytes = [0; HEADER_BYTES];
        file.read_exact(&mut bytes).map_err(Error::io(path))?;
        let header = Header::parse(&bytes, path)?;
        let trailer = find_trailer(&mut file, file_bytes).map_err(Error::io(path))?;
        file.seek(SeekFrom::Start(HEADER_BYTES as u64)).map_err(Error::io(path))?;
        let reader = BufReader::with_capacity(CHUNK, file);
        Ok(Self { path, reader, header, trailer, file_bytes, checksum: trailer::checksum(header) })
    }

    fn declared(&self) -> usize {
        self.trailer.map_or(self.header.count, |trailer| trailer.count) as usize
    }

    /// No more entries than this can follow, whatever the header says.
    fn most_entries(&self) -> usize {
        let room = (self.file_bytes - HEADER_BYTES as u64) / (2 + self.header.row_bytes() as u64);
        self.declared().min(room as usize)
    }

    /// Pass every complete entry, as id and vector bytes, to `keep`, which says whether it could read it.
    pub(super) fn walk(&mut self, mut keep: impl FnMut(&[u8], &[u8]) -> bool) -> Result<Report> {
        let end = self.file_bytes - self.trailer.map_or(0, |_| TRAILER_BYTES as u64);
        let mut at = HEADER_BYTES as u64;
        let (mut complete, mut unreadable) = (0, 0);
        let mut entry = Vec::new();
        while complete < self.declared() {
            let Some(id_bytes) = self.read_entry(&mut entry, end - at).map_err(Error::io(self.path))? else { break };
            let (id, vector) = entry[2..].split_at(id_bytes);
            unreadable += usize::from(!keep(id, vector));
            at += entry.len() as u64;
            complete += 1;
        }
        let mut report = Report {
            dim: self.header.dim as usize,
            declared: self.declared(),
            complete,
            unreadable,
            trailing_bytes: end - at,
            checksum: Checksum::Absent,
        };
        if let Some(trailer) = self.trailer {
            let is_whole = complete == report.declared && at - HEADER_BYTES as u64 == trailer.body_bytes;
            let is_valid = is_whole && self.checksum.clone().finalize() == trailer.crc;
            report.checksum = if is_valid { Checksum::Valid } else { Checksum::Wrong };
        }
        Ok(report)
    }

    /// Read one entry, if `left` bytes hold one in full, and give the length of its id.
    fn read_entry(&mut self, entry: &mut Vec<u8>, left: u64) -> io::Result<Option<usize>> {
        if left < 2 {
            return Ok(None);
        }
        entry.resize(2, 0);
        self.reader.read_exact(&mut entry[..2])?;
        let id_bytes = usize::from(u16::from_le_bytes([entry[0], entry[1]]));
        let total = 2 + id_bytes + self.header.row_bytes();
        if left < total as u64 {
            return Ok(None);
        }
        entry.resize(total, 0);
        self.reader.read_exact(&mut entry[2..])?;
        if self.trailer.is_some() {
            self.checksum.update(entry);
        }
        Ok(Some(id_bytes))
    }
}

fn find_trailer(file: &mut File, file_bytes: u64) -> io::Result<Option<Trailer>> {
    if file_bytes < (HEADER_BYTES + TRAILER_BYTES) as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::End(-(TRAILER_BYTES as i64)))?;
    let mut bytes = [0; TRAILER_BYTES];
    file.read_exact(&mut bytes)?;
    Ok(Trailer::parse(&bytes))
}
