//! Vectors: making them from text without a model, and finding the nearest ones.

mod coarse;
mod flat;
mod hash;
mod kernel;
mod rows;
mod saved;

pub use flat::FlatIndex;
pub use hash::HashEmbedder;
pub(crate) use rows::check_finite;
pub use rows::{Rows, cosine};
