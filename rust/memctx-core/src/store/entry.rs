//! What the warm tier knows of a segment, and of a piece of one.

use std::ops::Range;

/// A segment in memory. Its text stays on disk.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) id: Box<str>,
    pub(super) session: u32,
    pub(super) role: u32,
    pub(super) topics: Box<[u32]>,
    pub(super) timestamp: f64,
    /// The first half of the sha256 of its content.
    pub(super) digest: u64,
    pub(super) line: LineAt,
    /// Its pieces.
    pub(super) passages: Range<u32>,
    /// Which of the sequences it is in, those of sessions as a rule, and its place there.
    pub(super) timeline: u32,
    pub(super) place: u32,
    pub(super) is_live: bool,
}

/// Where a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineAt {
    /// Which of the files that the tier reads from.
    pub(super) source: u32,
    pub(super) offset: u64,
    /// Without its end.
    pub(super) bytes: u64,
}

impl LineAt {
    /// Where the next line begins.
    pub(super) fn end(self) -> u64 {
        self.offset + self.bytes + 1
    }
}

/// A piece of a segment: what is indexed.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct Passage {
    pub(super) segment: u32,
    /// Where in the segment's content, in bytes.
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) vector: Standing,
}

/// How it stands with the vector of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub(super) struct Standing(u32);

impl Standing {
    /// In memory only.
    pub(super) const UNSAVED: Self = Self(0);
    /// On disk, too.
    pub(super) const SAVED: Self = Self(1);
    /// It is still to come.
    pub(super) const LACKING: Self = Self(2);
}
