//! Vectors on disk: the VMEM v1 format.
//!
//! All numbers are little-endian. A [`Header`] of 16 bytes; then for each entry the length of its id as u16, the id in
//! UTF-8, and the vector as f32. Behind the last entry may stand a checksum ([`trailer`]), which readers that do not
//! know it ignore as they ignore anything there.

mod follow;
mod header;
mod reader;
mod trailer;
mod writer;

#[cfg(feature = "disk-index")]
pub(crate) use follow::Entries;
pub(crate) use follow::Follower;
pub use header::MAX_DIM;
pub(crate) use reader::outline;
pub use reader::{Checksum, Ids, Report, Vectors, read, verify};
pub use writer::{append, write};
