//! The extension `memctx._core`: the core crate as Python sees it.
//!
//! One file for each noun. Whatever takes longer than a few microseconds or takes a lock goes through
//! [`boundary::enter_core`]; errors become Python's in [`error`]; arrays pass through [`array`].
// Arguments of Python functions are extracted by value.
#![allow(clippy::needless_pass_by_value)]

mod array;
mod bm25;
mod boundary;
mod cache;
mod captured;
mod chain;
mod conversation;
mod corrections;
mod disk_index_status;
mod embed;
mod embedding_status;
mod encoder;
mod error;
mod explanation;
mod fact;
mod fact_change;
mod fact_store;
mod flat;
mod formats;
mod fusion;
mod hash;
mod health;
mod hit;
mod importer;
mod ingest;
mod lease;
mod line_writer;
mod log_editor;
mod log_reader;
mod message_reader;
mod numbers;
mod plan;
mod prune;
mod rank;
mod recall;
mod redact;
mod replay;
mod search_filter;
mod search_hit;
mod segment;
mod static_embedder;
mod store;
mod store_options;
mod text;
mod trim;
mod validity;
mod vector_hold;
mod vmem;

/// The system's allocator takes half as long again for a turn in a process that has been running for a while.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Exports of `memctx._core`.
///
/// It needs the GIL: `cache/fingerprints.rs` walks messages without taking references, which is sound only while no
/// other thread can change them. Without this declaration `PyO3` tells a free-threaded interpreter that it may run
/// without one.
#[pyo3::pymodule(gil_used = true)]
mod _core {
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::bm25::Bm25Index;
    #[pymodule_export]
    use crate::captured::{Captured, VisibleSegments};
    #[pymodule_export]
    use crate::chain::{bind, chain, text_key};
    #[pymodule_export]
    use crate::conversation::Conversation;
    #[pymodule_export]
    use crate::corrections::Corrections;
    #[pymodule_export]
    use crate::disk_index_status::DiskIndexStatus;
    #[pymodule_export]
    use crate::embedding_status::EmbeddingStatus;
    #[pymodule_export]
    use crate::encoder::Encoder;
    #[pymodule_export]
    use crate::explanation::Explanation;
    #[pymodule_export]
    use crate::fact::{Fact, FactHit};
    #[pymodule_export]
    use crate::fact_store::FactStore;
    #[pymodule_export]
    use crate::flat::FlatIndex;
    #[pymodule_export]
    use crate::fusion::{blend, decay, mmr, normalize, threshold};
    #[pymodule_export]
    use crate::hash::HashEmbedder;
    #[pymodule_export]
    use crate::hit::Hit;
    #[pymodule_export]
    use crate::importer::Importer;
    #[pymodule_export]
    use crate::ingest::{Entity, Topics, entities, is_noise, strip_channel_prefix};
    #[pymodule_export]
    use crate::lease::Lease;
    #[pymodule_export]
    use crate::line_writer::LineWriter;
    #[pymodule_export]
    use crate::log_editor::{LogEditor, Removal, Verified};
    #[pymodule_export]
    use crate::log_reader::LogReader;
    #[pymodule_export]
    use crate::message_reader::{MessageReader, detect};
    #[pymodule_export]
    use crate::numbers::items_at;
    #[pymodule_export]
    use crate::plan::plan_facts;
    #[pymodule_export]
    use crate::prune::{Pruned, plan_prune, shorten, shorten_results};
    #[pymodule_export]
    use crate::recall::{
        Block, asks_for_many, build_block, drop_facts, is_block, parse_block, select_passages, visible,
    };
    #[pymodule_export]
    use crate::redact::{Masked, Redactor};
    #[pymodule_export]
    use crate::replay::Replay;
    #[pymodule_export]
    use crate::search_filter::SearchFilter;
    #[pymodule_export]
    use crate::search_hit::SearchHit;
    #[pymodule_export]
    use crate::segment::Segment;
    #[pymodule_export]
    use crate::static_embedder::StaticEmbedder;
    #[pymodule_export]
    use crate::text::{estimate_tokens, has_topic, query_term_hashes, term_hashes, tokenize};
    #[pymodule_export]
    use crate::trim::{Removed, Trim, most_relevant, plan_trim};
    #[pymodule_export]
    const MISSING_RESULT: &str = memctx_core::messages::MISSING_RESULT;
    #[pymodule_export]
    use crate::store::{Added, Store};
    #[pymodule_export]
    use crate::store_options::StoreOptions;
    #[pymodule_export]
    use crate::validity::{problems, repair_plan};
    #[pymodule_export]
    use crate::vector_hold::VectorHold;
    #[pymodule_export]
    use crate::vmem::{VmemReport, vmem_append, vmem_read, vmem_verify, vmem_write};
}
