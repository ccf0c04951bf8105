//! The words of all passages, in a tantivy index of our own making.
//!
//! Tantivy keeps the postings, merges them in the background and finds the best of them without reading the rest. The
//! tokens, the statistics and the checks of what is on disk are ours.

mod analyzer;
mod fault;
mod folder;
mod index;
mod schema;
mod shard;
#[cfg(test)]
mod tests;
mod view;
mod writer;

pub(super) use index::TextIndex;
pub(super) use view::TextView;
pub(super) use writer::TextWriter;
