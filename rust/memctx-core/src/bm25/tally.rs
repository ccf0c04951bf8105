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
        let mut best = TopK::new(k);
        let mut floor = best.floor().max(0.0);
        for (stride, chunk) in self.scores.chunks(STRIDE).enumerate() {
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
