//! Query evaluation with early termination.
//!
//! Terms are read one after another, the rarest first, and each adds its part to the score of every document that
//! holds it. In between, the best that all remaining terms together could still add is compared with the `k`-th best
//! score so far: once no document outside the lead can reach that score, the rest of the postings is only looked up for
//! the few remaining candidates. What is left out cannot change the answer. Often the rare terms settle the top k,
//! and then only the documents that hold one of them are ever looked at.

use rustc_hash::FxHashMap;

use super::accumulator::Accumulator;
use super::kernel::{self, Contribution};
use super::postings::List;
use super::score::{Norm, Statistics, weight};
use super::texts::Texts;
use crate::text::{Term, for_each_token, terms_into};
use crate::{Explanation, Scored, TopK};

/// Looking one document up in a list costs about as much as reading this many postings.
const MEETING_COST: usize = 48;

/// Room for rounding when bounds are compared with scores.
const ROUNDING: f64 = 1e-9;

/// A query, with what the index knows of its terms.
#[derive(Debug)]
pub(super) struct TermQuery<'a> {
    index: &'a Texts,
    statistics: Statistics,
    norm: Norm,
    /// The rarest first.
    terms: Vec<QueryTerm<'a>>,
}

#[derive(Debug)]
struct QueryTerm<'a> {
    term: Term,
    number: u32,
    list: &'a List,
    asked: Asked,
    weight: f64,
    /// The most it can add to any score.
    bound: f64,
}

/// Role of a term in a query.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) repeats: u32,
    /// Weight of a match: 1 for a word of the query itself.
    pub(super) share: f64,
    /// Number of the query word that it represents.
    pub(super) word: u32,
    /// Spelling, if it is not in the query.
    pub(super) form: Option<Box<str>>,
}

impl<'a> TermQuery<'a> {
    pub(super) fn new(index: &'a Texts, text: &str) -> Self {
        let mut tokens: Vec<Term> = Vec::new();
        terms_into(text, index.mode(), &mut tokens);
        tokens.sort_unstable();
        let asked = |same: &[Term]| Asked { repeats: same.len() as u32, share: 1.0, word: 0, form: None };
        Self::of(index, tokens.chunk_by(|a, b| a == b).map(|same| (same[0], asked(same))))
    }

    /// Return the query for terms, each of which is given once.
    pub(super) fn of(index: &'a Texts, terms: impl Iterator<Item = (Term, Asked)>) -> Self {
        let statistics = index.statistics();
        let norm = statistics.norm();
        let mut terms: Vec<QueryTerm<'a>> =
            terms.filter_map(|(term, asked)| QueryTerm::new(index, statistics, norm, term, asked)).collect();
        terms.sort_by_key(|term| (term.list.live(), term.term));
        Self { index, statistics, norm, terms }
    }

    /// Return the best `k` documents of those admitted.
    pub(super) fn best(&self, k: usize, admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        let mut accumulator = Accumulator::new(self.index.lengths.len());
        let mut unread = Unread::of(&self.terms);
        let mut floor = 0.0;
        for (at, term) in self.terms.iter().enumerate() {
            if unread.is_checkpoint_due(accumulator.checkpoint_cost(term.list.len()), floor) {
                let checkpoint = accumulator.checkpoint();
                floor = checkpoint.top_k(k, &admit).floor();
                let rest = &self.terms[at..];
                let reach = unread.bound * (1.0 + ROUNDING);
                let enough = unread.postings / (MEETING_COST * rest.len());
                if reach < floor
                    && let Some(candidates) = checkpoint.candidates(floor - reach, enough, &admit)
                {
                    return self.finish(k, rest, candidates);
                }
            }
            self.accumulate(term, &mut accumulator);
            unread.pass(term);
        }
        accumulator.best(k, admit)
    }

    /// Return the scores of all documents.
    pub(super) fn scores(&self) -> Accumulator {
        let mut accumulator = Accumulator::new(self.index.lengths.len());
        for term in &self.terms {
            self.accumulate(term, &mut accumulator);
        }
        accumulator
    }

    /// Add what one term is worth to every document that holds it.
    fn accumulate(&self, term: &QueryTerm<'_>, accumulator: &mut Accumulator) {
        let (postings, lengths) = (&self.index.postings, &self.index.lengths);
        let tf = |posting| postings.tf(term.number, posting);
        let contribution = self.contribution(term);
        if accumulator.stays_few(term.list.len()) {
            for &posting in postings.blocks(term.list).flatten() {
                let document = posting.document();
                accumulator.add(document, contribution.part(tf(posting), lengths[document as usize]));
            }
        } else {
            let scores = accumulator.all();
            for block in postings.blocks(term.list) {
                kernel::accumulate(contribution, block, lengths, scores, tf);
            }
        }
    }

    fn contribution(&self, term: &QueryTerm<'_>) -> Contribution {
        Contribution { weight: term.weight, norm: self.norm }
    }

    /// Bring the scores of a few documents up to date with the terms not read yet; who falls behind on the way is out.
    fn finish(&self, k: usize, terms: &[QueryTerm<'_>], mut candidates: Vec<Scored>) -> Vec<Scored> {
        for (at, term) in terms.iter().enumerate() {
            self.visit(term, &mut candidates, |candidate, tf| {
                candidate.score += self.contribution(term).part(tf, self.index.lengths[candidate.number as usize]);
            });
            let bound: f64 = terms[at + 1..].iter().map(|term| term.bound).sum();
            let least = best_of(k, &candidates).floor() - bound * (1.0 + ROUNDING);
            candidates.retain(|candidate| candidate.score >= least);
        }
        best_of(k, &candidates).into_sorted()
    }

    /// Call `meet` for every one of the ascending `candidates` that holds the term.
    fn visit(&self, term: &QueryTerm<'_>, candidates: &mut [Scored], mut meet: impl FnMut(&mut Scored, u32)) {
        let mut rest = candidates;
        for mut block in self.index.postings.blocks(term.list) {
            let Some(last) = block.last().map(|posting| posting.document()) else { continue };
            let inside = rest.partition_point(|candidate| candidate.number <= last);
            let (here, beyond) = rest.split_at_mut(inside);
            for candidate in here {
                block = &block[block.partition_point(|posting| posting.document() < candidate.number)..];
                if let Some(&posting) = block.first()
                    && posting.document() == candidate.number
                {
                    meet(candidate, self.index.postings.tf(term.number, posting));
                }
            }
            rest = beyond;
            if rest.is_empty() {
                return;
            }
        }
    }

    /// Return the query word of each term that some document holds, by the number of the term.
    pub(super) fn words(&self) -> FxHashMap<u32, u32> {
        self.terms.iter().map(|term| (term.number, term.asked.word)).collect()
    }

    /// Return the numbers of the terms that a document holds.
    pub(super) fn terms_of(&self, document: u32) -> impl Iterator<Item = u32> {
        self.index.contents.of(document)
    }

    /// Return the score of one document, term by term. `text` is the query's.
    pub(super) fn explain(&self, text: &str, document: u32) -> Explanation {
        let length = f64::from(self.index.lengths[document as usize]);
        let mut parts = Vec::new();
        for term in &self.terms {
            let mut candidate = [Scored { number: document, score: 0.0 }];
            self.visit(term, &mut candidate, |_, tf| {
                let token =
                    term.asked.form.as_ref().map_or_else(|| token_of(term.term, text, self.index), ToString::to_string);
                parts.push(self.statistics.explain(
                    &token,
                    &term.asked,
                    self.index.counted(term.term, term.list.live()),
                    tf,
                    length,
                ));
            });
        }
        // Not `sum()`, which starts at minus zero.
        let score = parts.iter().fold(0.0, |score, part| score + part.value);
        Explanation::of("bm25", score, parts)
    }
}

impl<'a> QueryTerm<'a> {
    /// Return a term that some document holds.
    fn new(index: &'a Texts, statistics: Statistics, norm: Norm, term: Term, asked: Asked) -> Option<Self> {
        let number = index.terms.find(term)?;
        let list = index.terms.list(number);
        let known = index.counted(term, list.live());
        if known == 0 || list.live() == 0 {
            return None;
        }
        index.postings.prepare(list);
        let weight = weight(statistics.idf(known), asked.repeats) * asked.share;
        let most = list.peak().map_or(1.0, |peak| norm.saturate(f64::from(peak), 0.0));
        Some(Self { term, number, list, asked, weight, bound: weight * most })
    }
}

/// Return the best `k` of some documents.
fn best_of(k: usize, documents: &[Scored]) -> TopK {
    let mut best = TopK::new(k);
    for &document in documents {
        best.offer(document);
    }
    best
}

/// Sums over the terms not read yet.
struct Unread {
    postings: usize,
    bound: f64,
    /// The most that the terms read so far can have given any document.
    given: f64,
}

impl Unread {
    fn of(terms: &[QueryTerm<'_>]) -> Self {
        Self {
            postings: terms.iter().map(|term| term.list.len()).sum(),
            bound: terms.iter().map(|term| term.bound).sum(),
            given: 0.0,
        }
    }

    fn pass(&mut self, term: &QueryTerm<'_>) {
        self.postings -= term.list.len();
        self.bound -= term.bound;
        self.given += term.bound;
    }

    /// Return whether the top k may be settled, and knowing so saves more than finding out, which costs as much as
    /// reading so many postings. `floor` is the `k`-th best score when it was last looked for.
    fn is_checkpoint_due(&self, cost: Option<usize>, floor: f64) -> bool {
        const GROWTH: f64 = 1.2;
        let may_be_decided = self.bound < self.given && (floor == 0.0 || self.bound < floor * GROWTH);
        may_be_decided && cost.is_some_and(|cost| self.postings > cost)
    }
}

/// Return the spelling of a term in a text.
fn token_of(term: Term, text: &str, index: &Texts) -> String {
    let mut spelling = String::new();
    for_each_token(text, index.mode(), |token| {
        if spelling.is_empty() && Term::new(token) == term {
            spelling.push_str(token);
        }
    });
    spelling
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Mode;

    /// Rare words and common ones, in queries of a few to dozens of them: some are decided by the rare words, some
    /// later, some not before the end. Reading everything is the plain way; the answers have to be the same to the last
    /// bit.
    #[test]
    fn ending_early_equals_reading_all() {
        let mut state = 7_u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut text = |words: u64| {
            let mut word = || {
                let spread = 1 << random(13);
                format!("w{}", random(spread))
            };
            (0..words).map(|_| word()).collect::<Vec<_>>().join(" ")
        };
        let mut texts = Texts::new(Mode::Memctx);
        for number in 0..4000 {
            texts.push(&text(20 + number % 30)).expect("room");
        }
        for words in (1..60).chain(1..60) {
            let asked = text(words);
            let query = TermQuery::new(&texts, &asked);
            for k in [1, 10] {
                let admit = |number: u32| !number.is_multiple_of(7);
                assert_eq!(query.best(k, admit), query.scores().best(k, admit), "{k} of {asked:?}");
            }
        }
    }
}
