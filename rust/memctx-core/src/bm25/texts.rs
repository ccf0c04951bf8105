//! Inverted index over numbered texts.

use super::background::Background;
use super::contents::Contents;
use super::postings::{MAX_DOCUMENTS, Postings};
use super::query::Query;
use super::score::Statistics;
use super::term::{Probe, TermTable, UNKNOWN};
use super::term_query::TermQuery;
use crate::text::{Mode, Term, terms_into};
use crate::{Error, Explanation, Result, Scored};

/// Texts under the numbers 0, 1, 2 … in the order they come, exact at every moment: an added text is found by the next
/// search, and counts and average length are always those of the texts present.
///
/// It does not know which numbers are still in use: searches take a test of numbers. [`super::Bm25Index`] adds
/// ids and groups.
#[derive(Debug, Default)]
pub struct Texts {
    mode: Mode,
    pub(super) terms: TermTable,
    pub(super) postings: Postings,
    /// Length in tokens by number.
    pub(super) lengths: Vec<u32>,
    pub(super) contents: Contents,
    /// Number of texts present.
    pub(super) live: usize,
    /// Their tokens.
    pub(super) tokens: u64,
    background: Option<Background>,
    scratch: Scratch,
}

/// Buffers for adding a text, allocated once.
#[derive(Debug, Default)]
struct Scratch {
    /// The terms of the text, repeats included.
    terms: Vec<Term>,
    probes: Vec<Probe>,
    numbers: Vec<u32>,
    /// The numbers of the distinct terms.
    own: Vec<u32>,
}

/// Terms that are looked up together: so many that the processor always has something to fetch, and so few that what it
/// fetched is still at hand when it is used.
const BATCH: usize = 256;

impl Texts {
    /// Numbers that can be given out.
    pub const LIMIT: usize = MAX_DOCUMENTS;

    /// Create an empty index that reads text in this mode.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Take the texts for a part of a collection: from now on its counts decide what a word tells. Words that were not
    /// counted there tell nothing, so texts are added without them.
    pub fn set_background(&mut self, background: Background) {
        self.background = Some(background);
    }

    /// Return the mode they are read in.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Return the count of numbers given out so far, used or not.
    #[must_use]
    pub fn span(&self) -> usize {
        self.lengths.len()
    }

    /// Add a text and give its number.
    pub fn push(&mut self, text: &str) -> Result<u32> {
        if self.span() >= Self::LIMIT {
            return Err(Error::Full { what: "the index", limit: Self::LIMIT });
        }
        let document = self.span() as u32;
        let mut scratch = std::mem::take(&mut self.scratch);
        terms_into(text, self.mode, &mut scratch.terms);
        let length = u32::try_from(scratch.terms.len()).unwrap_or(u32::MAX);
        if let Some(background) = &self.background {
            scratch.terms.retain(|&term| background.has_counted(term));
        }
        self.enter(document, &mut scratch);
        self.scratch = scratch.cleared();
        self.lengths.push(length);
        self.tokens += u64::from(length);
        self.live += 1;
        Ok(document)
    }

    /// Write the buffered terms into the postings of a new document.
    ///
    /// Several passes instead of one: each asks for what the next one needs, see [`TermTable::probe`].
    fn enter(&mut self, document: u32, scratch: &mut Scratch) {
        let Scratch { terms, probes, numbers, own } = scratch;
        own.clear();
        for terms in terms.chunks(BATCH) {
            probes.clear();
            probes.extend(terms.iter().map(|&term| self.terms.probe(term)));
            numbers.clear();
            numbers.extend(probes.iter().map(|&probe| self.terms.look_up(probe)));
            for (&term, number) in terms.iter().zip(&mut *numbers) {
                *number = self.terms.confirm(term, *number).unwrap_or(UNKNOWN);
                if *number != UNKNOWN {
                    self.postings.approach(self.terms.list(*number));
                }
            }
            let mut firsts = 0;
            for at in 0..numbers.len() {
                let (number, is_first) = self.note(document, terms[at], numbers[at]);
                // Written in any case and kept in some, for there is no telling which.
                numbers[firsts] = number;
                firsts += usize::from(is_first);
            }
            own.extend_from_slice(&numbers[..firsts]);
        }
        self.contents.push(own);
    }

    /// Count a term of the newest document, whose number may be unknown. Gives its number, and whether it is the first
    /// of its kind in the document.
    #[inline]
    fn note(&mut self, document: u32, term: Term, number: u32) -> (u32, bool) {
        // What was unknown when it was looked up may have come in since.
        let known = if number == UNKNOWN { self.terms.find(term) } else { Some(number) };
        let Some(number) = known else {
            let number = self.terms.next_number();
            self.terms.insert(term, self.postings.start(number, document, 1));
            return (number, true);
        };
        (number, self.postings.count(self.terms.list_mut(number), number, document))
    }

    /// Take the text of a number out of the counts. It must be present.
    pub fn remove(&mut self, number: u32) {
        for term in self.contents.of(number) {
            self.terms.list_mut(term).forget_one();
        }
        self.tokens -= u64::from(self.lengths[number as usize]);
        self.live -= 1;
    }

    /// Return the best `k` texts that share a term with the query, of those whose numbers pass the test; best first,
    /// older first among equals.
    #[must_use]
    pub fn search(&self, query: &str, k: usize, admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        TermQuery::new(self, query).best(k, admit)
    }

    /// Return the document frequency of a term; in the whole collection, if the texts are part of one.
    pub(crate) fn count(&self, term: Term) -> usize {
        self.counted(term, self.terms.find(term).map_or(0, |number| self.terms.list(number).live()))
    }

    /// [`Texts::count`] of each of many terms, looked up side by side.
    pub(super) fn counts(&self, terms: &[Term]) -> Vec<usize> {
        let mut counts = Vec::with_capacity(terms.len());
        for terms in terms.chunks(BATCH) {
            let probes: Vec<Probe> = terms.iter().map(|&term| self.terms.probe(term)).collect();
            let numbers: Vec<u32> = probes.into_iter().map(|probe| self.terms.look_up(probe)).collect();
            counts.extend(terms.iter().zip(numbers).map(|(&term, number)| {
                let known = self.terms.confirm(term, number);
                self.counted(term, known.map_or(0, |number| self.terms.list(number).live()))
            }));
        }
        counts
    }

    /// Return the document frequency of a term that `own` of the texts in memory have.
    pub(super) fn counted(&self, term: Term, own: usize) -> usize {
        self.background.as_ref().map_or(own, |background| background.count(term, own))
    }

    /// Return the numbers of the texts that have a term, ascending; those of removed texts among them.
    pub(crate) fn holders(&self, term: Term) -> impl Iterator<Item = u32> {
        let list = self.terms.find(term).map(|number| self.terms.list(number));
        list.into_iter().flat_map(|list| self.postings.blocks(list)).flatten().map(|posting| posting.document())
    }

    /// Parse a question as a person asks it: its content words, in any form.
    #[must_use]
    pub fn query<'a>(&'a self, question: &'a str) -> Query<'a> {
        Query::new(self, question)
    }

    /// Return the score of a text for a query, term by term.
    #[must_use]
    pub fn explain(&self, query: &str, number: u32) -> Explanation {
        TermQuery::new(self, query).explain(query, number)
    }

    /// Return the statistics of all texts.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let own = Statistics { documents: self.live, average_length: self.tokens as f64 / self.live.max(1) as f64 };
        self.background.as_ref().map_or(own, |background| background.statistics(own))
    }

    /// Return the same texts without the removed ones. `documents` holds the new number of each old one, ascending, or
    /// none for those that were removed.
    #[must_use]
    pub fn renumbered(&self, documents: &[Option<u32>]) -> Self {
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
        for document in (0..).zip(documents).filter_map(|(old, new)| new.map(|_| old)) {
            let mut own: Vec<u32> = self.contents.of(document).map(|term| numbers[term as usize]).collect();
            contents.push(&mut own);
        }
        let kept = self.lengths.iter().zip(documents).filter(|(_, new)| new.is_some());
        let lengths = kept.map(|(&length, _)| length).collect();
        let (mode, live, tokens) = (self.mode, self.live, self.tokens);
        Self { mode, terms, postings, lengths, contents, live, tokens, ..Self::default() }
    }
}

impl Scratch {
    /// Beyond this many terms the memory is given back after use.
    const KEPT: usize = 1 << 16;

    /// Return the empty buffers, without the memory of an unusually long text.
    fn cleared(self) -> Self {
        if self.terms.capacity() > Self::KEPT { Self::default() } else { self }
    }
}
