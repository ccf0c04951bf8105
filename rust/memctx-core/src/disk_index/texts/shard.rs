//! Reader of one tantivy segment.

use std::sync::Arc;

use tantivy::columnar::ColumnValues;
use tantivy::index::{Segment, SegmentComponent, SegmentId, SegmentMeta};
use tantivy::query::Weight;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, SegmentReader, TERMINATED, Term};

use super::schema::{LENGTH, ROW};
use crate::{Scored, TopK};

type Column = Arc<dyn ColumnValues<u64>>;

/// Test of the rows that a search may return.
pub(super) type Admit<'a> = &'a dyn Fn(u32) -> bool;

/// A part that was written at once, and never changes but for documents that are taken out.
pub(super) struct Shard {
    version: Version,
    reader: SegmentReader,
    rows: Column,
    /// The documents that were taken out, ascending.
    removed: Vec<DocId>,
    /// Length of all others.
    tokens: u64,
}

/// Tells whether a shard is still the same.
pub(super) type Version = (SegmentId, Option<u64>);

/// Return the version that a commit names.
pub(super) fn version(meta: &SegmentMeta) -> Version {
    (meta.id(), meta.delete_opstamp())
}

impl Shard {
    pub(super) fn open(segment: &Segment) -> tantivy::Result<Self> {
        // Tantivy does without this file if it is missing, until it is read. A merge may delete it at any moment; once
        // read, it is found again.
        let _positions = segment.open_read(SegmentComponent::Positions)?;
        let reader = SegmentReader::open(segment)?;
        let columns = reader.fast_fields();
        let lengths: Column = columns.column_first_or_default(LENGTH)?;
        let removed: Vec<DocId> = match reader.alive_bitset() {
            Some(alive) => (0..reader.max_doc()).filter(|&document| alive.is_deleted(document)).collect(),
            None => Vec::new(),
        };
        let tokens = lengths.iter().sum::<u64>() - removed.iter().map(|&gone| lengths.get_val(gone)).sum::<u64>();
        Ok(Self {
            version: version(segment.meta()),
            rows: columns.column_first_or_default(ROW)?,
            removed,
            tokens,
            reader,
        })
    }

    pub(super) fn version(&self) -> Version {
        self.version
    }

    pub(super) fn documents(&self) -> usize {
        self.reader.num_docs() as usize
    }

    pub(super) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Return the document frequency of a term.
    pub(super) fn count(&self, term: &Term) -> tantivy::Result<usize> {
        let index = self.reader.inverted_index(term.field())?;
        let Some(found) = index.get_term_info(term)? else { return Ok(0) };
        let holders = found.doc_freq as usize;
        if self.removed.is_empty() {
            return Ok(holders);
        }
        let mut postings = index.read_postings_from_terminfo(&found, IndexRecordOption::Basic)?;
        if holders < self.removed.len() {
            let mut present = 0;
            while postings.doc() != TERMINATED {
                present += usize::from(self.is_present(postings.doc()));
                postings.advance();
            }
            return Ok(present);
        }
        let mut has = |document| {
            let at = postings.doc();
            if at < document { postings.seek(document) == document } else { at == document }
        };
        let gone = self.removed.iter().filter(|&&document| has(document)).count();
        Ok(holders - gone)
    }

    /// Offer the documents that pass the test and may be among the best.
    pub(super) fn collect(&self, weight: &dyn Weight, admit: Admit<'_>, best: &mut TopK) -> tantivy::Result<()> {
        weight.for_each_pruning(threshold(best), &self.reader, &mut |document, score| {
            let number = self.rows.get_val(document) as u32;
            if self.is_present(document) && admit(number) {
                best.offer(Scored { number, score: f64::from(score) });
            }
            threshold(best)
        })
    }

    fn is_present(&self, document: DocId) -> bool {
        self.reader.alive_bitset().is_none_or(|alive| alive.is_alive(document))
    }
}

/// Return the score above which a document has a chance. One that equals the last of the best has it, too: its row may
/// be lower.
fn threshold(best: &TopK) -> f32 {
    (best.floor() as f32).next_down()
}
