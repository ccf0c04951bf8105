//! The engine of memctx: how text is read, indexed, ranked and kept, with no knowledge of Python.
#![deny(unsafe_code)]

mod blocks;
pub mod bm25;
#[cfg(feature = "cold")]
pub mod cold;
mod error;
mod explanation;
mod file;
pub mod fusion;
pub mod ingest;
pub mod knowledge;
mod pages;
mod prefetch;
pub mod prune;
pub mod recall;
mod roster;
pub mod scan;
pub mod store;
pub mod text;
mod topk;
pub mod trim;
pub mod vector;
pub mod vmem;

pub use error::{Error, Result};
pub use explanation::Explanation;
pub use pages::ask_for_large_pages;
pub use prefetch::prefetch;
pub use roster::{Filter, Roster};
pub use topk::{Scored, TopK};
