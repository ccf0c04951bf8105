//! The terms of a query, laid out to be looked for in many texts.

use std::hash::{BuildHasher as _, RandomState};

use crate::text::{Mode, Term, for_each_token};

/// The terms of a query, numbered by first sight.
pub(super) struct Wanted {
    /// How many times the query gives each term.
    repeats: Vec<u32>,
    /// 1 where the hash of a term points to; most terms of a text are turned away here.
    filter: Box<[u8; 1 << FILTER_BITS]>,
    /// Open addressing; the term and its number plus one, or 0 if empty.
    buckets: Vec<(Term, u32)>,
    /// Chosen at random, so that nobody can write a query whose terms collide. It is odd.
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
        for_each_token(query, Mode::Memctx, |token| terms.push(Term::new(token)));
        let room = (terms.len() * 2).next_power_of_two().max(FEWEST_BUCKETS);
        let mut wanted = Self {
            repeats: Vec::new(),
            filter: Box::new([0; 1 << FILTER_BITS]),
            buckets: vec![(Term::new(""), 0); room],
            multiplier: RandomState::new().hash_one(0_u8) | 1,
        };
        for term in terms {
            wanted.insert(term);
        }
        wanted
    }

    /// How many times the query gives each term, by number.
    pub(super) fn repeats(&self) -> &[u32] {
        &self.repeats
    }

    /// Call `found` with the number of every term that the query has, as often as it stands among the terms.
    #[inline]
    pub(super) fn each_in(&self, terms: &[Term], mut found: impl FnMut(u32)) {
        let mut passed = [Term::new(""); STRIDE];
        for stride in terms.chunks(STRIDE) {
            let mut count = 0;
            for &term in stride {
                // Written in any case and kept by counting it: a branch would be guessed wrong too often.
                passed[count] = term;
                count += usize::from(self.filter[filter_place(self.hash(term))]);
            }
            for &term in &passed[..count] {
                let number = self.buckets[self.place(term)].1;
                if number > 0 {
                    found(number - 1);
                }
            }
        }
    }

    fn insert(&mut self, term: Term) {
        let place = self.place(term);
        let number = self.buckets[place].1;
        if number > 0 {
            self.repeats[number as usize - 1] += 1;
            return;
        }
        self.repeats.push(1);
        self.buckets[place] = (term, self.repeats.len() as u32);
        self.filter[filter_place(self.hash(term))] = 1;
    }

    /// Only its upper bits depend on the whole term.
    #[inline]
    fn hash(&self, term: Term) -> u64 {
        term.to_u64().wrapping_mul(self.multiplier)
    }

    /// The bucket that holds the term, or the empty one where it belongs.
    #[inline]
    fn place(&self, term: Term) -> usize {
        let mask = self.buckets.len() - 1;
        let mut at = (self.hash(term) >> 32) as usize & mask;
        while self.buckets[at].1 > 0 && self.buckets[at].0 != term {
            at = (at + 1) & mask;
        }
        at
    }
}

#[inline]
fn filter_place(hash: u64) -> usize {
    (hash >> (u64::BITS - FILTER_BITS)) as usize
}
