//! Reader of a file that other processes append to.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::header::{HEADER_BYTES, Header};
use super::reader::{find_trailer, is_finite};
use crate::file::{Identity, open_private, read_at, read_exact_at};
use crate::{Error, Result};

/// Bytes read at a time.
const CHUNK: usize = 256 * 1024;

/// A file of which entries are read by their place, the byte they begin at. It may be replaced meanwhile: the handle
/// stays with the one that was opened.
#[derive(Debug)]
pub(crate) struct Entries {
    path: PathBuf,
    file: Arc<File>,
    dim: usize,
}

impl Entries {
    /// Open a file and read its header.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = open_private(OpenOptions::new().read(true), path).map_err(Error::io(path))?;
        let dim = header(&file, path)?.dim as usize;
        Ok(Self { path: path.to_owned(), file: Arc::new(file), dim })
    }

    /// Return the length of the vectors.
    #[cfg(feature = "disk-index")]
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// Return the file.
    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Return whether another file has taken its place, or none.
    pub(crate) fn is_replaced(&self) -> bool {
        let same = |opened: &std::fs::Metadata, found: &std::fs::Metadata| Identity::of(opened) == Identity::of(found);
        match (self.file.metadata(), std::fs::symlink_metadata(&self.path)) {
            (Ok(opened), Ok(found)) => !same(&opened, &found),
            _ => true,
        }
    }

    /// Return the vector at an offset, if it is of this id.
    pub(crate) fn read(&self, offset: u64, id: &str) -> Option<Vec<f32>> {
        let mut entry = vec![0; 2 + id.len() + self.dim * size_of::<f32>()];
        read_exact_at(&self.file, &mut entry, offset).ok()?;
        let vector = entry.strip_prefix(&u16::try_from(id.len()).ok()?.to_le_bytes())?.strip_prefix(id.as_bytes())?;
        let vector: Vec<f32> = vector.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect();
        is_finite(&vector).then_some(vector)
    }
}

/// Passes over the entries of a file in order, and goes on when there are more.
#[derive(Debug)]
pub(crate) struct Follower {
    entries: Entries,
    /// Offset of the next entry.
    next: u64,
    passed: u32,
    /// Number of entries that the file declared when it was last read.
    count: u32,
    /// Part of the file, and where that begins.
    window: Vec<u8>,
    window_at: u64,
}

impl Follower {
    /// Begin with the first entry.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let entries = Entries::open(path)?;
        Ok(Self { entries, next: HEADER_BYTES as u64, passed: 0, count: 0, window: Vec::new(), window_at: 0 })
    }

    /// Go on where another follower of the same file was.
    pub(crate) fn resume(&mut self, [next, passed]: [u64; 2]) {
        (self.next, self.passed, self.count) = (next, passed as u32, passed as u32);
    }

    /// Return how far it is, for one that goes on there.
    pub(crate) fn position(&self) -> [u64; 2] {
        [self.next, u64::from(self.passed)]
    }

    /// Return the file whose entries are passed.
    pub(crate) fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Return the offset and the id of the next entry, unless there is none yet.
    pub(crate) fn advance(&mut self) -> Result<Option<(u64, &[u8])>> {
        if self.passed == self.count {
            self.count = declared(&self.entries.file, &self.entries.path)?.max(self.count);
            // What lay behind the last entry may have become one.
            self.window.clear();
        }
        if self.passed == self.count || !self.reach(2)? {
            return Ok(None);
        }
        let at = (self.next - self.window_at) as usize;
        let id_bytes = usize::from(u16::from_le_bytes([self.window[at], self.window[at + 1]]));
        if !self.reach(2 + id_bytes + self.entries.dim * size_of::<f32>())? {
            return Ok(None);
        }
        let (offset, at) = (self.next, (self.next - self.window_at) as usize);
        self.next += (2 + id_bytes + self.entries.dim * size_of::<f32>()) as u64;
        self.passed += 1;
        Ok(Some((offset, &self.window[at + 2..][..id_bytes])))
    }

    /// Have so many bytes of the next entry in the window; false if there are fewer.
    fn reach(&mut self, length: usize) -> Result<bool> {
        let held = (self.window_at + self.window.len() as u64).saturating_sub(self.next);
        if self.next >= self.window_at && held >= length as u64 {
            return Ok(true);
        }
        self.window.resize(length.max(CHUNK), 0);
        self.window_at = self.next;
        let mut filled = 0;
        while filled < self.window.len() {
            let read = read_at(&self.entries.file, &mut self.window[filled..], self.next + filled as u64);
            match read {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(fault) if fault.kind() == std::io::ErrorKind::Interrupted => {}
                Err(fault) => {
                    self.window.clear();
                    return Err(Error::io(&self.entries.path)(fault));
                }
            }
        }
        self.window.truncate(filled);
        Ok(filled >= length)
    }
}

fn header(file: &File, path: &Path) -> Result<Header> {
    let mut bytes = [0; HEADER_BYTES];
    read_exact_at(file, &mut bytes, 0).map_err(Error::io(path))?;
    Header::parse(&bytes, path)
}

/// Entries that are there. While some are being added there is no checksum, and the header says how many there were.
fn declared(file: &File, path: &Path) -> Result<u32> {
    let bytes = file.metadata().map_err(Error::io(path))?.len();
    let trailer = find_trailer(file, bytes).map_err(Error::io(path))?;
    Ok(trailer.map_or(header(file, path)?.count, |trailer| trailer.count))
}
