//! The text that the benchmarks run on: conversation segments made from a seed, the same on every machine.
//!
//! ```
//! use memctx_benches::{Corpus, Kind};
//!
//! let corpus = Corpus::new(7);
//! let segment = corpus.segment(0);
//! assert!((500..=2000).contains(&segment.text.chars().count()));
//! assert_eq!(segment.text, Corpus::new(7).segment(0).text);
//! assert!(corpus.text(Kind::Code, 0).contains('('));
//! ```

mod corpus;
mod lexicon;
mod prose;
mod rng;
mod vectors;

pub use corpus::{Corpus, Query, Segment};
pub use prose::Kind;
pub use vectors::unit_vectors;
