//! The disk index: everything ever archived, searched on disk.
//!
//! It is derived from the log and the vectors beside it and may be deleted at any time. Passages have rows: numbers
//! that ascend in the order of the log.

mod background;
mod column;
mod filter;
mod generation;
mod indexer;
mod manifest;
mod offsets;
mod opened;
mod passage;
mod records;
mod registry;
mod seen;
mod shared;
mod status;
mod texts;
mod vectors;
mod view;

pub(crate) use background::spawn_low_priority;
pub(crate) use filter::Filter;
pub(crate) use registry::shared_index;
pub(crate) use shared::{DiskIndex, Progress};
pub use status::{IndexStatus, State};
pub(crate) use view::{IndexMatch, View};

/// The text index of a generation.
const TEXTS: &str = "texts";
/// Parts of the passages that are held in memory.
const PASSAGES: &str = "passages";
/// Parts of the passages that are read from disk.
const PIECES: &str = "pieces";
/// The rows of segments that were written again.
const DEAD: &str = "dead";
