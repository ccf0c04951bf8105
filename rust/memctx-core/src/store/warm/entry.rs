//! Entries of the warm tier: segments and their passages.

use std::ops::Range;

/// A segment in memory. Its text stays on disk.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: Box<str>,
    pub(crate) session: u32,
    pub(crate) role: u32,
    pub(crate) topics: Box<[u32]>,
    pub(crate) timestamp: f64,
    /// The first half of the sha256 of its content.
    pub(crate) digest: u64,
    pub(crate) line: LineAt,
    /// Its pieces.
    pub(crate) passages: Range<u32>,
    /// The sequence it is in, as a rule that of its session, and its index there.
    pub(crate) timeline: u32,
    pub(crate) place: u32,
    pub(crate) is_live: bool,
}

/// The position of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineAt {
    /// The index of the file among those the tier reads from.
    pub(crate) source: u32,
    pub(crate) offset: u64,
    /// Without its end.
    pub(crate) bytes: u64,
}

impl LineAt {
    /// Return the offset behind the line.
    pub(crate) fn end(self) -> u64 {
        self.offset + self.bytes + 1
    }
}

/// A piece of a segment: what is indexed.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Passage {
    pub(crate) segment: u32,
    /// The range in the segment's content, in bytes.
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) vector: Standing,
}

/// The state of a passage's vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub(crate) struct Standing(u32);

impl Standing {
    /// In memory only.
    pub(crate) const UNSAVED: Self = Self(0);
    /// On disk, too.
    pub(crate) const SAVED: Self = Self(1);
    /// It is still to come.
    pub(crate) const LACKING: Self = Self(2);
    /// It is still to come, too, but a search made it meanwhile.
    pub(crate) const LENT: Self = Self(3);
}
