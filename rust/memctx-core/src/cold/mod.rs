//! The cold tier: everything ever archived, searched on disk.
//!
//! It is derived from the log and the vectors beside it and may be deleted at any time. Passages have rows: numbers that
//! ascend in the order of the log.

mod background;
mod column;
mod filter;
mod generation;
mod graph;
mod indexer;
mod manifest;
mod native;
mod opened;
mod passage;
mod places;
mod registry;
mod seen;
mod space;
mod status;
#[cfg(test)]
mod study;
mod texts;
mod tier;
mod vectors;
mod view;

pub(crate) use background::spawn as spawn_politely;
pub(crate) use filter::Filter;
pub(crate) use registry::tier_of;
pub use status::{ColdStatus, State};
pub(crate) use tier::{ColdTier, Told};
pub(crate) use view::{Lead, View};

/// The text index of a generation.
const TEXTS: &str = "texts";
/// What is known of each passage.
const PASSAGES: &str = "passages";
/// The rows of segments that were written again.
const DEAD: &str = "dead";
