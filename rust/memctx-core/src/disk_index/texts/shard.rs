//! Reader of one tantivy segment.

use std::sync::Arc;

use tantivy::columnar::ColumnValues;
use tantivy::index::{Segment, SegmentComponent, SegmentId, SegmentMeta};
use tantivy::query::Weight;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, SegmentReader, TERMINATED, Term};

use super::schema::{LENGTH, ROLE, ROW, SESSION, TIME, TOPICS};
use crate::disk_index::filter::Filter;
use crate::{Scored, TopK};

type Column<T> = Arc<dyn ColumnValues<T>>;

/// A part that was written at once, and never changes but for documents that are taken out.
pub(super) struct Shard {
    version: Version,
    reader: SegmentReader,
    rows: Column<u64>,
    sessions: Column<u64>,
    roles: Column<u64>,
    topics: Column<u64>,
    times: Column<f64>,
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
        let lengths: Column<u64> = columns.column_first_or_default(LENGTH)?;
        let removed: Vec<DocId> = match reader.alive_bitset() {
            Some(alive) => (0..reader.max_doc()).filter(|&document| alive.is_deleted(document)).collect(),
            None => Vec::new(),
        };
        let tokens = lengths.iter().sum::<u64>() - removed.iter().map(|&gone| lengths.get_val(gone)).sum::<u64>();
        Ok(Self {
            version: version(segment.meta()),
            rows: columns.column_first_or_default(ROW)?,
            sessions: columns.column_first_or_default(SESSION)?,
            roles: columns.column_first_or_default(ROLE)?,
            topics: columns.column_first_or_default(TOPICS)?,
            times: columns.column_first_or_default(TIME)?,
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

    /// Offer the documents that pass the filter and may be among the best.
    pub(super) fn collect(&self, weight: &dyn Weight, filter: &Filter, best: &mut TopK) -> tantivy::Result<()> {
        if !self.may_have(filter) {
            return Ok(());
        }
        let is_open = filter.is_open();
        weight.for_each_pruning(threshold(best), &self.reader, &mut |document, score| {
            if self.is_present(document) && (is_open || self.admits(filter, document)) {
                best.offer(Scored { number: self.rows.get_val(document) as u32, score: f64::from(score) });
            }
            threshold(best)
        })
    }

    /// Return whether any document may be of the time that is wanted.
    fn may_have(&self, filter: &Filter) -> bool {
        filter.since.is_none_or(|since| self.times.max_value() >= since)
            && filter.until.is_none_or(|until| self.times.min_value() <= until)
    }

    fn is_present(&self, document: DocId) -> bool {
        self.reader.alive_bitset().is_none_or(|alive| alive.is_alive(document))
    }

    /// Return whether a filter admits a document, as [`Filter::admits`] does for a passage, reading only the columns
    /// asked for.
    fn admits(&self, filter: &Filter, document: DocId) -> bool {
        filter.session.is_none_or(|session| session == self.sessions.get_val(document))
            && filter.roles.as_ref().is_none_or(|roles| roles.contains(&(self.roles.get_val(document) as u32)))
            && filter.topics.is_none_or(|topics| topics & self.topics.get_val(document) != 0)
            && (filter.since.is_none() && filter.until.is_none() || self.is_of_time(filter, document))
            && (filter.hidden.is_empty() || !filter.hidden.contains(&(self.rows.get_val(document) as u32)))
    }

    fn is_of_time(&self, filter: &Filter, document: DocId) -> bool {
        let time = self.times.get_val(document);
        filter.since.is_none_or(|since| time >= since) && filter.until.is_none_or(|until| time <= until)
    }
}

/// Return the score above which a document has a chance. One that equals the last of the best has it, too: its row may
/// be lower.
fn threshold(best: &TopK) -> f32 {
    (best.floor() as f32).next_down()
}
