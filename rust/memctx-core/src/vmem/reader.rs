//! Reader of a whole file, robust against damage.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use super::header::{HEADER_BYTES, Header};
use super::trailer::{self, TRAILER_BYTES, Trailer};
use crate::file::{open_regular, read_exact_at};
use crate::{Error, Result};

/// Bytes read at a time: enough to make system calls cheap, few enough to stay in the cache.
const CHUNK: usize = 64 * 1024;

/// State of a file's checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// It does and it does.
    Valid,
    /// It carries none.
    Absent,
    /// The entries are not those the checksum was made of.
    Wrong,
}

/// Report on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Return the length of the vectors.
    pub dim: usize,
    /// Entries promised by the checksum or, without one, by the header.
    pub declared: usize,
    /// Entries that are there in full.
    pub complete: usize,
    /// Complete entries that are skipped: the id is not UTF-8 or a value is not finite.
    pub unreadable: usize,
    /// Bytes behind the last complete entry that belong to nothing.
    pub trailing_bytes: u64,
    /// State of the checksum.
    pub checksum: Checksum,
}

impl Report {
    /// Return whether every promised entry is there, readable, and no checksum contradicts it.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.complete == self.declared && self.unreadable == 0 && self.checksum != Checksum::Wrong
    }
}

/// The contents of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Vectors {
    /// The ids, in the order of the file. One may occur twice; the last counts.
    pub ids: Ids,
    /// One vector for each id, one behind the other.
    pub values: Vec<f32>,
    /// Report on the file.
    pub report: Report,
}

/// Many ids in two allocations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    joined: String,
    ends: Vec<usize>,
}

impl Ids {
    fn with_capacity(count: usize) -> Self {
        const UUID: usize = 36;
        Self { joined: String::with_capacity(count * UUID), ends: Vec::with_capacity(count) }
    }

    fn push(&mut self, id: &str) {
        self.joined.push_str(id);
        self.ends.push(self.joined.len());
    }

    /// Return the number of ids.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Return whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Return each id in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.joined[std::mem::replace(&mut start, end)..end])
    }
}

/// Read a file. One that was cut short gives its complete entries; the report says what is missing.
///
/// A wrong magic number, an unknown version and a checksum that does not hold are errors.
pub fn read(path: &Path) -> Result<Vectors> {
    let mut source = Source::open(path)?;
    let rows = source.most_entries();
    let mut ids = Ids::with_capacity(rows);
    let mut values = Vec::with_capacity(rows * source.header.dim as usize);
    let report = source.walk(|id, vector| {
        let row = values.len();
        values.extend(vector.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)));
        let id = std::str::from_utf8(id).ok().filter(|_| is_finite(&values[row..]));
        match id {
            Some(id) => ids.push(id),
            None => values.truncate(row),
        }
        id.is_some()
    })?;
    if report.checksum == Checksum::Wrong {
        let offset = source.file_bytes - TRAILER_BYTES as u64;
        return Err(Error::corrupt(path, offset, "the checksum is not that of the entries before it"));
    }
    Ok(Vectors { ids, values, report })
}

/// Check a file without keeping its contents.
pub fn verify(path: &Path) -> Result<Report> {
    let mut values = Vec::new();
    Source::open(path)?.walk(|id, vector| {
        values.clear();
        values.extend(vector.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)));
        std::str::from_utf8(id).is_ok() && is_finite(&values)
    })
}

/// Header of a file and its seal, without its entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    /// Return the length of the vectors.
    pub(crate) dim: usize,
    /// Entries it says it has, as far as there is room for them.
    pub(crate) entries: usize,
    /// True if it ends in a complete checksum for a file of this length.
    pub(crate) is_sealed: bool,
}

/// Read the header and the checksum at the end. Whether the checksum holds is for [`verify`] to say.
pub(crate) fn outline(path: &Path) -> Result<Outline> {
    let source = Source::open(path)?;
    let body_bytes = source.file_bytes.saturating_sub((HEADER_BYTES + TRAILER_BYTES) as u64);
    let is_sealed = source.trailer.is_some_and(|trailer| trailer.body_bytes == body_bytes);
    Ok(Outline { dim: source.header.dim as usize, entries: source.most_entries(), is_sealed })
}

/// Return whether no value is NaN or infinite. Times zero such a value gives NaN and every other gives zero, and adding
/// these up needs no branch.
pub(super) fn is_finite(values: &[f32]) -> bool {
    const LANES: usize = 16;
    let (lanes, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for lane in lanes {
        for (sum, value) in sums.iter_mut().zip(lane) {
            *sum += value * 0.0;
        }
    }
    sums.iter().chain(rest).all(|value| value.is_finite())
}

/// An open file of which the header has been read.
pub(super) struct Source<'a> {
    path: &'a Path,
    file: File,
    pub(super) header: Header,
    pub(super) trailer: Option<Trailer>,
    file_bytes: u64,
}

impl<'a> Source<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let mut file = open_regular(OpenOptions::new().read(true), path).map_err(Error::io(path))?;
        let file_bytes = file.metadata().map_err(Error::io(path))?.len();
        if file_bytes < HEADER_BYTES as u64 {
            let fault = format!("{file_bytes} bytes are no header, which has {HEADER_BYTES}");
            return Err(Error::corrupt(path, 0, fault));
        }
        let mut bytes = [0; HEADER_BYTES];
        file.read_exact(&mut bytes).map_err(Error::io(path))?;
        let header = Header::parse(&bytes, path)?;
        let trailer = find_trailer(&file, file_bytes).map_err(Error::io(path))?;
        file.seek(SeekFrom::Start(HEADER_BYTES as u64)).map_err(Error::io(path))?;
        Ok(Self { path, file, header, trailer, file_bytes })
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
        let mut window = Window::new(&self.file, end - HEADER_BYTES as u64);
        let mut checksum = trailer::checksum(self.header);
        let (mut complete, mut unreadable, mut body_bytes) = (0, 0, 0);
        while complete < self.declared() {
            let entry = window.entry(self.header.row_bytes()).map_err(Error::io(self.path))?;
            let Some((entry, id_bytes)) = entry else { break };
            let (id, vector) = entry[2..].split_at(id_bytes);
            unreadable += usize::from(!keep(id, vector));
            if self.trailer.is_some() {
                checksum.update(entry);
            }
            body_bytes += entry.len() as u64;
            complete += 1;
        }
        let is_whole = |trailer: Trailer| complete == self.declared() && body_bytes == trailer.body_bytes;
        let checksum = match self.trailer {
            None => Checksum::Absent,
            Some(trailer) if is_whole(trailer) && checksum.finalize() == trailer.crc => Checksum::Valid,
            Some(_) => Checksum::Wrong,
        };
        Ok(Report {
            dim: self.header.dim as usize,
            declared: self.declared(),
            complete,
            unreadable,
            trailing_bytes: end - HEADER_BYTES as u64 - body_bytes,
            checksum,
        })
    }
}

/// A stretch of the file in memory that moves along it.
struct Window<'a> {
    file: &'a File,
    /// Bytes of the file not yet in memory.
    left: u64,
    bytes: Vec<u8>,
    /// Range of `bytes` that has been read from the file and not yet passed on.
    held: Range<usize>,
}

impl<'a> Window<'a> {
    fn new(file: &'a File, left: u64) -> Self {
        Self { file, left, bytes: vec![0; CHUNK], held: 0..0 }
    }

    /// Return the next entry with the length of its id, unless the file ends before it does.
    fn entry(&mut self, row_bytes: usize) -> io::Result<Option<(&[u8], usize)>> {
        if !self.reach(2)? {
            return Ok(None);
        }
        let at = self.held.start;
        let id_bytes = usize::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]));
        let length = 2 + id_bytes + row_bytes;
        if !self.reach(length)? {
            return Ok(None);
        }
        self.held.start += length;
        Ok(Some((&self.bytes[self.held.start - length..self.held.start], id_bytes)))
    }

    /// Bring the next `length` bytes into memory; false if there are fewer.
    fn reach(&mut self, length: usize) -> io::Result<bool> {
        let here = self.held.len();
        if here >= length {
            return Ok(true);
        }
        if ((length - here) as u64) > self.left {
            return Ok(false);
        }
        self.bytes.copy_within(self.held.clone(), 0);
        if self.bytes.len() < length {
            self.bytes.resize(length, 0);
        }
        let end = self.bytes.len().min(here + usize::try_from(self.left).unwrap_or(usize::MAX - here));
        self.file.read_exact(&mut self.bytes[here..end])?;
        self.left -= (end - here) as u64;
        self.held = 0..end;
        Ok(true)
    }
}

pub(super) fn find_trailer(file: &File, file_bytes: u64) -> io::Result<Option<Trailer>> {
    if file_bytes < (HEADER_BYTES + TRAILER_BYTES) as u64 {
        return Ok(None);
    }
    let mut bytes = [0; TRAILER_BYTES];
    read_exact_at(file, &mut bytes, file_bytes - TRAILER_BYTES as u64)?;
    Ok(Trailer::parse(&bytes))
}
