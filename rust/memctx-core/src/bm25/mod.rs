//! Text search: an inverted index in memory that is exact at every moment.

mod accumulator;
mod background;
mod contents;
mod index;
mod kernel;
mod postings;
mod query;
mod saved;
mod score;
mod term;
mod term_query;
mod texts;
#[cfg(feature = "disk-index")]
mod wording;

pub use accumulator::Accumulator;
pub use background::Background;
pub use index::Bm25Index;
pub(crate) use query::for_each_lookup;
pub use query::{Cover, Query};
pub(crate) use score::weight;
pub use score::{B, K1, Statistics};
pub use texts::Texts;
#[cfg(feature = "disk-index")]
pub(crate) use wording::Wording;
