//! The scores of all documents for one query.

use std::cell::RefCell;

use crate::{Scored, TopK};

/// Scores are compared with a bound this many at a time.
const STRIDE: usize = 64;

thread_local! {
    /// Room of the last tally, for the next one.
    static ROOM: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// A score for each document; 0 for those that share no word with the query.
#[derive(Debug)]
pub struct Tally {
    pub(super) scores: Vec<f64>,
}

impl Tally {
    pub(super) fn new(documents: usize) -> Self {
        let mut scores = ROOM.take();
        scores.clear();
        scores.resize(documents, 0.0);
        Self { scores }
    }

    /// The score of a document.
    ///
    /// # Panics
    /// If there is no document of that number.
    #[must_use]
    pub fn of(&self, number: u32) -> f64 {
        self.scores[number as usize]
    }

    /// The best `k` of those that pass the test; best first, older first among equals.
    #[must_use]
    pub fn best(&self, k: usize, admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        self.leaders(k, admit).into_sorted()
    }

    /// All that pass the test and have at least this score, in the order of their numbers.
    #[must_use]
    pub fn above(&self, least: f64, admit: impl Fn(u32) -> bool) -> Vec<Scored> {
        self.runners(least, usize::MAX, admit).unwrap_or_default()
    }

    /// The best `k` of the scores above zero.
    pub(super) fn leaders(&self, k: usize, admit: impl Fn(u32) -> bool) -> TopK {
        let heights: Vec<f64> = self.scores.chunks(STRIDE).map(highest).collect();
        let bar = floor_of(k, &heights);
        let mut best = TopK::new(k);
        // The highest strides come first, since behind them hardly any other has a score that still counts.
        for is_first_round in [true, false] {
            for (stride, chunk) in self.scores.chunks(STRIDE).enumerate() {
                let height = heights[stride];
                if height > 0.0 && (height >= bar) == is_first_round && height >= best.floor() {
                    offer_all(&mut best, stride, chunk, &admit);
                }
            }
        }
        best
    }

    /// Documents that have at least this score so far, ascending; none if they are not clearly few.
    pub(super) fn runners(&self, least: f64, enough: usize, admit: impl Fn(u32) -> bool) -> Option<Vec<Scored>> {
        let mut runners = Vec::new();
        for (stride, chunk) in self.scores.chunks(STRIDE).enumerate() {
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
}

impl Drop for Tally {
    fn drop(&mut self) {
        let scores = std::mem::take(&mut self.scores);
        // A thread that ends has no more use for it.
        let _ = ROOM.try_with(|room| room.replace(scores));
    }
}

/// The `k`-th best of some scores; minus infinity if there are not so many.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn leaders_are_the_first_of_all_sorted(
            scores in prop::collection::vec(0..6_u8, 0..900), k in 0..30_usize, left_out in 0..5_u32,
        ) {
            let tally = Tally { scores: scores.into_iter().map(f64::from).collect() };
            let admit = |number: u32| number % 5 >= left_out;
            let mut sorted: Vec<Scored> = (0..).zip(&tally.scores).map(|(number, &score)| Scored { number, score })
                .filter(|item| item.score > 0.0 && admit(item.number)).collect();
            sorted.sort_by(|a, b| b.cmp(a));
            sorted.truncate(k);
            prop_assert_eq!(tally.best(k, admit), sorted);
        }
    }
}
