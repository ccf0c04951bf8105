//! Answering a query.
//!
//! Terms are read one after another, the rarest first, and each adds its part to the score of every document that
//! holds it. Before a term is read, the best that all remaining terms together could still add is compared with the
//! `k`-th best score so far: once no untouched document can reach that score, the rest of the postings is only
//! looked up for the few documents still in the race. What is left out cannot change the answer.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::index::Bm25Index;
use super::postings::Posting;
use super::score::{Statistics, weight};
use super::term::Term;
use crate::text::for_each_token;
use crate::{Explanation, Scored, TopK};

/// Looking for the `k`-th best score reads every score once; that pays when this many times more postings remain.
const RACE_PAYS: usize = 1;

/// Room for rounding when bounds are compared with scores.
const ROUNDING: f64 = 1e-9;

thread_local! {
    static SCORES: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// A query, with what the index knows of its terms.
#[derive(Debug)]
pub(super) struct Query<'a> {
    index: &'a Bm25Index,
    statistics: Statistics,
    /// The rarest first.
    terms: Vec<QueryTerm>,
}

#[derive(Debug)]
struct QueryTerm {
    number: u32,
    token: Box<str>,
    repeats: u32,
    weight: f64,
    /// The most it can add to any score.
    bound: f64,
}

impl<'a> Query<'a> {
    pub(super) fn new(index: &'a Bm25Index, text: &str) -> Self {
        let statistics = index.statistics();
        let norm = statistics.norm();
        let mut terms: Vec<QueryTerm> = Vec::new();
        let mut seen: FxHashMap<Term, usize> = FxHashMap::default();
        for_each_token(text, index.mode(), |token| {
            let term = Term::new(token);
            if let Some(&at) = seen.get(&term) {
                terms[at].repeats += 1;
            } else if let Some(number) = index.terms.find(term).filter(|&number| index.postings.live(number) > 0) {
                seen.insert(term, terms.len());
                terms.push(QueryTerm { number, token: token.into(), repeats: 1, weight: 0.0, bound: 0.0 });
            }
        });
        for term in &mut terms {
            let saturation = index.postings.peak(term.number).map_or(1.0, |peak| norm.saturate(f64::from(peak), 0.0));
            term.weight = weight(statistics.idf(index.postings.live(term.number)), term.repeats);
            term.bound = term.weight * saturation;
        }
        terms.sort_by_key(|term| index.postings.live(term.number));
        Self { index, statistics, terms }
    }

    /// The best `k` documents of those admitted.
    pub(super) fn best(&self, k: usize, admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        SCORES.with_borrow_mut(|scores| {
            scores.clear();
            scores.resize(self.index.lengths.len(), 0.0);
            self.race(k, scores, admit)
        })
    }

    fn race(&self, k: usize, scores: &mut [f64], admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        let mut unread = Unread::of(self);
        for (at, term) in self.terms.iter().enumerate() {
            if at > 0 && unread.postings > RACE_PAYS * scores.len() {
                let floor = leaders(k, scores, &admit).floor();
                if unread.bound * (1.0 + ROUNDING) < floor {
                    let runners = self.runners(scores, floor - unread.bound * (1.0 + ROUNDING), &admit);
                    return self.finish(k, &self.terms[at..], runners);
                }
            }
            self.accumulate(term, scores);
            unread.pass(self, term);
        }
        leaders(k, scores, &admit).into_sorted()
    }

    /// Add what one term is worth to every document that holds it.
    fn accumulate(&self, term: &QueryTerm, scores: &mut [f64]) {
        let norm = self.statistics.norm();
        let lengths = &self.index.lengths[..scores.len()];
        for block in self.index.postings.blocks(term.number) {
            for posting in block.iter().map(|&word| Posting(word)) {
                let document = posting.document() as usize;
                let tf = f64::from(self.index.postings.tf(term.number, posting));
                scores[document] += term.weight * norm.saturate(tf, lengths[document]);
            }
        }
    }

    /// Documents that have at least this score so far, ascending.
    fn runners(&self, scores: &[f64], least: f64, admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        let all = (0..).zip(scores).map(|(number, &score)| Scored { number, score });
        all.filter(|item| item.score >= least && item.score > 0.0 && admit(item.number)).collect()
    }

    /// Bring the scores of a few documents up to date with the terms not read yet.
    fn finish(&self, k: usize, terms: &[QueryTerm], mut runners: Vec<Scored>) -> Vec<Scored> {
        let norm = self.statistics.norm();
        for term in terms {
            self.visit(term.number, &mut runners, |runner, tf| {
                let length = self.index.lengths[runner.number as usize];
                runner.score += term.weight * norm.saturate(f64::from(tf), length);
            });
        }
        let mut best = TopK::new(k);
        runners.into_iter().for_each(|runner| best.offer(runner));
        best.into_sorted()
    }

    /// Call `meet` for every one of the ascending `runners` that holds the term.
    fn visit(&self, term: u32, runners: &mut [Scored], mut meet: impl FnMut(&mut Scored, u32)) {
        let mut rest = runners;
        for block in self.index.postings.blocks(term) {
            let Some(&last) = block.last() else { continue };
            let inside = rest.partition_point(|runner| runner.number <= Posting(last).document());
            let (here, beyond) = rest.split_at_mut(inside);
            let mut block = block;
            for runner in here {
                let at = block.partition_point(|&word| Posting(word).document() < runner.number);
                block = &block[at..];
                if let Some(posting) = block.first().map(|&word| Posting(word))
                    && posting.document() == runner.number
                {
                    meet(runner, self.index.postings.tf(term, posting));
                }
            }
            rest = beyond;
            if rest.is_empty() {
                return;
            }
        }
    }

    /// The score of one document, term by term.
    pub(super) fn explain(&self, document: u32) -> Explanation {
        let length = self.index.lengths[document as usize];
        let mut parts = Vec::new();
        let mut score = 0.0;
        for term in &self.terms {
            let mut runner = [Scored { number: document, score: 0.0 }];
            self.visit(term.number, &mut runner, |_, tf| {
                let documents_with = self.index.postings.live(term.number);
                parts.push(self.statistics.explain(&term.token, term.repeats, documents_with, tf, length));
            });
        }
        for part in &parts {
            score += part.value;
        }
        Explanation::of("bm25", score, parts)
    }
}

/// What the terms not read yet amount to.
struct Unread {
    postings: usize,
    bound: f64,
}

impl Unread {
    fn of(query: &Query<'_>) -> Self {
        Self {
            postings: query.terms.iter().map(|term| query.index.postings.len(term.number)).sum(),
            bound: query.terms.iter().map(|term| term.bound).sum(),
        }
    }

    fn pass(&mut self, query: &Query<'_>, term: &QueryTerm) {
        self.postings -= query.index.postings.len(term.number);
        self.bound -= term.bound;
    }
}

/// The best `k` of the scores above zero.
fn leaders(k: usize, scores: &[f64], admit: impl Fn(u32) -> bool) -> TopK {
    const STRIDE: usize = 32;
    let mut best = TopK::new(k);
    let mut floor = best.floor().max(0.0);
    for (stride, chunk) in scores.chunks(STRIDE).enumerate() {
        let highest = chunk.iter().fold(0.0, |high: f64, &score| if score > high { score } else { high });
        if highest <= floor {
            continue;
        }
        for (number, &score) in (stride * STRIDE..).zip(chunk) {
            let number = number as u32;
            if score > floor && admit(number) {
                best.offer(Scored { number, score });
                floor = best.floor().max(0.0);
            }
        }
    }
    best
}
