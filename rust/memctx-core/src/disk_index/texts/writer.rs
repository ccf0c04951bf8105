//! Writer of the text index.

use std::path::{Path, PathBuf};

use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

use super::analyzer::Tokens;
use super::fault::guarded;
use super::schema::Fields;
use crate::Result;
use crate::disk_index::passage::Passage;

/// Memory for new documents before they are written as a segment.
const MEMORY: usize = 64 << 20;

/// From this share of removed documents on a part is rewritten.
const REMOVED: f32 = 0.2;

/// The one who adds texts. What was not committed is lost with it.
pub(in crate::disk_index) struct TextWriter {
    folder: PathBuf,
    fields: Fields,
    writer: IndexWriter,
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
        writer.set_merge_policy(Box::new(merges));
        Ok(Self { folder: folder.to_owned(), fields, writer })
    }

    /// Add the text of a passage.
    pub(in crate::disk_index) fn add(&mut self, row: u32, passage: &Passage, text: &str) -> Result<()> {
        let Self { fields, .. } = self;
        let tokens = Tokens::of(text);
        let mut document = TantivyDocument::default();
        document.add_text(fields.text, tokens.joined);
        document.add_u64(fields.row, u64::from(row));
        document.add_u64(fields.length, tokens.count);
        document.add_u64(fields.key, passage.key);
        document.add_u64(fields.session, passage.session);
        document.add_u64(fields.role, u64::from(passage.role));
        document.add_u64(fields.topics, passage.topics);
        document.add_f64(fields.time, passage.timestamp);
        guarded(&self.folder, || self.writer.add_document(document).map(drop))
    }

    /// Take out all passages of a segment that were added before.
    pub(in crate::disk_index) fn remove(&mut self, key: u64) -> Result<()> {
        guarded(&self.folder, || {
            self.writer.delete_term(Term::from_field_u64(self.fields.key, key));
            Ok(())
        })
    }

    /// Put everything so far on disk, together with the payload: from now on both are there, whatever happens.
    pub(in crate::disk_index) fn commit(&mut self, payload: &str) -> Result<()> {
        guarded(&self.folder, || {
            let mut commit = self.writer.prepare_commit()?;
            commit.set_payload(payload);
            commit.commit().map(drop)
        })
    }

    /// Wait until nothing is left to be merged.
    pub(in crate::disk_index) fn finish(self) -> Result<()> {
        let Self { folder, writer, .. } = self;
        guarded(&folder, || writer.wait_merging_threads())
    }
}
