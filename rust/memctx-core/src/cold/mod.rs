//! The cold tier: everything ever archived, searched on disk.
//!
//! It is derived from the log and the vectors beside it and may be deleted at any time. Passages have rows: numbers that
//! ascend in the order of the log.

mod column;
mod filter;
mod graph;
mod native;
mod passage;
mod places;
mod space;
#[cfg(test)]
mod study;
mod vectors;
