//! Vectors: making them from text without a model, and finding the nearest ones.

mod coarse;
mod flat;
mod hash;
mod kernel;

pub(crate) use flat::check_finite;
pub use flat::{FlatIndex, cosine};
pub use hash::HashEmbedder;
