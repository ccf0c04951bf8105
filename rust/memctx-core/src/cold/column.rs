//! A file of values of one kind that only grows.
//!
//! What counts of it is told from outside, by a [`Sum`]: whatever lies behind was never committed and is cut off by the
//! next writer. Values are written as they lie in memory.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use crc32fast::Hasher;
use memmap2::Mmap;
use serde::{Deserialize, Serialize};

use super::native::map;
use crate::file::{open_private, sync_folder};
use crate::{Error, Result};

/// Bytes gathered before they are written.
const CHUNK: usize = 1 << 20;

/// How much of a column counts, and its checksum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sum {
    /// In values.
    pub(super) len: u64,
    /// CRC-32 of them all.
    pub(super) crc: u32,
}

impl Sum {
    fn bytes<T>(self) -> u64 {
        self.len.saturating_mul(size_of::<T>() as u64)
    }

    /// A checksum to go on with behind these values.
    fn hasher<T>(self) -> Hasher {
        Hasher::new_with_initial_len(self.crc, self.bytes::<T>())
    }
}

/// Adds to a column. There must be only one.
#[derive(Debug)]
pub(super) struct ColumnWriter<T> {
    path: PathBuf,
    file: File,
    /// What has been written, if not yet synced.
    sum: Sum,
    pending: Vec<u8>,
    values: PhantomData<T>,
}

impl<T: Pod> ColumnWriter<T> {
    /// Go on behind what counts, which is not read again; a column of nothing need not be there.
    pub(super) fn open(path: &Path, sum: Sum) -> Result<Self> {
        let open = || -> io::Result<File> {
            let is_new = !path.exists();
            let mut options = OpenOptions::new();
            let file = open_private(options.write(true).create(sum.len == 0), path)?;
            if file.metadata()?.len() < sum.bytes::<T>() {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it has been cut short"));
            }
            file.set_len(sum.bytes::<T>())?;
            if let (true, Some(folder)) = (is_new, path.parent()) {
                sync_folder(folder)?;
            }
            Ok(file)
        };
        let file = open().map_err(Error::io(path))?;
        Ok(Self { path: path.to_owned(), file, sum, pending: Vec::new(), values: PhantomData })
    }

    /// Add values. After an error they are still to be written.
    pub(super) fn append(&mut self, values: &[T]) -> Result<()> {
        self.pending.extend_from_slice(bytemuck::cast_slice(values));
        if self.pending.len() >= CHUNK { self.flush() } else { Ok(()) }
    }

    /// Make what was added outlast a power cut, and say what counts from now on.
    pub(super) fn sync(&mut self) -> Result<Sum> {
        self.flush()?;
        self.file.sync_data().map_err(Error::io(&self.path))?;
        Ok(self.sum)
    }

    fn flush(&mut self) -> Result<()> {
        // Behind a write that failed half-way the position is anywhere.
        let write = |file: &mut File| -> io::Result<()> {
            file.seek(SeekFrom::Start(self.sum.bytes::<T>()))?;
            file.write_all(&self.pending)
        };
        write(&mut self.file).map_err(Error::io(&self.path))?;
        let mut hasher = self.sum.hasher::<T>();
        hasher.update(&self.pending);
        let len = self.sum.len + (self.pending.len() / size_of::<T>()) as u64;
        self.sum = Sum { len, crc: hasher.finalize() };
        self.pending.clear();
        Ok(())
    }
}

/// What counts of a column, mapped. Copies share the map.
#[derive(Clone, Debug)]
pub(super) struct Column<T> {
    path: Arc<Path>,
    /// None where nothing counts, and the file need not be there.
    file: Option<Arc<File>>,
    map: Option<Arc<Mmap>>,
    sum: Sum,
    values: PhantomData<T>,
}

impl<T: Pod> Column<T> {
    /// Map what counts and check it.
    pub(super) fn open(path: &Path, sum: Sum) -> Result<Self> {
        let none = Self { path: path.into(), file: None, map: None, sum: Sum::default(), values: PhantomData };
        none.grown(sum)
    }

    /// The same column with what counts by now, of which only the new part is checked.
    pub(super) fn grown(&self, sum: Sum) -> Result<Self> {
        if sum == self.sum {
            return Ok(self.clone());
        }
        let path = &*self.path;
        let from = self.sum.bytes::<T>();
        if sum.len <= self.sum.len {
            let fault = format!("{} values with checksum {:08x} are not those that were there", sum.len, sum.crc);
            return Err(Error::corrupt(path, from, fault));
        }
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::new(open_private(OpenOptions::new().read(true), path).map_err(Error::io(path))?),
        };
        let map = map(&file, sum.bytes::<T>()).map_err(Error::io(path))?;
        let mut hasher = self.sum.hasher::<T>();
        hasher.update(&map.as_deref().unwrap_or_default()[from as usize..]);
        if hasher.finalize() != sum.crc {
            return Err(Error::corrupt(path, from, "a checksum does not hold behind here"));
        }
        Ok(Self { path: Arc::clone(&self.path), file: Some(file), map: map.map(Arc::new), sum, values: PhantomData })
    }
}

impl<T: Pod> Deref for Column<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.map.as_deref().map_or(&[], |map| bytemuck::cast_slice(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(folder: &tempfile::TempDir) -> PathBuf {
        folder.path().join("column")
    }

    fn written(path: &Path, sum: Sum, values: &[u32]) -> Sum {
        let mut writer = ColumnWriter::open(path, sum).expect("opens");
        writer.append(values).expect("takes them");
        writer.sync().expect("syncs")
    }

    proptest! {
        #[test]
        fn holds_what_was_committed(batches in prop::collection::vec((prop::collection::vec(any::<u32>(), 0..40), any::<bool>()), 0..8)) {
            let folder = tempfile::tempdir().expect("a folder");
            let path = path(&folder);
            let (mut sum, mut expected) = (Sum::default(), Vec::new());
            let mut reader = Column::<u32>::open(&path, sum).expect("nothing is a column too");
            for (values, is_committed) in batches {
                let new = written(&path, sum, &values);
                if is_committed {
                    (sum, expected) = (new, [expected, values].concat());
                    reader = reader.grown(sum).expect("it holds");
                }
                prop_assert_eq!(&*reader, &expected[..]);
                prop_assert_eq!(&*Column::<u32>::open(&path, sum).expect("it holds"), &expected[..]);
            }
        }
    }

    #[test]
    fn sees_any_flipped_bit_and_any_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = path(&folder);
        let sum = written(&path, Sum::default(), &(0..50).collect::<Vec<u32>>());
        let whole = std::fs::read(&path).expect("is there");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            std::fs::write(&path, &damaged).expect("written");
            assert!(Column::<u32>::open(&path, sum).is_err(), "byte {at}");
            std::fs::write(&path, &whole[..at]).expect("written");
            assert!(Column::<u32>::open(&path, sum).is_err(), "cut at {at}");
            assert!(ColumnWriter::<u32>::open(&path, sum).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn an_open_reader_is_not_disturbed_by_a_writer_that_starts_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = path(&folder);
        let sum = written(&path, Sum::default(), &[1, 2, 3]);
        let reader = Column::<u32>::open(&path, sum).expect("it holds");
        written(&path, sum, &[4; 4000]);
        let other = written(&path, sum, &[5]);
        assert_eq!(*reader, [1, 2, 3]);
        assert_eq!(*reader.grown(other).expect("it holds"), [1, 2, 3, 5]);
        assert!(reader.grown(Sum { len: 2, crc: 0 }).is_err());
    }
}
