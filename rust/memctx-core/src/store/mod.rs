//! Segments on disk and in memory: nothing that was acknowledged is lost.

mod candidates;
mod centre;
mod cold_store;
mod directory;
mod election;
mod embed;
mod embedding;
mod entry;
mod fact;
mod fact_log;
mod following;
mod health;
mod inner;
mod intake;
#[cfg(feature = "cold")]
mod joined;
mod lines;
mod lock;
mod log;
mod matching;
mod model;
mod names;
#[cfg(feature = "cold")]
mod older;
mod passage;
mod quoted;
mod scale;
mod seal;
mod search;
#[cfg(feature = "cold")]
mod seeker;
mod segment;
mod settings;
mod snapshot;
mod stamp;
mod tidy;
mod vectors;
mod warm;
mod warm_store;
mod worth;
mod write;

pub use cold_store::{ColdStore, Scan, Wanted};
#[cfg(feature = "cold")]
pub(crate) use directory::{Directory, INDEX};
#[cfg(feature = "cold")]
pub(crate) use election::{Elected, elect};
pub use embedding::EmbeddingStatus;
pub use fact::Fact;
pub(crate) use fact_log::FactLog;
pub use health::{Health, Skipped};
pub(crate) use inner::now;
pub use intake::{Added, Outcome, Record};
#[cfg(feature = "cold")]
pub(crate) use lines::Lines;
pub use model::{Maker, Model};
#[cfg(feature = "cold")]
pub(crate) use passage::passages;
pub use search::{Found, Ranking, Request};
pub use segment::Segment;
pub use settings::{Durability, Settings};
#[cfg(feature = "cold")]
pub(crate) use snapshot::tail;
#[cfg(feature = "cold")]
pub(crate) use stamp::Stamp;
#[cfg(feature = "cold")]
pub(crate) use vectors::open_of as open_vectors;
#[cfg(feature = "cold")]
pub(crate) use warm::vector_id;
pub use warm_store::{Statistics, WarmStore};
pub use worth::Worth;

/// The log of segments.
const SEGMENTS: &str = "segments.jsonl";
