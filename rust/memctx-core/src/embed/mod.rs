//! Embedders that need no model runtime: a small transformer, tables of word pieces, and feature hashing.

mod encoder;
mod hash;
mod table;

pub use encoder::{Encoder, PieceQuestion};
pub use hash::HashEmbedder;
pub use table::{Choices, StaticEmbedder};
