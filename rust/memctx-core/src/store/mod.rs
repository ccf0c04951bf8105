//! Segments on disk and in memory: nothing that was acknowledged is lost.
//!
//! `log` is the on-disk format, `warm` the tier in memory, and [`Store`] both for a session.

#[cfg(feature = "disk-index")]
mod background_searcher;
mod captured;
mod companions;
mod embed;
mod embedding;
#[cfg(feature = "disk-index")]
mod evicted;
mod follower;
mod handle;
mod health;
mod importer;
mod inner;
mod intake;
#[cfg(feature = "disk-index")]
mod late;
mod log;
mod maintenance;
#[cfg(feature = "disk-index")]
mod merged;
mod model;
mod rank;
mod search_filter;
#[cfg(feature = "disk-index")]
mod searched;
mod settings;
mod term_hashes;
mod warm;
mod write;

pub use captured::{Captured, Digests};
pub use companions::Companion;
pub use embedding::{EmbeddingStatus, VectorHold};
pub use handle::{Statistics, Store};
pub use health::{Health, Skipped};
pub use importer::Importer;
pub(crate) use inner::now;
pub use intake::{Added, Outcome, Record};
#[cfg(feature = "disk-index")]
pub(crate) use log::directory::Directory;
pub use log::editor::{LogEditor, Problem, Removal, Selection, Verified};
pub use log::fact::Fact;
pub(crate) use log::fact_log::FactLog;
pub use log::kind::LogKind;
pub use log::lease::Lease;
pub use log::line_writer::LineWriter;
#[cfg(feature = "disk-index")]
pub(crate) use log::lines::{Lines, tail};
#[cfg(feature = "disk-index")]
pub(crate) use log::metadata::Stamp;
pub use log::reader::{LogReader, Scan};
pub use log::segment::Segment;
#[cfg(feature = "disk-index")]
pub(crate) use log::vectors::{open_of as open_vectors, vector_id};
pub use model::{Maker, Model};
pub use rank::{PassageVectors, RankCandidate};
pub use search_filter::SearchFilter;
#[cfg(feature = "disk-index")]
pub use searched::{Searched, Unsearched};
pub use settings::{Durability, Settings};
pub use term_hashes::{query_term_hashes, term_hashes};
#[cfg(feature = "disk-index")]
pub(crate) use warm::passage::passages;
pub use warm::search::{Found, Ranking, Request};
pub use warm::vector_weight::VectorWeight;
