//! The index itself: documents in, documents out.

use super::postings::{MAX_DOCUMENTS, Posting, Postings};
use super::query::Query;
use super::score::Statistics;
use super::term::{Term, TermTable};
use crate::text::{Mode, for_each_token};
use crate::{Explanation, Filter, Result, Roster, Scored};

/// A text index in memory that is exact at every moment: an added document is found by the next search, and counts
/// and average length are always those of the documents present.
///
/// ```
/// use memctx_core::{Filter, bm25::Bm25Index, text::Mode};
///
/// let mut index = Bm25Index::new(Mode::Memctx);
/// index.add("d1", "the quick brown fox", "")?;
/// index.add("d2", "quick quick red fox jumps", "")?;
/// let best = index.search("quick fox", 1, Filter::default());
/// assert_eq!(index.roster().id(best[0].number), "d2");
/// # Ok::<(), memctx_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Bm25Index {
    mode: Mode,
    pub(super) terms: TermTable,
    pub(super) postings: Postings,
    /// Length in tokens by document number; infinite for a removed one, which takes its score to zero.
    pub(super) lengths: Vec<f64>,
    roster: Roster,
    tokens: u64,
    contents: Contents,
    /// The terms of the document being added, kept to be allocated once.
    scratch: Vec<Term>,
}

/// The distinct terms of each document, so that removing one can correct the counts.
#[derive(Debug, Default)]
struct Contents {
    terms: Vec<u32>,
    ends: Vec<usize>,
}

impl Bm25Index {
    /// An empty index that reads text in this mode.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// The mode it reads text in.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The documents present.
    #[must_use]
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Add a document; one with the same id is replaced.
    pub fn add(&mut self, id: &str, text: &str, group: &str) -> Result<()> {
        self.remove(id);
        let document = self.roster.insert(id, group, MAX_DOCUMENTS)?;
        self.scratch.clear();
        let scratch = &mut self.scratch;
        for_each_token(text, self.mode, |token| scratch.push(Term::new(token)));
        for &term in &self.scratch {
            let number = self.terms.number(term);
            if self.postings.push(number, document) {
                self.contents.terms.push(number);
            }
        }
        self.contents.ends.push(self.contents.terms.len());
        self.lengths.push(self.scratch.len() as f64);
        self.tokens += self.scratch.len() as u64;
        Ok(())
    }

    /// Take a document out; false if there is none of that id.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(document) = self.roster.remove(id) else { return false };
        for &term in self.contents.of(document) {
            self.postings.forget_one(term);
        }
        let length = std::mem::replace(&mut self.lengths[document as usize], f64::INFINITY);
        self.tokens -= length as u64;
        if self.roster.is_sparse() {
            self.compact();
        }
        true
    }

    /// The best `k` documents that share a term with the query, best first, older first among equals.
    #[must_use]
    pub fn search(&self, query: &str, k: usize, filter: Filter<'_>) -> Vec<Scored> {
        Query::new(self, query).best(k, self.roster.admit(filter))
    }

    /// [`Bm25Index::search`] over the documents whose numbers pass a test.
    #[must_use]
    pub fn search_where(&self, query: &str, k: usize, admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        Query::new(self, query).best(k, admit)
    }

    /// A document's score for a query, term by term; none if there is no document of that id.
    #[must_use]
    pub fn explain(&self, query: &str, id: &str) -> Option<Explanation> {
        self.roster.number(id).map(|document| Query::new(self, query).explain(document))
    }

    /// What the formula needs to know of the whole index.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let documents = self.roster.len();
        Statistics { documents, average_length: self.tokens as f64 / documents.max(1) as f64 }
    }

    /// Drop the postings of removed documents and number documents and terms anew.
    fn compact(&mut self) {
        let documents = self.roster.renumber();
        let mut terms = TermTable::default();
        let mut postings = Postings::default();
        let mut numbers = vec![0; self.terms.len()];
        for (old, term) in (0..).zip(self.terms.iter()).filter(|&(old, _)| self.postings.live(old) > 0) {
            let new = terms.number(term);
            numbers[old as usize] = new;
            for posting in self.postings.blocks(old).flatten().map(|&word| Posting(word)) {
                if let Some(document) = documents[posting.document() as usize] {
                    postings.restore(new, document, self.postings.tf(old, posting));
                }
            }
        }
        let mut contents = Contents::default();
        for document in (0..).zip(&documents).filter_map(|(old, new)| new.map(|_| old)) {
            contents.push(self.contents.of(document).iter().map(|&term| numbers[term as usize]));
        }
        self.lengths.retain(|length| length.is_finite());
        (self.terms, self.postings, self.contents) = (terms, postings, contents);
    }
}

impl Contents {
    fn push(&mut self, terms: impl Iterator<Item = u32>) {
        self.terms.extend(terms);
        self.ends.push(self.terms.len());
    }

    fn of(&self, document: u32) -> &[u32] {
        let document = document as usize;
        let start = if document == 0 { 0 } else { self.ends[document - 1] };
        &self.terms[start..self.ends[document]]
    }
}
