//! Exact nearest-neighbor search over vectors in memory.

mod coarse;
mod flat;
mod kernel;
mod rows;
mod saved;
#[cfg(feature = "disk-index")]
mod signs;
mod values;

#[cfg(feature = "disk-index")]
pub(crate) use coarse::Copy;
pub use flat::FlatIndex;
#[cfg(feature = "disk-index")]
pub(crate) use kernel::Kernel;
pub(crate) use kernel::{LANES, Line};
pub use rows::{Rows, cosine};
pub(crate) use rows::{check_finite, norm};
#[cfg(feature = "disk-index")]
pub(crate) use signs::{BLOCK, Signs};
