//! Vectors: making them from text by counting or from a table, and finding the nearest ones.

mod ascii_memory;
mod coarse;
mod flat;
mod gram_memory;
mod hash;
mod kernel;
mod rows;
mod saved;
mod table;

#[cfg(feature = "cold")]
pub(crate) use coarse::Copy;
pub use flat::FlatIndex;
pub use hash::HashEmbedder;
#[cfg(feature = "cold")]
pub(crate) use kernel::{Kernel, LANES, Line};
pub use rows::{Rows, cosine};
pub(crate) use rows::{check_finite, norm};
pub use table::{Choices, StaticEmbedder};
