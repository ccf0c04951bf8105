//! Caches between turns: messages, lists, strings and tokens that were read before.

pub(crate) mod fingerprints;
pub(crate) mod own_blocks;
pub(crate) mod prefix_cache;
pub(crate) mod strings;
