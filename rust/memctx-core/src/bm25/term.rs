//! Terms as 64-bit words, and the tables that find them.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write};

use super::postings::List;
use crate::blocks::{BlockReader, BlockWriter, Fault};
use crate::pages::{make_room, with_room};
use crate::prefetch;
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
    /// Open addressing; a bucket holds the number plus one, which takes as many bits as that of a bucket, and in the bits
    /// above some of the hash; or 0 if empty.
    buckets: Vec<u32>,
    entries: Vec<Entry>,
    /// Chosen at random, so that no one can write a text whose terms collide.
    seed: u64,
}

/// Stands for the number of a term that is new.
pub(super) const UNKNOWN: u32 = u32::MAX;

impl Default for TermTable {
    fn default() -> Self {
        Self { buckets: vec![0; 1 << 8], entries: Vec::new(), seed: RandomState::new().hash_one(0_u8) }
    }
}

impl TermTable {
    /// Return the terms, their numbers and lists, in order.
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

    /// Return the number of a term.
    pub(super) fn find(&self, term: Term) -> Option<u32> {
        self.confirm(term, self.look_up(self.probe(term)))
    }

    /// Return the start of the probe sequence of a term.
    ///
    /// A search touches memory at three random places. So it has three steps, each of which asks for what the next one
    /// needs: doing a step for many terms before the next step for any lets them be fetched side by side.
    #[inline]
    pub(super) fn probe(&self, term: Term) -> Probe {
        let probe = Probe(fold(term.to_u64() ^ self.seed));
        prefetch(self.buckets.as_ptr().wrapping_add(self.home(probe)));
        probe
    }

    /// Return the number of a term that is probably the one, or [`UNKNOWN`]. The table must be as it was for the probe.
    #[inline]
    pub(super) fn look_up(&self, probe: Probe) -> u32 {
        let mut at = self.home(probe);
        loop {
            let bucket = self.buckets[at];
            if bucket == 0 {
                return UNKNOWN;
            }
            if (bucket ^ tag(probe)) & !self.mask() == 0 {
                let number = (bucket & self.mask()) - 1;
                prefetch(self.entries.as_ptr().wrapping_add(number as usize));
                return number;
            }
            at = (at + 1) & (self.buckets.len() - 1);
        }
    }

    /// Return the number of a term, unless it is new, given what looking it up gave.
    #[inline]
    pub(super) fn confirm(&self, term: Term, number: u32) -> Option<u32> {
        match self.entries.get(number as usize) {
            Some(entry) if entry.term == term => Some(number),
            Some(_) => self.find_behind_another(term),
            None => None,
        }
    }

    /// Return the number of a term when another one has the same tag.
    #[cold]
    fn find_behind_another(&self, term: Term) -> Option<u32> {
        let probe = self.probe(term);
        let mut at = self.home(probe);
        while self.buckets[at] != 0 {
            let number = (self.buckets[at] & self.mask()) - 1;
            if self.entries[number as usize].term == term {
                return Some(number);
            }
            at = (at + 1) & (self.buckets.len() - 1);
        }
        None
    }

    #[inline]
    fn home(&self, probe: Probe) -> usize {
        probe.0 as usize & (self.buckets.len() - 1)
    }

    /// The bits of a bucket that hold the number.
    #[inline]
    fn mask(&self) -> u32 {
        self.buckets.len() as u32 - 1
    }

    /// Return the number that the next new term gets.
    pub(super) fn next_number(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Take in a term that is new.
    pub(super) fn insert(&mut self, term: Term, list: List) {
        if self.entries.len() * 4 >= self.buckets.len() * 3 {
            self.grow();
        }
        make_room(&mut self.entries, 1);
        self.entries.push(Entry { term, list });
        self.settle(term, self.entries.len() as u32);
    }

    /// Put a number, plus one, into the first free bucket.
    fn settle(&mut self, term: Term, number: u32) {
        let probe = Probe(fold(term.to_u64() ^ self.seed));
        let mut at = self.home(probe);
        while self.buckets[at] != 0 {
            at = (at + 1) & (self.buckets.len() - 1);
        }
        self.buckets[at] = (tag(probe) & !self.mask()) | number;
    }

    /// Save the terms with these lists of theirs.
    pub(super) fn save<W: Write>(&self, lists: impl Iterator<Item = List>, out: &mut BlockWriter<W>) -> io::Result<()> {
        let entries: Vec<Entry> =
            self.entries.iter().zip(lists).map(|(entry, list)| Entry { term: entry.term, list }).collect();
        out.write("t.entry", &entries)
    }

    pub(super) fn load(from: &BlockReader) -> Result<Self, Fault> {
        let mut table = Self { entries: from.read("t.entry")?, ..Self::default() };
        let mut buckets = table.buckets.len();
        while table.entries.len() * 4 >= buckets * 3 {
            buckets *= 2;
        }
        table.fill(buckets);
        Ok(table)
    }

    #[cold]
    fn grow(&mut self) {
        self.fill(self.buckets.len() * 4);
    }

    /// Make so many buckets.
    fn fill(&mut self, count: usize) {
        self.buckets = with_room(count);
        self.buckets.resize(count, 0);
        for number in 0..self.entries.len() {
            self.settle(self.entries[number].term, number as u32 + 1);
        }
    }
}

/// The first step of a search: the hash of the term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe(u64);

/// The bits of a hash that a bucket may hold: not those that choose it.
#[inline]
fn tag(probe: Probe) -> u32 {
    (probe.0 >> 32) as u32
}

/// Spread the information of a word over all its bits.
#[inline]
fn fold(word: u64) -> u64 {
    let product = u128::from(word) * 0x9E37_79B9_7F4A_7C15;
    product as u64 ^ (product >> 64) as u64
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
    }
}
