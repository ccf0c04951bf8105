//! Writer of the text index.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use tantivy::columnar::ColumnValues as _;
use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, UserOperation};
use tantivy::query::doc_predicate_query::{DocPredicateQuery, FunctionPredicate};
use tantivy::{DocId, Index, IndexWriter, SegmentReader, TantivyDocument, TantivyError};

use super::analyzer::Tokens;
use super::fault::guarded;
use super::schema::{Fields, ROW};
use crate::Result;

/// Memory for new documents before they are written as a segment.
const MEMORY: usize = 64 << 20;

/// From this share of removed documents on a part is rewritten.
const REMOVED: f32 = 0.2;
/// Parts of about the same size that are merged while more is added: many, as each merge writes them again.
const TOGETHER: usize = 32;
/// Documents that are handed to the writing thread at a time, since waking it takes longer than writing one.
const HANDED: usize = 64;

/// The one who adds texts. What was not committed is lost with it.
pub(in crate::disk_index) struct TextWriter {
    folder: PathBuf,
    fields: Fields,
    index: Index,
    writer: IndexWriter,
    /// Documents to be handed to the writing thread.
    pending: Vec<UserOperation>,
}

impl TextWriter {
    pub(super) fn new(folder: &Path, index: &Index, fields: Fields) -> Result<Self> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(MEMORY)
            .build();
        let writer = guarded(folder, || index.writer_with_options(options))?;
        let mut merges = LogMergePolicy::default();
        merges.set_del_docs_ratio_before_merge(REMOVED);
        merges.set_min_num_segments(TOGETHER);
        writer.set_merge_policy(Box::new(merges));
        Ok(Self { folder: folder.to_owned(), fields, index: index.clone(), writer, pending: Vec::new() })
    }

    /// Add the text of a passage of a segment, in a session.
    pub(in crate::disk_index) fn add(&mut self, row: u32, session: u32, text: &str) -> Result<()> {
        let Self { fields, .. } = self;
        let tokens = Tokens::of(text);
        let mut document = TantivyDocument::default();
        document.add_text(fields.text, tokens.joined);
        document.add_u64(fields.row, u64::from(row));
        document.add_u64(fields.length, tokens.count);
        document.add_u64(fields.session, session.into());
        self.pending.push(UserOperation::Add(document));
        if self.pending.len() == HANDED { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        guarded(&self.folder, || self.writer.run(pending).map(drop))
    }

    /// Take out passages that were added before, by their rows. Every part is looked through, so this is for many at once.
    pub(in crate::disk_index) fn remove(&mut self, rows: FxHashSet<u32>) -> Result<()> {
        self.hand_over()?;
        let rows = Arc::new(rows);
        let within = move |part: &SegmentReader| {
            let (rows, numbers) = (Arc::clone(&rows), part.fast_fields().column_first_or_default::<u64>(ROW)?);
            Ok(move |document: DocId| rows.contains(&(numbers.get_val(document) as u32)))
        };
        let query = DocPredicateQuery::from(FunctionPredicate::from(within));
        guarded(&self.folder, || self.writer.delete_query(Box::new(query)).map(drop))
    }

    /// Put everything so far on disk, together with the payload: from now on both are there, whatever happens.
    pub(in crate::disk_index) fn commit(&mut self, payload: &str) -> Result<()> {
        self.hand_over()?;
        guarded(&self.folder, || {
            let mut commit = self.writer.prepare_commit()?;
            commit.set_payload(payload);
            commit.commit().map(drop)
        })
    }

    /// Merge small parts into larger ones, since a query looks each word up in every part. Afterwards each is larger than
    /// all smaller ones together, so that what is added later makes no one write everything again.
    pub(in crate::disk_index) fn merge(&mut self) -> Result<()> {
        let mut parts = guarded(&self.folder, || self.index.searchable_segment_metas())?;
        parts.sort_by_key(SegmentMeta::num_docs);
        let mut smaller = 0;
        let mut merged = 0;
        for (part, number) in parts.iter().zip(1..) {
            if part.num_docs() <= smaller {
                merged = number;
            }
            smaller += part.num_docs();
        }
        if merged < 2 {
            return Ok(());
        }
        // Files of parts that are known to someone are not deleted.
        let ids: Vec<SegmentId> = parts.into_iter().take(merged).map(|part| part.id()).collect();
        guarded(&self.folder, || {
            match self.writer.merge(&ids).wait() {
                // Tantivy was merging some of them by itself, and was done first.
                Err(TantivyError::InvalidArgument(_)) => Ok(()),
                merged => merged.and_then(|_| self.writer.garbage_collect_files().wait().map(drop)),
            }
        })
    }

    /// Merge, and wait until nothing is left to be merged.
    pub(in crate::disk_index) fn finish(mut self) -> Result<()> {
        self.merge()?;
        let Self { folder, writer, .. } = self;
        guarded(&folder, || writer.wait_merging_threads())
    }
}
