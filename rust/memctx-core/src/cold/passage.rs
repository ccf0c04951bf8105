//! What is known of a passage without reading it.

use crate::store::Segment;

/// A passage of a segment, as it lies in the file of passages. Names are kept as hashes; what they stand for is in the
/// segment's line, which is read before anything is shown.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Passage {
    /// Where the segment's line begins in the log.
    pub(super) line: u64,
    /// The segment's id within its session.
    pub(super) key: u64,
    pub(super) session: u64,
    pub(super) timestamp: f64,
    /// One bit for each topic.
    pub(super) topics: u64,
    /// Where the vector's entry begins in `vectors.bin`, or 0.
    pub(super) vector: u64,
    /// Length of the line without its end.
    pub(super) bytes: u32,
    pub(super) role: u32,
    /// The piece of the content, in bytes.
    pub(super) start: u32,
    pub(super) end: u32,
    /// Which of the segment's pieces it is.
    pub(super) piece: u32,
    pub(super) unused: u32,
}

/// What a name is kept as.
pub(super) fn name(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

/// What a segment is kept as: its id within its session.
pub(super) fn key(session: &str, id: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(id.as_bytes(), name(session))
}

/// What a topic is kept as: one of 64 bits, which it may share.
pub(super) fn topic(text: &str) -> u64 {
    1 << (name(&text.to_lowercase()) >> 58)
}

/// The topics of a segment.
pub(super) fn topics(segment: &Segment) -> u64 {
    segment.topics().iter().fold(0, |all, text| all | topic(text))
}

/// What a role is kept as.
pub(super) fn role(text: &str) -> u32 {
    name(text) as u32
}
