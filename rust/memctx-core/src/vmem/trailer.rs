//! An optional checksum behind the last entry.
//!
//! Its 28 bytes: `VMCK`, a version (1), the number of entries, their total length in bytes (u64), the CRC-32 of the
//! dimension and all entries, and the CRC-32 of the trailer up to there. It is written after the entries are on disk,
//! so one that holds vouches for its number of entries even where the header was not brought up to date.

use crc32fast::Hasher;

use super::header::Header;

pub(super) const TRAILER_BYTES: usize = 28;

const MAGIC: [u8; 4] = *b"VMCK";
const VERSION: u32 = 1;

/// Trailer with the checksum of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trailer {
    pub(super) count: u32,
    pub(super) body_bytes: u64,
    pub(super) crc: u32,
}

impl Trailer {
    /// Return the trailer in the last bytes of a file; none unless they are one, undamaged.
    pub(super) fn parse(bytes: &[u8; TRAILER_BYTES]) -> Option<Self> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let trailer =
            Self { count: word(8), body_bytes: u64::from(word(12)) | u64::from(word(16)) << 32, crc: word(20) };
        (*bytes == trailer.to_bytes()).then_some(trailer)
    }

    pub(super) fn to_bytes(self) -> [u8; TRAILER_BYTES] {
        let mut bytes = [0; TRAILER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.count.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.body_bytes.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.crc.to_le_bytes());
        let own = crc32fast::hash(&bytes[..24]);
        bytes[24..].copy_from_slice(&own.to_le_bytes());
        bytes
    }
}

/// Return a checksum to feed the entries to.
pub(super) fn checksum(header: Header) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(&header.dim.to_le_bytes());
    hasher
}
