//! The files of a store: lines with checksums, appended under a lock, and the vectors beside them.

pub(crate) mod append_only;
pub(crate) mod checksum;
pub(crate) mod directory;
pub(crate) mod editor;
pub(crate) mod fact;
pub(crate) mod fact_log;
pub(crate) mod kind;
pub(crate) mod lease;
pub(crate) mod line_writer;
pub(crate) mod lines;
pub(crate) mod lock;
pub(crate) mod metadata;
mod quoted;
pub(crate) mod reader;
pub(crate) mod segment;
pub(crate) mod vectors;

/// The log of segments.
pub(crate) const SEGMENTS: &str = "segments.jsonl";
