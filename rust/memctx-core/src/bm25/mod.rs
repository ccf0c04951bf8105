//! Text search: an inverted index in memory that is exact at every moment.

mod accumulator;
mod background;
mod index;
mod kernel;
mod postings;
mod query;
mod question;
mod saved;
mod score;
mod term;
mod texts;
#[cfg(feature = "cold")]
mod wording;

pub use accumulator::Accumulator;
pub use background::Background;
pub use index::Bm25Index;
pub use question::{Cover, Question};
pub(crate) use score::weight;
pub use score::{B, K1, Statistics};
pub use texts::Texts;
#[cfg(feature = "cold")]
pub(crate) use wording::Wording;
