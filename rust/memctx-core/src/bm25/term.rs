//! Terms as 64-bit words, and the tables that find them.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write};

use super::postings::List;
use crate::blocks::{BlockReader, BlockWriter, Fault};
use crate::text::Term;

/// Everything an index knows of a term, in half a cache line.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(32))]
pub(super) struct Entry {
    term: Term,
    pub(super) list: List,
}

/// Numbers terms from 0 in the order they come and keeps their lists.
#[derive(Debug)]
pub(super) struct TermTable {
    /// Open addressing; a bucket holds the upper half of the hash and the number plus one, or 0 if empty.
    buckets: Vec<u64>,
    entries: Vec<Entry>,
    /// Chosen at random, so that nobody can write a text whose terms collide.
    seed: u64,
}

/// The upper half of a bucket.
const TAG: u64 = 0xFFFF_FFFF_0000_0000;

impl Default for TermTable {
    fn default() -> Self {
        Self { buckets: vec![0; 1 << 8], entries: Vec::new(), seed: RandomState::new().hash_one(0_u8) }
    }
}

impl TermTable {
    /// The terms, their numbers and lists, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, Term, &List)> {
        (0..).zip(&self.entries).map(|(number, entry)| (number, entry.term, &entry.list))
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn list(&self, number: u32) -> &List {
        &self.entries[number as usize].list
    }

    pub(super) fn list_mut(&mut self, number: u32) -> &mut List {
        &mut self.entries[number as usize].list
    }

    /// The number of a term.
    pub(super) fn find(&self, term: Term) -> Option<u32> {
        self.follow(term, self.probe(term))
    }

    /// Where the search for a term begins. Doing this for many terms before following any lets the processor fetch
    /// their buckets side by side.
    #[inline]
    pub(super) fn probe(&self, term: Term) -> Probe {
        let hash = fold(term.to_u64() ^ self.seed);
        let home = hash as usize & (self.buckets.len() - 1);
        Probe { hash, home, bucket: self.buckets[home] }
    }

    /// The number of a term, unless it is new. The table must be as it was for the probe.
    #[inline]
    pub(super) fn follow(&self, term: Term, probe: Probe) -> Option<u32> {
        let Probe { hash, home: mut at, mut bucket } = probe;
        while bucket != 0 {
            let number = bucket as u32 - 1;
            if (bucket ^ hash) & TAG == 0 && self.entries[number as usize].term == term {
                return Some(number);
            }
            at = (at + 1) & (self.buckets.len() - 1);
            bucket = self.buckets[at];
        }
        None
    }

    /// The number that the next new term gets.
    pub(super) fn next_number(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Take in a term that is new.
    pub(super) fn insert(&mut self, term: Term, list: List) {
        if self.entries.len() * 4 >= self.buckets.len() * 3 {
            self.grow();
        }
        self.entries.push(Entry { term, list });
        self.settle(fold(term.to_u64() ^ self.seed), self.entries.len() as u64);
    }

    /// Put a number, plus one, into the first free bucket.
    fn settle(&mut self, hash: u64, number: u64) {
        let mask = self.buckets.len() - 1;
        let mut at = hash as usize & mask;
        while self.buckets[at] != 0 {
            at = (at + 1) & mask;
        }
        self.buckets[at] = (hash & TAG) | number;
    }

    pub(super) fn save<W: Write>(&self, out: &mut BlockWriter<W>) -> io::Result<()> {
        out.write("t.seed", &[self.seed])?;
        out.write("t.bucket", &self.buckets)?;
        out.write("t.entry", &self.entries)
    }

    pub(super) fn load(from: &BlockReader) -> Result<Self, Fault> {
        let table =
            Self { seed: from.read_one("t.seed")?, buckets: from.read("t.bucket")?, entries: from.read("t.entry")? };
        let has_room = table.entries.len() < table.buckets.len();
        let is_numbered = |&bucket: &u64| bucket as u32 as usize <= table.entries.len();
        if table.buckets.len().is_power_of_two() && has_room && table.buckets.iter().all(is_numbered) {
            Ok(table)
        } else {
            Err("the table of terms contradicts itself")
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.buckets = vec![0; self.buckets.len() * 4];
        for number in 0..self.entries.len() {
            self.settle(fold(self.entries[number].term.to_u64() ^ self.seed), number as u64 + 1);
        }
    }
}

/// The first step of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    hash: u64,
    home: usize,
    bucket: u64,
}

/// Spread the information of a word over all its bits.
#[inline]
fn fold(word: u64) -> u64 {
    let product = u128::from(word) * 0x9E37_79B9_7F4A_7C15;
    product as u64 ^ (product >> 64) as u64
}

/// The distinct terms of one document with their frequencies, in the order of first sight.
#[derive(Debug, Default)]
pub(super) struct Bag {
    terms: Vec<(Term, u32)>,
    /// Open addressing; position in `terms` plus one, or 0.
    places: Vec<u32>,
    tokens: u32,
}

impl Bag {
    /// Beyond this many places the memory is given back after use.
    const KEPT: usize = 1 << 16;

    pub(super) fn clear(&mut self) {
        self.terms.clear();
        self.tokens = 0;
        if self.places.len() > Self::KEPT {
            *self = Self::default();
        }
        self.places.fill(0);
    }

    /// Tokens counted, repeats included.
    pub(super) fn tokens(&self) -> u32 {
        self.tokens
    }

    pub(super) fn terms(&self) -> &[(Term, u32)] {
        &self.terms
    }

    #[inline]
    pub(super) fn count(&mut self, term: Term) {
        if self.terms.len() * 2 >= self.places.len() {
            self.grow();
        }
        self.tokens = self.tokens.saturating_add(1);
        let mask = self.places.len() - 1;
        let mut at = fold(term.to_u64()) as usize & mask;
        loop {
            match self.places[at] {
                0 => {
                    self.terms.push((term, 1));
                    self.places[at] = self.terms.len() as u32;
                    return;
                }
                place if self.terms[place as usize - 1].0 == term => {
                    let count = &mut self.terms[place as usize - 1].1;
                    *count = count.saturating_add(1);
                    return;
                }
                _ => at = (at + 1) & mask,
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.places.len() * 2).max(1 << 8);
        self.places.clear();
        self.places.resize(size, 0);
        for (place, (term, _)) in (1..).zip(&self.terms) {
            let mut at = fold(term.to_u64()) as usize & (size - 1);
            while self.places[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.places[at] = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bm25::postings::Postings;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn numbers_follow_first_sight(tokens in prop::collection::vec("[a-d飞]{1,12}", 0..400)) {
            let mut table = TermTable::default();
            let mut postings = Postings::default();
            let mut expected: HashMap<&str, u32> = HashMap::new();
            for token in &tokens {
                let next = expected.len() as u32;
                let number = *expected.entry(token).or_insert(next);
                let term = Term::new(token);
                if table.find(term).is_none() {
                    prop_assert_eq!(table.next_number(), number);
                    table.insert(term, postings.start(number, 0, 1));
                }
            }
            for (token, number) in expected {
                prop_assert_eq!(table.find(Term::new(token)), Some(number));
            }
            prop_assert_eq!(table.find(Term::new("not there")), None);
        }

        #[test]
        fn a_bag_counts(tokens in prop::collection::vec("[a-d飞]{1,3}", 0..2000)) {
            let mut bag = Bag::default();
            for _ in 0..2 {
                bag.clear();
                for token in &tokens {
                    bag.count(Term::new(token));
                }
                let mut expected: Vec<(Term, u32)> = Vec::new();
                for term in tokens.iter().map(|token| Term::new(token)) {
                    match expected.iter_mut().find(|entry| entry.0 == term) {
                        Some(entry) => entry.1 += 1,
                        None => expected.push((term, 1)),
                    }
                }
                prop_assert_eq!(bag.terms(), expected);
                prop_assert_eq!(bag.tokens() as usize, tokens.len());
            }
        }
    }
}
