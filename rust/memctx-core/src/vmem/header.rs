//! Header: the first 16 bytes of a file.

use std::path::Path;

use crate::{Error, Result};

/// The longest vector that is read or written.
pub const MAX_DIM: usize = 65_536;

pub(super) const HEADER_BYTES: usize = 16;
/// Offset of the number of entries.
pub(super) const COUNT_AT: u64 = 12;

const MAGIC: [u8; 4] = *b"VMEM";
const VERSION: u32 = 1;

/// Header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) dim: u32,
    pub(super) count: u32,
}

impl Header {
    pub(super) fn new(dim: usize, count: usize) -> Result<Self> {
        if dim == 0 || dim > MAX_DIM {
            return Err(Error::argument("dim", "between 1 and 65536", dim.to_string()));
        }
        let count = u32::try_from(count).map_err(|_| Error::Full { what: "a VMEM file", limit: u32::MAX as usize })?;
        Ok(Self { dim: dim as u32, count })
    }

    pub(super) fn parse(bytes: &[u8; HEADER_BYTES], path: &Path) -> Result<Self> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if bytes[..4] != MAGIC {
            return Err(Error::corrupt(path, 0, format!("it begins with {:02x?}, not with \"VMEM\"", &bytes[..4])));
        }
        if word(4) != VERSION {
            return Err(Error::Version { path: path.to_owned(), found: word(4), supported: VERSION });
        }
        let dim = word(8);
        if dim == 0 || dim as usize > MAX_DIM {
            return Err(Error::corrupt(path, 8, format!("the dimension is {dim}, not between 1 and {MAX_DIM}")));
        }
        Ok(Self { dim, count: word(12) })
    }

    pub(super) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.dim.to_le_bytes());
        bytes[12..].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    /// Return the bytes of a vector.
    pub(super) fn row_bytes(self) -> usize {
        self.dim as usize * size_of::<f32>()
    }
}
