//! Which documents hold a term, and how often.

use rustc_hash::FxHashMap;

/// A document's number and how often it holds the term, in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Posting(pub(super) u32);

const TF_BITS: u32 = 8;
/// Stands for this many or more; the true count is then in [`Postings::frequent`].
const TF_MANY: u32 = (1 << TF_BITS) - 1;
/// Documents that can be numbered.
pub(super) const MAX_DOCUMENTS: usize = 1 << (32 - TF_BITS);

impl Posting {
    #[inline]
    pub(super) fn document(self) -> u32 {
        self.0 >> TF_BITS
    }

    #[inline]
    fn tf(self) -> u32 {
        self.0 & TF_MANY
    }
}

/// The postings of all terms, in one vector.
///
/// A term's newest posting lies in its [`List`]; the ones before are in blocks of 2, 4, 8 up to [`BLOCK`] postings,
/// each behind a word that says where the next block begins. Within a list documents ascend.
#[derive(Debug, Default)]
pub(super) struct Postings {
    words: Vec<u32>,
    lists: Vec<List>,
    frequent: FxHashMap<(u32, u32), u32>,
}

const BLOCK: usize = 256;

#[derive(Clone, Copy, Debug)]
struct List {
    newest: Posting,
    /// Postings in blocks.
    stored: u32,
    /// Where the first block begins.
    head: u32,
    /// Where the next posting goes.
    tail: u32,
    /// Documents that are still there.
    live: u32,
    /// The highest frequency there has been, as kept in a posting.
    peak: u32,
}

impl Postings {
    /// Count the term once more in the newest document; true if it was not yet there.
    #[inline]
    pub(super) fn push(&mut self, term: u32, document: u32) -> bool {
        let fresh = Posting(document << TF_BITS | 1);
        let Some(list) = self.lists.get_mut(term as usize) else {
            self.lists.push(List { newest: fresh, stored: 0, head: 0, tail: 0, live: 1, peak: 1 });
            return true;
        };
        if list.newest.document() == document {
            if list.newest.tf() < TF_MANY - 1 {
                list.newest.0 += 1;
                list.peak = list.peak.max(list.newest.tf());
            } else {
                self.push_frequent(term, document);
            }
            return false;
        }
        self.store_newest(term);
        let list = &mut self.lists[term as usize];
        list.newest = fresh;
        list.live += 1;
        true
    }

    #[cold]
    fn push_frequent(&mut self, term: u32, document: u32) {
        let list = &mut self.lists[term as usize];
        list.newest.0 |= TF_MANY;
        list.peak = TF_MANY;
        *self.frequent.entry((term, document)).or_insert(TF_MANY - 1) += 1;
    }

    /// Enter a document that is newer than all others of the term, with its frequency.
    pub(super) fn restore(&mut self, term: u32, document: u32, tf: u32) {
        self.push(term, document);
        let list = &mut self.lists[term as usize];
        list.newest.0 = document << TF_BITS | tf.min(TF_MANY);
        list.peak = list.peak.max(tf.min(TF_MANY));
        if tf >= TF_MANY {
            self.frequent.insert((term, document), tf);
        }
    }

    #[inline]
    fn store_newest(&mut self, term: u32) {
        let list = &mut self.lists[term as usize];
        let stored = list.stored as usize;
        if is_block_start(stored) {
            let block = self.words.len();
            if stored == 0 {
                list.head = block as u32;
            } else {
                let previous = list.tail as usize - block_len(stored - 1) - 1;
                self.words[previous] = block as u32;
            }
            self.words.resize(block + 1 + block_len(stored), 0);
            list.tail = block as u32 + 1;
        }
        self.words[list.tail as usize] = list.newest.0;
        list.tail += 1;
        list.stored += 1;
    }

    /// One document that holds the term is gone.
    pub(super) fn forget_one(&mut self, term: u32) {
        self.lists[term as usize].live -= 1;
    }

    /// Documents that hold the term.
    pub(super) fn live(&self, term: u32) -> usize {
        self.lists[term as usize].live as usize
    }

    /// Postings to read for the term, those of removed documents included.
    pub(super) fn len(&self, term: u32) -> usize {
        self.lists[term as usize].stored as usize + 1
    }

    /// A frequency that no document exceeds for the term; none if it is not known.
    pub(super) fn peak(&self, term: u32) -> Option<u32> {
        let peak = self.lists[term as usize].peak;
        (peak < TF_MANY).then_some(peak)
    }

    /// How often the posting's document holds the term.
    #[inline]
    pub(super) fn tf(&self, term: u32, posting: Posting) -> u32 {
        match posting.tf() {
            TF_MANY => self.frequent.get(&(term, posting.document())).copied().unwrap_or(TF_MANY),
            tf => tf,
        }
    }

    /// The term's postings in slices, documents ascending. Each word is a [`Posting`].
    #[inline]
    pub(super) fn blocks(&self, term: u32) -> Blocks<'_> {
        let list = &self.lists[term as usize];
        Blocks { words: &self.words, list, at: list.head as usize, read: 0 }
    }
}

/// Iterates over the slices of one list.
#[derive(Debug)]
pub(super) struct Blocks<'a> {
    words: &'a [u32],
    list: &'a List,
    at: usize,
    read: usize,
}

impl<'a> Iterator for Blocks<'a> {
    type Item = &'a [u32];

    #[inline]
    fn next(&mut self) -> Option<&'a [u32]> {
        let stored = self.list.stored as usize;
        if self.read < stored {
            let length = block_len(self.read).min(stored - self.read);
            let block = &self.words[self.at + 1..][..length];
            self.at = self.words[self.at] as usize;
            self.read += length;
            return Some(block);
        }
        let is_newest = self.read == stored;
        self.read += 1;
        is_newest.then(|| std::slice::from_ref(&self.list.newest.0))
    }
}

/// Whether a block begins with the posting of that index.
fn is_block_start(index: usize) -> bool {
    if index < BLOCK { (index + 2).is_power_of_two() } else { (index + 2).is_multiple_of(BLOCK) }
}

/// The length of the block that the posting of that index lies in.
fn block_len(index: usize) -> usize {
    (1 << (index + 2).ilog2()).min(BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All postings of a term, as (document, frequency).
    fn read(postings: &Postings, term: u32) -> Vec<(u32, u32)> {
        let words = postings.blocks(term).flatten().map(|&word| Posting(word));
        words.map(|posting| (posting.document(), postings.tf(term, posting))).collect()
    }

    #[test]
    fn frequencies_beyond_a_byte_are_exact() {
        let mut postings = Postings::default();
        for document in 0..3 {
            for _ in 0..=250 + 5 * document {
                postings.push(0, document);
            }
        }
        assert_eq!(read(&postings, 0), [(0, 251), (1, 256), (2, 261)]);
        assert_eq!(postings.peak(0), None);
    }

    proptest! {
        #[test]
        fn what_was_pushed_is_read(gaps in prop::collection::vec((1..5_u32, 1..4_u32), 1..1500)) {
            let mut postings = Postings::default();
            let mut expected = Vec::new();
            let mut document = 0;
            for (gap, tf) in gaps {
                document += gap;
                for repeat in 0..tf {
                    prop_assert_eq!(postings.push(0, document), repeat == 0);
                }
                expected.push((document, tf));
            }
            prop_assert_eq!(read(&postings, 0), expected);
        }
    }
}
