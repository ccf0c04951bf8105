//! Accumulator of scores: one score for each document, its top k and candidates.

use std::cell::RefCell;

use super::kernel;
use crate::{Scored, TopK};

/// Scores are compared with a bound this many at a time.
const STRIDE: usize = 64;
/// One document in so many is few.
const FEW: usize = 32;

thread_local! {
    /// Room of the last accumulator, for the next one: nothing but zeros.
    static ROOM: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// A score for each document; 0 for those that share no word with the query.
#[derive(Debug)]
pub struct Accumulator {
    scores: Vec<f64>,
    /// The documents that have a score, as long as they are few.
    few: Option<Vec<u32>>,
}

impl Accumulator {
    pub(super) fn new(documents: usize) -> Self {
        let mut scores = ROOM.take();
        scores.resize(documents, 0.0);
        Self { scores, few: Some(Vec::new()) }
    }

    /// Return the score of a document.
    ///
    /// # Panics
    /// If there is no document of that number.
    #[must_use]
    pub fn of(&self, number: u32) -> f64 {
        self.scores[number as usize]
    }

    /// Return the best `k` of those that pass the test; best first, older first among equals.
    #[must_use]
    pub fn best(&self, k: usize, admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        self.checkpoint().top_k(k, admit).into_sorted()
    }

    /// Return all that pass the test and have at least this score, in the order of their numbers.
    #[must_use]
    pub fn above(&self, least: f64, admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        self.checkpoint().candidates(least, usize::MAX, admit).unwrap_or_default()
    }

    /// Return whether few documents will have a score when so many more have got one.
    pub(super) fn stays_few(&self, more: usize) -> bool {
        self.few.as_ref().is_some_and(|few| few.len() + more <= self.scores.len() / FEW)
    }

    /// Add to the score of a document, which [`Accumulator::stays_few`] was asked about.
    #[inline]
    pub(super) fn add(&mut self, document: u32, part: f64) {
        let score = &mut self.scores[document as usize];
        if *score == 0.0
            && let Some(few) = &mut self.few
        {
            few.push(document);
        }
        *score += part;
    }

    /// Return the scores of all documents, to be added to.
    pub(super) fn all(&mut self) -> &mut [f64] {
        self.few = None;
        &mut self.scores
    }

    /// Return the cost of a checkpoint in postings that could be read instead, given the number to read next. None
    /// while the documents stay few: a later checkpoint decides more.
    pub(super) fn checkpoint_cost(&self, next: usize) -> Option<usize> {
        match &self.few {
            Some(few) => (!self.stays_few(next)).then_some(few.len()),
            None => Some(self.scores.len()),
        }
    }

    /// Return the scores as they are, for pruning.
    pub(super) fn checkpoint(&self) -> Checkpoint<'_> {
        let seen = match &self.few {
            Some(few) => Seen::Few(few),
            None => Seen::Heights(self.heights()),
        };
        Checkpoint { scores: &self.scores, seen }
    }

    /// Return the highest score of each stride.
    fn heights(&self) -> Vec<f64> {
        let (strides, rest) = self.scores.as_chunks();
        let mut heights = kernel::heights::<STRIDE>(strides);
        heights.extend(rest.iter().copied().reduce(f64::max));
        heights
    }
}

impl Drop for Accumulator {
    fn drop(&mut self) {
        let mut scores = std::mem::take(&mut self.scores);
        match &self.few {
            Some(few) => few.iter().for_each(|&document| scores[document as usize] = 0.0),
            None => scores.fill(0.0),
        }
        // A thread that ends has no more use for it.
        let _ = ROOM.try_with(|room| room.replace(scores));
    }
}

/// Scores at one moment, for pruning.
pub(super) struct Checkpoint<'a> {
    scores: &'a [f64],
    seen: Seen<'a>,
}

enum Seen<'a> {
    /// The only documents that have a score.
    Few(&'a [u32]),
    /// The highest score of each stride.
    Heights(Vec<f64>),
}

impl Checkpoint<'_> {
    /// Return the best `k` of the scores above zero.
    pub(super) fn top_k(&self, k: usize, admit: impl Fn(u32) -> bool) -> TopK {
        let mut best = TopK::new(k);
        match &self.seen {
            Seen::Few(documents) => {
                for item in self.scored(documents).filter(|item| admit(item.number)) {
                    best.offer(item);
                }
            }
            Seen::Heights(heights) => {
                let bar = floor_of(k, heights);
                // The highest strides come first, since behind them hardly any other has a score that still counts.
                for is_first_round in [true, false] {
                    for (stride, chunk) in self.scores.chunks(STRIDE).enumerate() {
                        let height = heights[stride];
                        if height > 0.0 && (height >= bar) == is_first_round && height >= best.floor() {
                            offer_all(&mut best, stride, chunk, &admit);
                        }
                    }
                }
            }
        }
        best
    }

    /// Documents that have at least this score so far, ascending; none if they are not clearly few.
    pub(super) fn candidates(&self, least: f64, enough: usize, admit: impl Fn(u32) -> bool) -> Option<Vec<Scored>> {
        let is_candidate = |item: &Scored| item.score >= least && item.score > 0.0 && admit(item.number);
        let mut candidates = Vec::new();
        match &self.seen {
            Seen::Few(documents) => {
                candidates.extend(self.scored(documents).filter(is_candidate));
                candidates.sort_unstable_by_key(|item: &Scored| item.number);
            }
            Seen::Heights(heights) => {
                for (stride, chunk) in self.scores.chunks(STRIDE).enumerate() {
                    if heights[stride] >= least && candidates.len() <= enough {
                        let numbers = (stride * STRIDE) as u32..;
                        let items = numbers.zip(chunk).map(|(number, &score)| Scored { number, score });
                        candidates.extend(items.filter(is_candidate));
                    }
                }
            }
        }
        (candidates.len() <= enough).then_some(candidates)
    }

    fn scored(&self, documents: &[u32]) -> impl Iterator<Item = Scored> {
        documents.iter().map(|&number| Scored { number, score: self.scores[number as usize] })
    }
}

/// Return the `k`-th best of some scores; minus infinity if there are not so many.
fn floor_of(k: usize, scores: &[f64]) -> f64 {
    let mut best = TopK::new(k);
    for (number, &score) in (0..).zip(scores) {
        if score > best.floor() {
            best.offer(Scored { number, score });
        }
    }
    best.floor()
}

fn offer_all(best: &mut TopK, stride: usize, chunk: &[f64], admit: impl Fn(u32) -> bool) {
    let mut floor = best.floor();
    for (number, &score) in (stride * STRIDE..).zip(chunk) {
        let number = number as u32;
        // The older of two equals wins, and may come later here.
        if score > 0.0 && score >= floor && admit(number) {
            best.offer(Scored { number, score });
            floor = best.floor();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn top_k_equals_sorting_all_scores(
            scores in prop::collection::vec(0..6_u8, 0..900), k in 0..30_usize, left_out in 0..5_u32,
            are_few: bool, least in 0..6_u8,
        ) {
            let few = are_few.then(|| (0..).zip(&scores).filter(|(_, score)| **score > 0).map(|(number, _)| number).collect());
            let accumulator = Accumulator { scores: scores.into_iter().map(f64::from).collect(), few };
            let admit = |number: u32| number % 5 >= left_out;
            let mut sorted: Vec<Scored> = (0..).zip(&accumulator.scores).map(|(number, &score)| Scored { number, score })
                .filter(|item| item.score > 0.0 && admit(item.number)).collect();
            let mut above = sorted.clone();
            above.retain(|item| item.score >= f64::from(least));
            prop_assert_eq!(accumulator.above(f64::from(least), admit), above);
            sorted.sort_by(|a, b| b.cmp(a));
            sorted.truncate(k);
            prop_assert_eq!(accumulator.best(k, admit), sorted);
        }
    }
}
