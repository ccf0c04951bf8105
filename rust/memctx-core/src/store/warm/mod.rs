//! The warm tier: the newest segments in memory, searched by words and by vectors.

pub(crate) mod candidates;
pub(crate) mod center;
pub(crate) mod entry;
mod gate;
pub(crate) mod interner;
pub(crate) mod matching;
pub(crate) mod passage;
pub(crate) mod scale;
pub(crate) mod search;
pub(crate) mod snapshot;
pub(crate) mod tier;
pub(crate) mod vector_weight;
