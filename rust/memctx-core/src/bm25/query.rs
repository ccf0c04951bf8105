//! Answering a query.
//!
//! Terms are read one after another, the rarest first, and each adds its part to the score of every document that
//! holds it. In between, the best that all remaining terms together could still add is compared with the `k`-th best
//! score so far: once no document outside the lead can reach that score, the rest of the postings is only looked up for
//! the few documents still in the race. What is left out cannot change the answer.

use std::cell::RefCell;

use rustc_hash::FxHashSet;

use super::kernel::{self, Worth};
use super::postings::List;
use super::score::{Norm, Statistics, weight};
use super::texts::Texts;
use crate::text::{Term, for_each_token};
use crate::{Explanation, Scored, TopK};

/// Looking one document up in a list costs about as much as reading this many postings.
const MEETING_COST: usize = 16;

/// Room for rounding when bounds are compared with scores.
const ROUNDING: f64 = 1e-9;

thread_local! {
    static SCORES: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// A query, with what the index knows of its terms.
#[derive(Debug)]
pub(super) struct Query<'a> {
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

/// How a term is asked for.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) repeats: u32,
    /// What a match counts for: 1 for a word of the query itself.
    pub(super) share: f64,
    /// Which word of the query it stands for.
    pub(super) word: u32,
    /// How it is spelled, if that is not in the query.
    pub(super) form: Option<Box<str>>,
}

impl<'a> Query<'a> {
    pub(super) fn new(index: &'a Texts, text: &str) -> Self {
        let mut tokens: Vec<Term> = Vec::new();
        for_each_token(text, index.mode(), |token| tokens.push(Term::new(token)));
        tokens.sort_unstable();
        let asked = |same: &[Term]| Asked { repeats: same.len() as u32, share: 1.0, word: 0, form: None };
        Self::of(index, tokens.chunk_by(|a, b| a == b).map(|same| (same[0], asked(same))))
    }

    /// The query for terms, each of which is given once.
    pub(super) fn of(index: &'a Texts, terms: impl Iterator<Item = (Term, Asked)>) -> Self {
        let statistics = index.statistics();
        let norm = statistics.norm();
        let mut terms: Vec<QueryTerm<'a>> =
            terms.filter_map(|(term, asked)| QueryTerm::new(index, statistics, norm, term, asked)).collect();
        terms.sort_by_key(|term| (term.list.live(), term.term));
        Self { index, statistics, norm, terms }
    }

    /// The best `k` documents of those admitted.
    pub(super) fn best(&self, k: usize, admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        SCORES.with_borrow_mut(|scores| {
            scores.clear();
            scores.resize(self.index.lengths.len(), 0.0);
            self.race(k, scores, admit)
        })
    }

    /// The best `k` of those admitted, and all whose score is at least what `floor` makes of them, in the order of their
    /// numbers; the latter are empty if it makes nothing of them.
    pub(super) fn above(
        &self,
        k: usize,
        admit: impl Fn(u32) -> bool,
        floor: impl FnOnce(&[Scored]) -> Option<f64>,
    ) -> (Vec<Scored>, Vec<Scored>) {
        SCORES.with_borrow_mut(|scores| {
            scores.clear();
            scores.resize(self.index.lengths.len(), 0.0);
            for term in &self.terms {
                self.accumulate(term, scores);
            }
            let best = leaders(k, scores, &admit).into_sorted();
            let above = floor(&best).and_then(|floor| runners(scores, floor, usize::MAX, &admit));
            (best, above.unwrap_or_default())
        })
    }

    fn race(&self, k: usize, scores: &mut [f64], admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        let mut unread = Unread::of(&self.terms);
        let mut floor = 0.0;
        for (at, term) in self.terms.iter().enumerate() {
            if unread.is_worth_a_look(scores.len(), floor) {
                floor = leaders(k, scores, &admit).floor();
                let rest = &self.terms[at..];
                let reach = unread.bound * (1.0 + ROUNDING);
                let enough = unread.postings / (MEETING_COST * rest.len());
                if reach < floor
                    && let Some(runners) = runners(scores, floor - reach, enough, &admit)
                {
                    return self.finish(k, rest, runners);
                }
            }
            self.accumulate(term, scores);
            unread.pass(term);
        }
        leaders(k, scores, &admit).into_sorted()
    }

    /// Add what one term is worth to every document that holds it.
    fn accumulate(&self, term: &QueryTerm<'_>, scores: &mut [f64]) {
        let postings = &self.index.postings;
        for block in postings.blocks(term.list) {
            let tf = |posting| postings.tf(term.number, posting);
            kernel::accumulate(self.worth(term), block, &self.index.lengths, scores, tf);
        }
    }

    fn worth(&self, term: &QueryTerm<'_>) -> Worth {
        Worth { weight: term.weight, norm: self.norm }
    }

    /// Bring the scores of a few documents up to date with the terms not read yet.
    fn finish(&self, k: usize, terms: &[QueryTerm<'_>], mut runners: Vec<Scored>) -> Vec<Scored> {
        for term in terms {
            self.visit(term, &mut runners, |runner, tf| {
                runner.score += self.worth(term).part(tf, self.index.lengths[runner.number as usize]);
            });
        }
        let mut best = TopK::new(k);
        for runner in runners {
            best.offer(runner);
        }
        best.into_sorted()
    }

    /// The scores of some documents, in ascending order.
    pub(super) fn scores(&self, documents: &[u32]) -> Vec<Scored> {
        let mut runners: Vec<Scored> = documents.iter().map(|&number| Scored { number, score: 0.0 }).collect();
        for term in &self.terms {
            self.visit(term, &mut runners, |runner, tf| {
                runner.score += self.worth(term).part(tf, self.index.lengths[runner.number as usize]);
            });
        }
        runners
    }

    /// Call `meet` for every one of the ascending `runners` that holds the term.
    fn visit(&self, term: &QueryTerm<'_>, runners: &mut [Scored], mut meet: impl FnMut(&mut Scored, u32)) {
        let mut rest = runners;
        for mut block in self.index.postings.blocks(term.list) {
            let Some(last) = block.last().map(|posting| posting.document()) else { continue };
            let inside = rest.partition_point(|runner| runner.number <= last);
            let (here, beyond) = rest.split_at_mut(inside);
            for runner in here {
                block = &block[block.partition_point(|posting| posting.document() < runner.number)..];
                if let Some(&posting) = block.first()
                    && posting.document() == runner.number
                {
                    meet(runner, self.index.postings.tf(term.number, posting));
                }
            }
            rest = beyond;
            if rest.is_empty() {
                return;
            }
        }
    }

    /// Call `meet` with the place of a document among the ascending `documents` and a word of the query that it holds; it
    /// says whether that is news. A document is left out once another has words of more `worth` than it can still have.
    ///
    /// Common words tell little and have long lists, and they come last: so few documents are looked up in these.
    pub(super) fn meetings(
        &self,
        documents: &[u32],
        worth: impl Fn(u32) -> f64,
        mut meet: impl FnMut(usize, u32) -> bool,
    ) {
        let mut runners: Vec<Scored> = documents.iter().map(|&number| Scored { number, score: 0.0 }).collect();
        let mut unread: Vec<f64> = Vec::with_capacity(self.terms.len());
        let mut seen = FxHashSet::default();
        for word in self.terms.iter().rev().map(|term| term.asked.word) {
            let more = if seen.insert(word) { worth(word) } else { 0.0 };
            unread.push(unread.last().unwrap_or(&0.0) + more);
        }
        for (term, unread) in self.terms.iter().zip(unread.into_iter().rev()) {
            if term.list.len() > runners.len() {
                let most = runners.iter().map(|runner| runner.score).fold(0.0, f64::max);
                runners.retain(|runner| (runner.score + unread) * (1.0 + ROUNDING) >= most);
            }
            self.visit(term, &mut runners, |runner, _| {
                if let Ok(place) = documents.binary_search(&runner.number)
                    && meet(place, term.asked.word)
                {
                    runner.score += worth(term.asked.word);
                }
            });
        }
    }

    /// The score of one document, term by term. `text` is the query's.
    pub(super) fn explain(&self, text: &str, document: u32) -> Explanation {
        let length = f64::from(self.index.lengths[document as usize]);
        let mut parts = Vec::new();
        for term in &self.terms {
            let mut runner = [Scored { number: document, score: 0.0 }];
            self.visit(term, &mut runner, |_, tf| {
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
    /// A term that some document holds.
    fn new(index: &'a Texts, statistics: Statistics, norm: Norm, term: Term, asked: Asked) -> Option<Self> {
        let number = index.terms.find(term)?;
        let list = index.terms.list(number);
        let known = index.counted(term, list.live());
        if known == 0 || list.live() == 0 {
            return None;
        }
        let weight = weight(statistics.idf(known), asked.repeats) * asked.share;
        let most = list.peak().map_or(1.0, |peak| norm.saturate(f64::from(peak), 0.0));
        Some(Self { term, number, list, asked, weight, bound: weight * most })
    }
}

/// What the terms not read yet amount to.
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

    /// Whether the race may be decided, and knowing so saves more than finding out, which takes a look at the scores
    /// of all documents. `floor` is the `k`-th best score when it was last looked for.
    fn is_worth_a_look(&self, documents: usize, floor: f64) -> bool {
        const GROWTH: f64 = 1.2;
        let may_be_decided = self.bound < self.given && (floor == 0.0 || self.bound < floor * GROWTH);
        may_be_decided && self.postings > documents
    }
}

/// Scores are compared with a bound this many at a time.
const STRIDE: usize = 64;

/// The best `k` of the scores above zero.
fn leaders(k: usize, scores: &[f64], admit: impl Fn(u32) -> bool) -> TopK {
    let mut best = TopK::new(k);
    let mut floor = best.floor().max(0.0);
    for (stride, chunk) in scores.chunks(STRIDE).enumerate() {
        if highest(chunk) <= floor {
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

/// Documents that have at least this score so far, ascending; none if they are not clearly few.
fn runners(scores: &[f64], least: f64, enough: usize, admit: impl Fn(u32) -> bool) -> Option<Vec<Scored>> {
    let mut runners = Vec::new();
    for (stride, chunk) in scores.chunks(STRIDE).enumerate() {
        if highest(chunk) < least {
            continue;
        }
        for (number, &score) in (stride * STRIDE..).zip(chunk) {
            let number = number as u32;
            if score >= least && score > 0.0 && admit(number) {
                runners.push(Scored { number, score });
            }
        }
        if runners.len() > enough {
            return None;
        }
    }
    Some(runners)
}

/// The highest of the scores or 0, found in several lanes so that the compiler uses vector registers.
fn highest(chunk: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let (lanes, rest) = chunk.as_chunks::<8>();
    let mut high = [0.0; 8];
    for lane in lanes {
        for (high, &score) in high.iter_mut().zip(lane) {
            *high = larger(*high, score);
        }
    }
    high.iter().chain(rest).copied().fold(0.0, larger)
}

/// How the text spells a term.
fn token_of(term: Term, text: &str, index: &Texts) -> String {
    let mut spelling = String::new();
    for_each_token(text, index.mode(), |token| {
        if spelling.is_empty() && Term::new(token) == term {
            spelling.push_str(token);
        }
    });
    spelling
}
