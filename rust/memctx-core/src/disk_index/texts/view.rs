//! Searchable snapshot of one commit.

use std::path::PathBuf;
use std::sync::Arc;

use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, BoostQuery, ConstScoreQuery, EnableScoring, Occur, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Searcher, Term};

use super::fault::guarded;
use super::schema::Fields;
use super::shard::{Admit, Shard};
use crate::bm25::Statistics;
use crate::{Result, Scored, TopK};

/// The texts of one commit. It stays as it is, whatever is written or deleted meanwhile.
pub(in crate::disk_index) struct TextView {
    pub(super) folder: PathBuf,
    pub(super) fields: Fields,
    pub(super) shards: Vec<Arc<Shard>>,
    pub(super) payload: String,
    /// Tells queries the schema. It has no documents.
    pub(super) schema: Searcher,
}

/// A session with less than one of so many documents is read by itself; else all are read and the others left out.
const NARROW: usize = 16;

impl TextView {
    /// Return the payload that was committed with the texts.
    pub(in crate::disk_index) fn payload(&self) -> &str {
        &self.payload
    }

    /// Return the statistics of all texts.
    pub(in crate::disk_index) fn statistics(&self) -> Statistics {
        let documents = self.documents();
        Statistics { documents, average_length: self.tokens() as f64 / documents.max(1) as f64 }
    }

    /// Return the number of passages with a token; 0 if that cannot be read.
    pub(in crate::disk_index) fn count(&self, token: &str) -> usize {
        guarded(&self.folder, || self.holders(&self.word(token))).unwrap_or(0)
    }

    /// The best `k` passages that have one of the words, are of the session and pass the test, by row; best first, older
    /// first among equals. A word counts as much as its weight says. The test knows the session, too.
    pub(in crate::disk_index) fn best(
        &self,
        words: &[(String, f64)],
        k: usize,
        session: Option<u32>,
        admit: Admit<'_>,
    ) -> Result<Vec<Scored>> {
        if k == 0 {
            return Ok(Vec::new());
        }
        guarded(&self.folder, || {
            let scoring = EnableScoring::enabled_from_statistics_provider(self, &self.schema);
            let weight = self.query(words, session)?.weight(scoring)?;
            let mut best = TopK::new(k);
            for shard in &self.shards {
                shard.collect(weight.as_ref(), admit, &mut best)?;
            }
            Ok(best.into_sorted())
        })
    }

    fn query(&self, words: &[(String, f64)], session: Option<u32>) -> tantivy::Result<BooleanQuery> {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::with_capacity(words.len() + 1);
        for (token, weight) in words.iter().filter(|(_, weight)| *weight > 0.0) {
            let word = Box::new(TermQuery::new(self.word(token), IndexRecordOption::WithFreqs));
            clauses.push((Occur::Should, Box::new(BoostQuery::new(word, *weight as f32))));
        }
        // With words alone each of them is optional, which is what makes tantivy skip what cannot be among the best,
        // even if there is but one of them.
        let mut required = 0;
        if let Some(session) = session.map(|session| Term::from_field_u64(self.fields.session, session.into()))
            && self.holders(&session)? * NARROW < self.documents()
        {
            let session = Box::new(TermQuery::new(session, IndexRecordOption::Basic));
            clauses.push((Occur::Must, Box::new(ConstScoreQuery::new(session, 0.0))));
            required = 1;
        }
        Ok(BooleanQuery::with_minimum_required_clauses(clauses, required))
    }

    fn word(&self, token: &str) -> Term {
        Term::from_field_text(self.fields.text, token)
    }

    fn documents(&self) -> usize {
        self.shards.iter().map(|shard| shard.documents()).sum()
    }

    fn tokens(&self) -> u64 {
        self.shards.iter().map(|shard| shard.tokens()).sum()
    }

    fn holders(&self, term: &Term) -> tantivy::Result<usize> {
        self.shards.iter().map(|shard| shard.count(term)).sum()
    }
}

/// Tantivy would count removed documents until it merges.
impl Bm25StatisticsProvider for TextView {
    fn total_num_tokens(&self, _: Field) -> tantivy::Result<u64> {
        Ok(self.tokens())
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.documents() as u64)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.holders(term)? as u64)
    }
}
