//! Statistics of a larger collection that some texts were taken from.

use rustc_hash::FxHashMap;

use super::score::Statistics;
use crate::text::Term;

/// Counts of all texts of a collection, for a few of them: what a word tells depends on all texts, not on those at
/// hand.
#[derive(Clone, Debug)]
pub struct Background {
    statistics: Statistics,
    counts: FxHashMap<Term, usize>,
}

impl Background {
    /// Create a collection in which no word was counted yet.
    #[must_use]
    pub fn new(statistics: Statistics) -> Self {
        Self { statistics, counts: FxHashMap::default() }
    }

    /// Note how many texts of the collection have a word.
    pub fn note(&mut self, token: &str, texts: usize) {
        self.counts.insert(Term::new(token), texts);
    }

    /// Return the statistics of the collection, which has no fewer texts than are in memory.
    pub(super) fn statistics(&self, own: Statistics) -> Statistics {
        let documents = self.statistics.documents.max(own.documents);
        Statistics { documents, ..self.statistics }
    }

    /// Return whether it was noted how many texts have a term.
    pub(super) fn has_counted(&self, term: Term) -> bool {
        self.counts.contains_key(&term)
    }

    /// Return the document frequency of a term, `own` of which are in memory; 0 if it was not counted.
    pub(super) fn count(&self, term: Term, own: usize) -> usize {
        self.counts.get(&term).map_or(0, |&counted| counted.max(own))
    }
}
