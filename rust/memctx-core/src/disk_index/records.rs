//! File of records that are read one at a time.
//!
//! Most records are never read, so they are not held in memory, and instead of one checksum of all each has its own.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::column::{ColumnWriter, Sum};
use crate::file::{open_private, read_exact_at};
use crate::{Error, Result};

/// Bytes of the checksum behind a record.
const CHECKSUM: usize = size_of::<u32>();

/// Adds records. There must be only one.
#[derive(Debug)]
pub(super) struct RecordWriter(ColumnWriter<u8>);

impl RecordWriter {
    /// Go on behind what counts.
    pub(super) fn open(path: &Path, sum: Sum) -> Result<Self> {
        ColumnWriter::open(path, sum).map(Self)
    }

    /// Add a record.
    pub(super) fn append(&mut self, record: &[u8]) -> Result<()> {
        self.0.append(record)?;
        self.0.append(&crc32fast::hash(record).to_le_bytes())
    }

    /// Make what was added outlast a power cut, and say what counts from now on.
    pub(super) fn sync(&mut self) -> Result<Sum> {
        self.0.sync()
    }
}

/// Committed records.
#[derive(Clone, Debug)]
pub(super) struct Records {
    path: Arc<Path>,
    /// None where nothing counts, and the file need not be there.
    file: Option<Arc<File>>,
    /// Bytes of a record, its checksum included.
    stride: usize,
    len: usize,
}

impl Records {
    /// Open the file of records of so many bytes.
    pub(super) fn open(path: &Path, bytes: usize, sum: Sum) -> Result<Self> {
        Self { path: path.into(), file: None, stride: bytes + CHECKSUM, len: 0 }.grown(sum)
    }

    /// Return the same records with what counts by now.
    pub(super) fn grown(&self, sum: Sum) -> Result<Self> {
        let (stride, len) = (self.stride as u64, sum.len as usize / self.stride);
        if !sum.len.is_multiple_of(stride) || len < self.len {
            let fault = format!("{} bytes do not continue {} records of {stride}", sum.len, self.len);
            return Err(Error::corrupt(&self.path, 0, fault));
        }
        let file = match &self.file {
            None if len == 0 => return Ok(self.clone()),
            None => Arc::new(open_private(OpenOptions::new().read(true), &self.path).map_err(Error::io(&self.path))?),
            Some(file) => Arc::clone(file),
        };
        let grown = Self { file: Some(file), len, ..self.clone() };
        grown.check()?;
        Ok(grown)
    }

    /// Number of records.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Read a record that is there. One that is damaged is an error.
    pub(super) fn read<'a>(&self, number: u32, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        self.read_some(number, 1, buffer)?;
        self.verified(number, buffer)
    }

    /// Pass some records that follow one another to a function.
    pub(super) fn for_each(&self, from: u32, mut each: impl FnMut(&[u8])) -> Result<()> {
        const TOGETHER: usize = 1024;
        let mut buffer = Vec::new();
        for start in (from as usize..self.len).step_by(TOGETHER) {
            self.read_some(start as u32, TOGETHER.min(self.len - start), &mut buffer)?;
            for (number, bytes) in (start as u32..).zip(buffer.chunks_exact(self.stride)) {
                each(self.verified(number, bytes)?);
            }
        }
        Ok(())
    }

    fn read_some(&self, from: u32, count: usize, buffer: &mut Vec<u8>) -> Result<()> {
        let start = from as usize * self.stride;
        buffer.resize(count * self.stride, 0);
        let missing = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let file = self.file.as_ref().filter(|_| from as usize + count <= self.len).ok_or_else(missing);
        let read = file.and_then(|file| read_exact_at(file, buffer, start as u64));
        read.map_err(Error::io(&self.path))
    }

    fn verified<'a>(&self, number: u32, bytes: &'a [u8]) -> Result<&'a [u8]> {
        let (record, sum) = bytes.split_at(self.stride - CHECKSUM);
        if sum != crc32fast::hash(record).to_le_bytes() {
            let start = u64::from(number) * self.stride as u64;
            return Err(Error::corrupt(&self.path, start, "the checksum of a record does not hold"));
        }
        Ok(record)
    }

    /// Fail if the file no longer holds all that counts.
    pub(super) fn check(&self) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let cut = || io::Error::new(io::ErrorKind::UnexpectedEof, "it has been cut short");
        let bytes = (self.len * self.stride) as u64;
        let found = file.metadata().and_then(|found| if found.len() < bytes { Err(cut()) } else { Ok(()) });
        found.map_err(Error::io(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 11;

    fn record(number: u32) -> [u8; BYTES] {
        std::array::from_fn(|at| (number.wrapping_mul(31) as usize + at) as u8)
    }

    fn write(path: &Path, sum: Sum, numbers: std::ops::Range<u32>) -> Sum {
        let mut writer = RecordWriter::open(path, sum).expect("opens");
        numbers.for_each(|number| writer.append(&record(number)).expect("takes it"));
        writer.sync().expect("syncs")
    }

    fn read_back(records: &Records, from: u32) -> Result<Vec<Vec<u8>>> {
        let mut all = Vec::new();
        records.for_each(from, |record| all.push(record.to_vec()))?;
        Ok(all)
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("records");
        let empty = Records::open(&path, BYTES, Sum::default()).expect("nothing counts");
        assert_eq!((empty.len(), read_back(&empty, 0).expect("nothing").len()), (0, 0));
        let sum = write(&path, Sum::default(), 0..1500);
        let records = empty.grown(sum).expect("it holds");
        let sum = write(&path, sum, 1500..2600);
        let grown = records.grown(sum).expect("it holds");
        assert_eq!((records.len(), grown.len()), (1500, 2600));
        let mut buffer = Vec::new();
        assert!([0, 7, 2599].iter().all(|&at| grown.read(at, &mut buffer).is_ok_and(|found| found == record(at))));
        assert!(grown.read(2600, &mut buffer).is_err() && records.read(1500, &mut buffer).is_err());
        let expected: Vec<Vec<u8>> = (5..2600).map(|number| record(number).to_vec()).collect();
        assert_eq!(read_back(&grown, 5).expect("it holds"), expected);
        assert!(grown.grown(Sum { len: 15, crc: 0 }).is_err() && grown.grown(Sum { len: 16, crc: 0 }).is_err());
    }

    #[test]
    fn damage_of_a_record_is_seen_when_it_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("records");
        let sum = write(&path, Sum::default(), 0..9);
        let whole = std::fs::read(&path).expect("is there");
        let records = Records::open(&path, BYTES, sum).expect("it holds");
        let mut buffer = Vec::new();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&path, &damaged).expect("written");
            for number in 0..9 {
                let is_hit = at / (BYTES + CHECKSUM) == number as usize;
                assert_eq!(records.read(number, &mut buffer).is_err(), is_hit, "byte {at}");
            }
            std::fs::write(&path, &whole[..at]).expect("written");
            assert!(Records::open(&path, BYTES, sum).is_err() && records.check().is_err(), "cut at {at}");
        }
    }
}
