//! The terms of a query, laid out to be looked for in many texts.

use std::hash::{BuildHasher as _, RandomState};

use crate::bm25::fold;
use crate::text::{Mode, Term, for_each_token};

/// The terms of a query, numbered by first sight.
pub(super) struct Wanted {
    /// How many times the query gives each term.
    repeats: Vec<u32>,
    /// Bits of the hashes that are in the table; most terms of a text are turned away here.
    filter: Vec<u64>,
    /// Open addressing; the term and its number plus one, or 0 if empty.
    buckets: Vec<(Term, u32)>,
    /// Chosen at random, so that nobody can write a query whose terms collide.
    seed: u64,
}

/// Terms that are held against the filter in one go.
const STRIDE: usize = 256;
/// Bits of the filter for each term, so that few others get through.
const BITS: usize = 128;
const WORD: usize = 64;

impl Wanted {
    pub(super) fn new(query: &str) -> Self {
        let mut terms = Vec::new();
        for_each_token(query, Mode::Memctx, |token| terms.push(Term::new(token)));
        let room = terms.len().next_power_of_two().max(32);
        let mut wanted = Self {
            repeats: Vec::new(),
            filter: vec![0; room * BITS / WORD],
            buckets: vec![(Term::new(""), 0); room * 2],
            seed: RandomState::new().hash_one(0_u8),
        };
        terms.into_iter().for_each(|term| wanted.insert(term));
        wanted
    }

    /// How many times the query gives each term, by number.
    pub(super) fn repeats(&self) -> &[u32] {
        &self.repeats
    }

    /// Call `found` with the number of every term that the query has, as often as it stands in the text.
    #[inline]
    pub(super) fn each_in(&self, terms: &[Term], mut found: impl FnMut(u32)) {
        let mut passed = [(Term::new(""), 0_u64); STRIDE];
        let mask = self.filter.len() - 1;
        for stride in terms.chunks(STRIDE) {
            let mut count = 0;
            for &term in stride {
                // Written in any case and kept by counting it: a branch would be guessed wrong too often.
                let hash = self.hash(term);
                passed[count] = (term, hash);
                count += (self.filter[hash as usize / WORD & mask] >> (hash as usize % WORD) & 1) as usize;
            }
            for &(term, hash) in &passed[..count] {
                let number = self.buckets[self.place(term, hash)].1;
                if number > 0 {
                    found(number - 1);
                }
            }
        }
    }

    fn insert(&mut self, term: Term) {
        let hash = self.hash(term);
        let place = self.place(term, hash);
        let number = self.buckets[place].1;
        if number > 0 {
            self.repeats[number as usize - 1] += 1;
            return;
        }
        self.repeats.push(1);
        self.buckets[place] = (term, self.repeats.len() as u32);
        let word = hash as usize / WORD & (self.filter.len() - 1);
        self.filter[word] |= 1 << (hash as usize % WORD);
    }

    #[inline]
    fn hash(&self, term: Term) -> u64 {
        fold(term.to_u64() ^ self.seed)
    }

    /// The bucket that holds the term, or the empty one where it belongs.
    #[inline]
    fn place(&self, term: Term, hash: u64) -> usize {
        let mask = self.buckets.len() - 1;
        let mut at = (hash >> 32) as usize & mask;
        while self.buckets[at].1 > 0 && self.buckets[at].0 != term {
            at = (at + 1) & mask;
        }
        at
    }
}
