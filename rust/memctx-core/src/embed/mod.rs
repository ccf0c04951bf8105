//! Embedders that need no model runtime: feature hashing, and tables of word pieces.

mod hash;
mod table;

pub use hash::HashEmbedder;
pub use table::{Choices, StaticEmbedder};
