//! The index itself: documents in, documents out.

use super::postings::{MAX_DOCUMENTS, Postings};
use super::query::Query;
use super::score::Statistics;
use super::term::{Bag, Probe, TermTable};
use crate::text::{Mode, Term, for_each_token};
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
    /// Length in tokens by document number.
    pub(super) lengths: Vec<u32>,
    roster: Roster,
    tokens: u64,
    contents: Contents,
    /// What adding a document needs, kept to be allocated once.
    bag: Bag,
    probes: Vec<Probe>,
}

/// Stands for the number of a term that is new.
const UNKNOWN: u32 = u32::MAX;

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
        self.bag.clear();
        for_each_token(text, self.mode, |token| self.bag.count(Term::new(token)));
        self.enter(document);
        self.lengths.push(self.bag.tokens());
        self.tokens += u64::from(self.bag.tokens());
        Ok(())
    }

    /// Write the bag's terms into the postings of a new document.
    ///
    /// Three passes instead of one: each touches memory at random places, and a pass that does little else lets the
    /// processor fetch many of them at a time.
    fn enter(&mut self, document: u32) {
        let terms = self.bag.terms();
        self.probes.clear();
        self.probes.extend(terms.iter().map(|&(term, _)| self.terms.probe(term)));
        let start = self.contents.terms.len();
        let number = |(&(term, _), &probe)| self.terms.follow(term, probe).unwrap_or(UNKNOWN);
        self.contents.terms.extend(terms.iter().zip(&self.probes).map(number));
        for (&(term, tf), number) in terms.iter().zip(&mut self.contents.terms[start..]) {
            if *number == UNKNOWN {
                *number = self.terms.next_number();
                self.terms.insert(term, self.postings.start(*number, document, tf));
            } else {
                self.postings.push(self.terms.list_mut(*number), *number, document, tf);
            }
        }
        self.contents.ends.push(self.contents.terms.len());
    }

    /// Take a document out; false if there is none of that id.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(document) = self.roster.remove(id) else { return false };
        for &term in self.contents.of(document) {
            self.terms.list_mut(term).forget_one();
        }
        self.tokens -= u64::from(self.lengths[document as usize]);
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
        Query::new(self, query).best(k, |document| self.roster.is_used(document) && admit(document))
    }

    /// A document's score for a query, term by term; none if there is no document of that id.
    #[must_use]
    pub fn explain(&self, query: &str, id: &str) -> Option<Explanation> {
        self.roster.number(id).map(|document| Query::new(self, query).explain(query, document))
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
        for (old, term, list) in self.terms.iter().filter(|(_, _, list)| list.live() > 0) {
            let new = terms.next_number();
            numbers[old as usize] = new;
            let mut renumbered = None;
            for &posting in self.postings.blocks(list).flatten() {
                let Some(document) = documents[posting.document() as usize] else { continue };
                let tf = self.postings.tf(old, posting);
                match &mut renumbered {
                    Some(list) => postings.push(list, new, document, tf),
                    None => renumbered = Some(postings.start(new, document, tf)),
                }
            }
            if let Some(list) = renumbered {
                terms.insert(term, list);
            }
        }
        let mut contents = Contents::default();
        for document in (0..).zip(&documents).filter_map(|(old, new)| new.map(|_| old)) {
            contents.push(self.contents.of(document).iter().map(|&term| numbers[term as usize]));
        }
        let mut document = documents.iter();
        self.lengths.retain(|_| document.next().is_some_and(Option::is_some));
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
