//! Fixed-size record of a passage.

use crate::store::Segment;

/// A passage of a segment, as it lies in the file of passages. Names are kept as hashes; what they stand for is in the
/// segment's line, which is read before anything is shown.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Passage {
    /// Offset of the segment's line in the log.
    pub(super) line: u64,
    /// The segment's id within its session.
    pub(super) key: u64,
    pub(super) session: u64,
    pub(super) timestamp: f64,
    /// One bit for each topic.
    pub(super) topics: u64,
    /// Offset of the vector's entry in `vectors.bin`, or 0.
    pub(super) vector: u64,
    /// Length of the line without its end.
    pub(super) bytes: u32,
    pub(super) role: u32,
    /// The piece of the content, in bytes.
    pub(super) start: u32,
    pub(super) end: u32,
    /// Index of the piece within its segment.
    pub(super) piece: u32,
    pub(super) unused: u32,
}

/// Return the hash of a name.
pub(super) fn name(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

/// Return the hash of a segment: its id within its session.
pub(super) fn key(session: &str, id: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(id.as_bytes(), name(session))
}

/// Return the bit of a topic, one of 64, which it may share with others.
pub(super) fn topic(text: &str) -> u64 {
    1 << (name(&text.to_lowercase()) >> 58)
}

/// Return the topics of a segment.
pub(super) fn topics(segment: &Segment) -> u64 {
    segment.topics().iter().fold(0, |all, text| all | topic(text))
}

/// Return the hash of a role.
pub(super) fn role(text: &str) -> u32 {
    name(text) as u32
}
