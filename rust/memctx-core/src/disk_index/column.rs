//! Append-only file of fixed-size values.
//!
//! What counts of it is given from outside, by a [`Sum`]: whatever lies behind was never committed and is cut off by
//! the next writer. Values are written as they lie in memory.
//!
//! Readers hold the values in memory of their own. A mapped file that another process cuts short ends this one with a
//! signal at the next access, and no check beforehand can rule that out; a positioned read returns an error instead.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::marker::PhantomData;
use std::ops::Index;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use crate::file::{open_private, read_exact_at, sync_folder};
use crate::{Error, Result};

/// Bytes gathered before they are written.
const CHUNK: usize = 1 << 20;
/// Rows in a block of a reader, which is shared with the readers of earlier commits once it is full: fewer where they are
/// wide.
const BLOCK: usize = 8192;
/// Most bytes of a block, unless a single row has more.
const BLOCK_BYTES: usize = 512 << 10;

/// Committed length of a column, and its checksum.
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

    /// Return a checksum to go on with behind these values.
    fn hasher<T>(self) -> Hasher {
        Hasher::new_with_initial_len(self.crc, self.bytes::<T>())
    }
}

/// Adds to a column. There must be only one.
#[derive(Debug)]
pub(super) struct ColumnWriter<T> {
    path: PathBuf,
    file: File,
    /// Rows written, not necessarily synced.
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

/// Committed rows of a column in memory, each of one or more values. Clones share the blocks.
#[derive(Clone, Debug)]
pub(super) struct Column<T> {
    path: Arc<Path>,
    /// None where nothing counts, and the file need not be there.
    file: Option<Arc<File>>,
    /// Values to a row.
    width: usize,
    /// Rows to a block.
    rows: usize,
    /// All but the last are full. Not slices: behind the counts of an `Arc` they would lie across two cache lines.
    blocks: Vec<Arc<Vec<T>>>,
    sum: Sum,
}

impl<T: Pod> Column<T> {
    /// Read what counts and check it.
    pub(super) fn open(path: &Path, width: usize, sum: Sum) -> Result<Self> {
        let rows = (BLOCK_BYTES / (width * size_of::<T>())).clamp(1, BLOCK);
        Self { path: path.into(), file: None, width, rows, blocks: Vec::new(), sum: Sum::default() }.grown(sum)
    }

    /// Return the same column with what counts by now, of which only the new part is read and checked.
    pub(super) fn grown(&self, sum: Sum) -> Result<Self> {
        if sum == self.sum {
            return Ok(self.clone());
        }
        let path = &*self.path;
        let from = self.sum.bytes::<T>();
        if sum.len <= self.sum.len || !sum.len.is_multiple_of(self.width as u64) {
            let fault = format!("{} values with checksum {:08x} do not continue those before", sum.len, sum.crc);
            return Err(Error::corrupt(path, from, fault));
        }
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::new(open_private(OpenOptions::new().read(true), path).map_err(Error::io(path))?),
        };
        let (blocks, crc) = self.read_on(&file, sum).map_err(Error::io(path))?;
        if crc != sum.crc {
            return Err(Error::corrupt(path, from, "a checksum does not hold behind here"));
        }
        Ok(Self { file: Some(file), blocks, sum, ..self.clone() })
    }

    /// Return the blocks of what counts by now, and its checksum.
    fn read_on(&self, file: &File, sum: Sum) -> io::Result<(Vec<Arc<Vec<T>>>, u32)> {
        check_length(file, sum.bytes::<T>())?;
        let (old, new, most) = (self.sum.len as usize, sum.len as usize, self.rows * self.width);
        let mut blocks = self.blocks[..old / most].to_vec();
        let mut hasher = self.sum.hasher::<T>();
        for start in (blocks.len() * most..new).step_by(most) {
            let mut values = bytemuck::zeroed_vec::<T>(most.min(new - start));
            let known = self.blocks.get(blocks.len()).map_or(&[][..], |block| block);
            let (before, fresh) = values.split_at_mut(known.len());
            before.copy_from_slice(known);
            let fresh = bytemuck::cast_slice_mut(fresh);
            read_exact_at(file, fresh, ((start + known.len()) * size_of::<T>()) as u64)?;
            hasher.update(fresh);
            blocks.push(Arc::new(values));
        }
        Ok((blocks, hasher.finalize()))
    }

    /// Fail if the file no longer holds all that was read of it: the next to open it would find it damaged.
    pub(super) fn check(&self) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        check_length(file, self.sum.bytes::<T>()).map_err(Error::io(&self.path))
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.sum.len as usize / self.width
    }

    /// Return the values of a row.
    pub(super) fn row(&self, row: usize) -> &[T] {
        &self.blocks[row / self.rows][row % self.rows * self.width..][..self.width]
    }

    /// Return the first value of a row, if there is one.
    pub(super) fn get(&self, row: usize) -> Option<&T> {
        (row < self.len()).then(|| &self[row])
    }

    /// Return all values.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().flat_map(|block| block.iter())
    }

    /// Return the first row that does not pass a test which all before it pass.
    pub(super) fn partition_point(&self, mut test: impl FnMut(&T) -> bool) -> usize {
        let blocks = self.blocks.partition_point(|block| block.last().is_none_or(&mut test));
        let within = self.blocks.get(blocks).map_or(0, |block| block.partition_point(test));
        (blocks * self.rows + within).min(self.len())
    }
}

impl<T: Pod> Index<usize> for Column<T> {
    type Output = T;

    fn index(&self, row: usize) -> &T {
        &self.row(row)[0]
    }
}

fn check_length(file: &File, bytes: u64) -> io::Result<()> {
    if file.metadata()?.len() < bytes {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it has been cut short"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(folder: &tempfile::TempDir) -> PathBuf {
        folder.path().join("column")
    }

    fn open(path: &Path, sum: Sum) -> Result<Column<u32>> {
        Column::open(path, 1, sum)
    }

    fn read_back(column: &Column<u32>) -> Vec<u32> {
        column.iter().copied().collect()
    }

    fn written(path: &Path, sum: Sum, values: &[u32]) -> Sum {
        let mut writer = ColumnWriter::open(path, sum).expect("opens");
        writer.append(values).expect("takes them");
        writer.sync().expect("syncs")
    }

    proptest! {
        #[test]
        fn the_index_holds_committed_texts(batches in prop::collection::vec((prop::collection::vec(any::<u32>(), 0..40), any::<bool>()), 0..8)) {
            let folder = tempfile::tempdir().expect("a folder");
            let path = path(&folder);
            let (mut sum, mut expected) = (Sum::default(), Vec::new());
            let mut reader = open(&path, sum).expect("nothing is a column too");
            for (values, is_committed) in batches {
                let new = written(&path, sum, &values);
                if is_committed {
                    (sum, expected) = (new, [expected, values].concat());
                    reader = reader.grown(sum).expect("it holds");
                }
                prop_assert_eq!(read_back(&reader), &expected[..]);
                prop_assert_eq!(read_back(&open(&path, sum).expect("it holds")), &expected[..]);
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
            assert!(open(&path, sum).is_err(), "byte {at}");
            std::fs::write(&path, &whole[..at]).expect("written");
            assert!(open(&path, sum).is_err(), "cut at {at}");
            assert!(ColumnWriter::<u32>::open(&path, sum).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn an_open_reader_is_not_disturbed_by_a_writer_that_starts_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = path(&folder);
        let sum = written(&path, Sum::default(), &[1, 2, 3]);
        let reader = open(&path, sum).expect("it holds");
        written(&path, sum, &[4; 4000]);
        let other = written(&path, sum, &[5]);
        assert_eq!(read_back(&reader), [1, 2, 3]);
        assert_eq!(read_back(&reader.grown(other).expect("it holds")), [1, 2, 3, 5]);
        assert!(reader.grown(Sum { len: 2, crc: 0 }).is_err());
    }

    #[test]
    fn rows_are_found_across_blocks() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = path(&folder);
        let (mut sum, mut column) = (Sum::default(), Column::<u32>::open(&path, 3, Sum::default()).expect("empty"));
        let all: Vec<u32> = (0..3 * (2 * BLOCK as u32 + 5)).collect();
        for part in [&all[..3 * 7], &all[3 * 7..3 * (BLOCK + 2)], &all[3 * (BLOCK + 2)..]] {
            sum = written(&path, sum, part);
            column = column.grown(sum).expect("it holds");
        }
        assert_eq!(read_back(&column), all);
        assert_eq!((column.len(), column.get(column.len())), (2 * BLOCK + 5, None));
        for row in [0, 6, 7, BLOCK - 1, BLOCK, 2 * BLOCK + 4] {
            assert_eq!(column.row(row), &all[3 * row..3 * row + 3]);
            assert_eq!(column[row], 3 * row as u32);
        }
        let flat = open(&path, sum).expect("it holds");
        for end in [0, 1, BLOCK as u32, BLOCK as u32 + 1, all.len() as u32] {
            assert_eq!(flat.partition_point(|&value| value < end), end as usize);
        }
    }

    #[test]
    fn a_reader_keeps_what_it_read_of_a_file_that_is_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = path(&folder);
        let all: Vec<u32> = (0..50_000).collect();
        let sum = written(&path, Sum::default(), &all);
        let reader = open(&path, sum).expect("it holds");
        reader.check().expect("all is there");
        OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(0)).expect("cut");
        assert_eq!(read_back(&reader), all);
        assert!(reader.check().is_err() && open(&path, sum).is_err());
    }
}
