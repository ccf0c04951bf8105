//! Terms as 64-bit words, and the table that numbers them.

use std::hash::{BuildHasher as _, RandomState};

use rustc_hash::FxBuildHasher;

/// A term as one word: its bytes where they fit, which they do for every pair of CJK characters of the basic plane,
/// or else a 63-bit hash. Two long terms share a word once in some 10^19 pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Term(u64);

const IS_HASH: u64 = 1 << 63;
const INLINE_BYTES: usize = 7;

impl Term {
    #[inline]
    pub(super) fn new(token: &str) -> Self {
        let bytes = token.as_bytes();
        match bytes.len() {
            length @ 4..=INLINE_BYTES => {
                // Two overlapping halves; the shift puts the second where its bytes belong.
                let front = word(&bytes[..4]);
                let back = word(&bytes[length - 4..]);
                Self(front | back << (8 * (length - 4)) | (length as u64) << 56)
            }
            length @ 0..4 => {
                let packed = bytes.iter().rev().fold(0, |packed, &byte| packed << 8 | u64::from(byte));
                Self(packed | (length as u64) << 56)
            }
            _ => Self(FxBuildHasher.hash_one(bytes) | IS_HASH),
        }
    }
}

#[inline]
fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, |four| u64::from(u32::from_le_bytes(four)))
}

/// Gives each term a number, from 0 in the order they come.
#[derive(Debug)]
pub(super) struct TermTable {
    /// Open addressing; a bucket holds the upper half of the hash and the number plus one, or 0 if empty.
    buckets: Vec<u64>,
    terms: Vec<Term>,
    /// Chosen at random, so that nobody can write a text whose terms collide.
    seed: u64,
}

impl Default for TermTable {
    fn default() -> Self {
        Self { buckets: vec![0; 1 << 8], terms: Vec::new(), seed: RandomState::new().hash_one(0_u8) }
    }
}

impl TermTable {
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// The terms in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = Term> + '_ {
        self.terms.iter().copied()
    }

    pub(super) fn find(&self, term: Term) -> Option<u32> {
        let hash = self.hash(term);
        let mut at = self.home(hash);
        loop {
            let bucket = self.buckets[at];
            if bucket == 0 {
                return None;
            }
            if self.is(bucket, hash, term) {
                return Some(bucket as u32 - 1);
            }
            at = (at + 1) & (self.buckets.len() - 1);
        }
    }

    /// The number of a term, which is new if it equals the length before.
    #[inline]
    pub(super) fn number(&mut self, term: Term) -> u32 {
        let hash = self.hash(term);
        let mut at = self.home(hash);
        loop {
            let bucket = self.buckets[at];
            if bucket == 0 {
                break;
            }
            if self.is(bucket, hash, term) {
                return bucket as u32 - 1;
            }
            at = (at + 1) & (self.buckets.len() - 1);
        }
        self.terms.push(term);
        let number = self.terms.len() as u32;
        self.buckets[at] = (hash & UPPER) | u64::from(number);
        if self.terms.len() * 4 > self.buckets.len() * 3 {
            self.grow();
        }
        number - 1
    }

    #[inline]
    fn is(&self, bucket: u64, hash: u64, term: Term) -> bool {
        (bucket ^ hash) & UPPER == 0 && self.terms[bucket as u32 as usize - 1] == term
    }

    #[inline]
    fn hash(&self, term: Term) -> u64 {
        let product = u128::from(term.0 ^ self.seed) * 0x9E37_79B9_7F4A_7C15;
        product as u64 ^ (product >> 64) as u64
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }

    #[cold]
    fn grow(&mut self) {
        let mask = self.buckets.len() * 4 - 1;
        self.buckets = vec![0; mask + 1];
        for (term, number) in self.terms.iter().zip(1_u64..) {
            let hash = self.hash(*term);
            let mut at = hash as usize & mask;
            while self.buckets[at] != 0 {
                at = (at + 1) & mask;
            }
            self.buckets[at] = (hash & UPPER) | number;
        }
    }
}

const UPPER: u64 = 0xFFFF_FFFF_0000_0000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn short_tokens_are_kept_whole(a in ".{0,7}", b in ".{0,7}") {
            prop_assert_eq!(Term::new(&a) == Term::new(&b), a == b);
        }

        #[test]
        fn numbers_follow_first_sight(tokens in prop::collection::vec("[a-d飞]{1,12}", 0..400)) {
            let mut table = TermTable::default();
            let mut expected: HashMap<&str, u32> = HashMap::new();
            for token in &tokens {
                let next = expected.len() as u32;
                let number = *expected.entry(token).or_insert(next);
                prop_assert_eq!(table.number(Term::new(token)), number);
            }
            for (token, number) in expected {
                prop_assert_eq!(table.find(Term::new(token)), Some(number));
            }
            prop_assert_eq!(table.find(Term::new("not there")), None);
        }
    }
}
