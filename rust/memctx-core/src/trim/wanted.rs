//! Hash table of a query's terms, for lookup in many texts.

use std::hash::{BuildHasher as _, RandomState};

use crate::text::{Digest, Mode, for_each_token};

/// The terms of a query, numbered by first sight.
pub(super) struct Wanted {
    /// Number of times that the query has each term.
    repeats: Vec<u32>,
    /// 1 where the upper bits of a term point to; most terms of a text are turned away here.
    filter: Box<[u8; 1 << FILTER_BITS]>,
    /// Open addressing; the term and its number plus one, or 0 if empty.
    buckets: Vec<(Digest, u32)>,
    /// Chosen at random, so that no one can write a query whose terms collide. It is odd.
    multiplier: u64,
}

/// So large that few strangers get through, so small that it stays at hand.
const FILTER_BITS: u32 = 13;
/// Terms that are held against the filter in one go.
const STRIDE: usize = 256;
const FEWEST_BUCKETS: usize = 32;

impl Wanted {
    pub(super) fn new(query: &str) -> Self {
        let mut terms = Vec::new();
        for_each_token(query, Mode::Memctx, |token| terms.push(Digest::new(token)));
        let room = (terms.len() * 2).next_power_of_two().max(FEWEST_BUCKETS);
        let mut wanted = Self {
            repeats: Vec::new(),
            filter: Box::new([0; 1 << FILTER_BITS]),
            buckets: vec![Default::default(); room],
            multiplier: RandomState::new().hash_one(0_u8) | 1,
        };
        for term in terms {
            wanted.insert(term);
        }
        wanted
    }

    /// Return the number of times that the query has each term, by number.
    pub(super) fn repeats(&self) -> &[u32] {
        &self.repeats
    }

    /// Call `found` with the number of every term that the query has, as often as it stands among the terms.
    #[inline]
    pub(super) fn each_in(&self, terms: &[Digest], mut found: impl FnMut(u32)) {
        let mut passed = [Digest::default(); STRIDE];
        let mut numbers = [0; STRIDE];
        for stride in terms.chunks(STRIDE) {
            // What may pass is written in any case and kept by counting it: a branch would be guessed wrong too often.
            let mut count = 0;
            for &term in stride {
                passed[count % STRIDE] = term;
                count += usize::from(self.filter[filter_slot(term)]);
            }
            let mut known = 0;
            for &term in &passed[..count] {
                let number = self.number(term);
                numbers[known % STRIDE] = number;
                known += usize::from(number > 0);
            }
            for &number in &numbers[..known] {
                found(number - 1);
            }
        }
    }

    fn insert(&mut self, term: Digest) {
        let slot = self.slot(term);
        let number = self.buckets[slot].1;
        if number > 0 {
            self.repeats[number as usize - 1] += 1;
            return;
        }
        self.repeats.push(1);
        self.buckets[slot] = (term, self.repeats.len() as u32);
        self.filter[filter_slot(term)] = 1;
    }

    /// Return the number of a term plus one, or 0.
    #[inline]
    fn number(&self, term: Digest) -> u32 {
        let (held, number) = self.buckets[self.home(term)];
        // Nearly all are at home: that can be foretold.
        if held == term || number == 0 { number } else { self.buckets[self.slot(term)].1 }
    }

    /// Return the bucket that holds the term, or the empty one where it belongs.
    fn slot(&self, term: Digest) -> usize {
        let mut at = self.home(term);
        while self.buckets[at].1 > 0 && self.buckets[at].0 != term {
            at = (at + 1) % self.buckets.len();
        }
        at
    }

    /// Return the bucket where a term is looked for first.
    #[inline]
    fn home(&self, term: Digest) -> usize {
        let hash = u64::from(term.to_u32()).wrapping_mul(self.multiplier);
        (hash >> 32) as usize & (self.buckets.len() - 1)
    }
}

#[inline]
fn filter_slot(term: Digest) -> usize {
    (term.to_u32() >> (u32::BITS - FILTER_BITS)) as usize
}
