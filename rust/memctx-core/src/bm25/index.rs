//! BM25 index over texts with ids.

use super::score::Statistics;
use super::texts::Texts;
use crate::text::Mode;
use crate::{Explanation, Filter, IdMap, Result, Scored};

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
/// assert_eq!(index.id_map().id(best[0].number), "d2");
/// # Ok::<(), memctx_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Bm25Index {
    texts: Texts,
    id_map: IdMap,
}

impl Bm25Index {
    /// Create an empty index that reads text in this mode.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { texts: Texts::new(mode), id_map: IdMap::default() }
    }

    /// Return the mode it reads text in.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.texts.mode()
    }

    /// Return the documents present.
    #[must_use]
    pub fn id_map(&self) -> &IdMap {
        &self.id_map
    }

    /// Add a document; one with the same id is replaced.
    pub fn add(&mut self, id: &str, text: &str, group: &str) -> Result<()> {
        self.remove(id);
        self.id_map.insert(id, group, Texts::LIMIT)?;
        self.texts.push(text)?;
        Ok(())
    }

    /// Take a document out; false if there is none of that id.
    pub fn remove(&mut self, id: &str) -> bool {
        let Some(document) = self.id_map.remove(id) else { return false };
        self.texts.remove(document);
        if self.id_map.is_sparse() {
            self.texts = self.texts.renumbered(&self.id_map.renumber());
        }
        true
    }

    /// Return the best `k` documents that share a term with the query, best first, older first among equals.
    #[must_use]
    pub fn search(&self, query: &str, k: usize, filter: Filter<'_>) -> Vec<Scored> {
        self.texts.search(query, k, self.id_map.admit(filter))
    }

    /// Return a document's score for a query, term by term; none if there is no document of that id.
    #[must_use]
    pub fn explain(&self, query: &str, id: &str) -> Option<Explanation> {
        self.id_map.number(id).map(|document| self.texts.explain(query, document))
    }

    /// Return the statistics of the whole index.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.texts.statistics()
    }
}
