//! Postings: the documents of a term, with frequencies.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use crate::blocks::{BlockReader, BlockWriter, Fault};
use crate::pages::make_room;
use crate::prefetch;

/// A document's number and how often it holds the term, in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub(super) struct Posting(u32);

pub(super) const TF_BITS: u32 = 8;
/// Stands for this many or more; the true count is then in [`Postings::frequent`].
pub(super) const TF_MANY: u32 = (1 << TF_BITS) - 1;
/// Documents that can be numbered.
pub(super) const MAX_DOCUMENTS: usize = 1 << (32 - TF_BITS);

impl Posting {
    pub(super) fn new(document: u32, tf: u32) -> Self {
        Self(document << TF_BITS | tf.min(TF_MANY))
    }

    #[inline]
    pub(super) fn document(self) -> u32 {
        self.0 >> TF_BITS
    }

    /// Return the frequency, or [`TF_MANY`] if it is that or more.
    #[inline]
    pub(super) fn tf(self) -> u32 {
        self.0 & TF_MANY
    }
}

/// The postings of all terms, in one vector.
///
/// A term's newest posting lies in its [`List`]; the ones before are in blocks of 2, 8, 32 up to [`BLOCK`] postings, those
/// that were saved in one. Before a block a word says how many postings it has room for, behind it one where the next
/// block begins. Within a list documents ascend.
#[derive(Debug, Default)]
pub(super) struct Postings {
    words: Vec<Posting>,
    frequent: FxHashMap<(u32, u32), u32>,
}

const BLOCK: usize = 1024;

/// Posting list of one term.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(super) struct List {
    newest: Posting,
    /// Postings in blocks.
    stored: u32,
    /// Offset of the first block.
    head: u32,
    /// Offset of the next posting.
    tail: u32,
    /// Documents that are still there.
    live: u32,
    /// Postings that the last block has room for.
    room: u16,
    /// The highest frequency there has been, as kept in a posting.
    peak: u16,
}

impl List {
    /// Documents that hold the term.
    pub(super) fn live(&self) -> usize {
        self.live as usize
    }

    /// Postings to read, those of removed documents included.
    pub(super) fn len(&self) -> usize {
        self.stored as usize + 1
    }

    /// Return a frequency that no document exceeds; none if it is not known.
    pub(super) fn peak(&self) -> Option<u32> {
        Some(u32::from(self.peak)).filter(|&peak| peak < TF_MANY)
    }

    /// Forget one document that holds the term.
    pub(super) fn forget_one(&mut self) {
        self.live -= 1;
    }
}

impl Postings {
    /// Return the list of a term that its first document holds `tf` times.
    pub(super) fn start(&mut self, term: u32, document: u32, tf: u32) -> List {
        self.note_frequent(term, document, tf);
        let newest = Posting::new(document, tf);
        List { newest, stored: 0, head: 0, tail: 0, live: 1, room: 0, peak: newest.tf() as u16 }
    }

    /// Enter a document that is newer than all others of the list.
    #[inline]
    pub(super) fn push(&mut self, list: &mut List, term: u32, document: u32, tf: u32) {
        if list.room == 0 {
            self.start_block(list);
        }
        self.words[list.tail as usize] = list.newest;
        list.tail += 1;
        list.room -= 1;
        list.stored += 1;
        list.newest = Posting::new(document, tf);
        list.live += 1;
        list.peak = list.peak.max(list.newest.tf() as u16);
        self.note_frequent(term, document, tf);
    }

    /// Ask for the place where the list goes on.
    #[inline]
    pub(super) fn approach(&self, list: &List) {
        prefetch(self.words.as_ptr().wrapping_add(list.tail as usize));
    }

    /// Count a term of the newest document; true if it is the first of its kind there.
    ///
    /// The case cannot be predicted, so both do the same work and differ only in the values written.
    #[inline]
    pub(super) fn count(&mut self, list: &mut List, term: u32, document: u32) -> bool {
        let is_first = list.newest.document() != document;
        if is_first && list.room == 0 {
            self.start_block(list);
        }
        let first = u32::from(is_first);
        let position = (list.tail + first).saturating_sub(1) as usize;
        if let Some(word) = self.words.get_mut(position) {
            *word = if is_first { list.newest } else { *word };
        }
        list.tail += first;
        list.room -= first as u16;
        list.stored += first;
        list.live += first;
        let tf = if is_first { 1 } else { list.newest.tf() + 1 };
        list.newest = Posting::new(document, tf);
        list.peak = list.peak.max(list.newest.tf() as u16);
        if tf >= TF_MANY {
            self.repeat_frequent(term, document);
        }
        is_first
    }

    /// Count one more occurrence of a term in a document that holds it at least [`TF_MANY`] times with this one.
    #[cold]
    fn repeat_frequent(&mut self, term: u32, document: u32) {
        let count = self.frequent.entry((term, document)).or_insert(TF_MANY - 1);
        *count = count.saturating_add(1);
    }

    /// Copy a list into other words, with all that is stored in one block that has no room.
    pub(super) fn pack(&self, list: &List, words: &mut Vec<Posting>) -> List {
        let stored = list.stored as usize;
        if stored == 0 {
            return *list;
        }
        let head = words.len();
        words.push(Posting(list.stored));
        words.extend(self.blocks(list).flatten().take(stored));
        words.push(Posting(0));
        List { head: head as u32, tail: (head + 1 + stored) as u32, room: 0, ..*list }
    }

    /// Save the postings, of which the lists are in these words.
    pub(super) fn save<W: Write>(&self, words: &[Posting], out: &mut BlockWriter<W>) -> io::Result<()> {
        let frequent: Vec<[u32; 3]> =
            self.frequent.iter().map(|(&(term, document), &tf)| [term, document, tf]).collect();
        out.write("t.words", words)?;
        out.write("t.often", &frequent)
    }

    pub(super) fn load(from: &BlockReader) -> Result<Self, Fault> {
        let frequent: Vec<[u32; 3]> = from.read("t.often")?;
        let frequent = frequent.into_iter().map(|[term, document, tf]| ((term, document), tf)).collect();
        Ok(Self { words: from.read("t.words")?, frequent })
    }

    fn start_block(&mut self, list: &mut List) {
        let (block, length) = (self.words.len(), block_len(list.stored as usize));
        if list.stored == 0 {
            list.head = block as u32;
        } else {
            self.words[list.tail as usize] = Posting(block as u32);
        }
        let words = length + 2;
        make_room(&mut self.words, words);
        self.words.resize(block + words, Posting(0));
        self.words[block] = Posting(length as u32);
        list.tail = block as u32 + 1;
        list.room = length as u16;
    }

    #[inline]
    fn note_frequent(&mut self, term: u32, document: u32, tf: u32) {
        if tf >= TF_MANY {
            self.frequent.insert((term, document), tf);
        }
    }

    /// Return the frequency of the term in the posting's document.
    #[inline]
    pub(super) fn tf(&self, term: u32, posting: Posting) -> u32 {
        match posting.tf() {
            TF_MANY => self.frequent.get(&(term, posting.document())).copied().unwrap_or(TF_MANY),
            tf => tf,
        }
    }

    /// Get ready to read a list.
    #[inline]
    pub(super) fn prepare(&self, list: &List) {
        prefetch(self.words.as_ptr().wrapping_add(list.head as usize));
    }

    /// Return the postings of a list in slices, documents ascending.
    #[inline]
    pub(super) fn blocks<'a>(&'a self, list: &'a List) -> Blocks<'a> {
        Blocks { words: &self.words, list, at: list.head as usize, read: 0 }
    }
}

/// Iterates over the slices of one list.
#[derive(Debug)]
pub(super) struct Blocks<'a> {
    words: &'a [Posting],
    list: &'a List,
    at: usize,
    read: usize,
}

impl<'a> Iterator for Blocks<'a> {
    type Item = &'a [Posting];

    #[inline]
    fn next(&mut self) -> Option<&'a [Posting]> {
        let stored = self.list.stored as usize;
        if self.read < stored {
            let length = self.words[self.at].0 as usize;
            let (block, behind) = self.words[self.at + 1..].split_at(length);
            let block = &block[..length.min(stored - self.read)];
            self.at = behind[0].0 as usize;
            // The next block lies anywhere; it comes while this one is read.
            prefetch(self.words.as_ptr().wrapping_add(self.at));
            self.read += block.len();
            return Some(block);
        }
        let is_newest = self.read == stored;
        self.read += 1;
        is_newest.then(|| std::slice::from_ref(&self.list.newest))
    }
}

/// Return the length of the block that begins with the posting of that index: about three times what is before it, as
/// blocks of 2, 8, 32 and so on begin at 0, 2, 10 and so on, each at two thirds of a power of four less one.
fn block_len(index: usize) -> usize {
    (2 << ((index * 3 / 2 + 1).ilog2() & !1)).min(BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counting_equals_pushing(entries in prop::collection::vec((1..5_u32, 1..300_u32), 1..40)) {
            let (mut counted, mut pushed) = (Postings::default(), Postings::default());
            let mut lists: Option<(List, List)> = None;
            let mut document = 0;
            for (gap, tf) in entries {
                document += gap;
                let (list, other) = match &mut lists {
                    None => lists.insert((counted.start(7, document, 1), pushed.start(7, document, tf))),
                    Some(lists) => {
                        prop_assert!(counted.count(&mut lists.0, 7, document));
                        pushed.push(&mut lists.1, 7, document, tf);
                        lists
                    }
                };
                for _ in 1..tf {
                    prop_assert!(!counted.count(list, 7, document));
                }
                prop_assert_eq!(list.peak(), other.peak());
                let read = |postings: &Postings, list: &List| -> Vec<(Posting, u32)> {
                    postings.blocks(list).flatten().map(|&posting| (posting, postings.tf(7, posting))).collect()
                };
                prop_assert_eq!(read(&counted, list), read(&pushed, other));
            }
        }

        #[test]
        fn pushed_postings_are_read_back(entries in prop::collection::vec((1..5_u32, 1..400_u32), 1..1500)) {
            let mut postings = Postings::default();
            let mut list = None;
            let mut expected = Vec::new();
            let mut document = 0;
            for (gap, tf) in entries {
                document += gap;
                match &mut list {
                    Some(list) => postings.push(list, 7, document, tf),
                    None => list = Some(postings.start(7, document, tf)),
                }
                expected.push((document, tf));
            }
            let mut list = list.expect("there was an entry");
            let mut packed = Postings { words: vec![Posting(7); 3], frequent: postings.frequent.clone() };
            let mut again = postings.pack(&list, &mut packed.words);
            for _ in 0..2 {
                prop_assert!(packed.blocks(&again).flatten().eq(postings.blocks(&list).flatten()));
                document += 1;
                packed.push(&mut again, 7, document, 1);
                postings.push(&mut list, 7, document, 1);
                expected.push((document, 1));
            }
            let read = postings.blocks(&list).flatten();
            let read: Vec<(u32, u32)> = read.map(|&posting| (posting.document(), postings.tf(7, posting))).collect();
            prop_assert_eq!(list.len(), read.len());
            let peak = expected.iter().map(|entry| entry.1).max().filter(|&peak| peak < TF_MANY);
            prop_assert_eq!(list.peak(), peak);
            prop_assert_eq!(read, expected);
        }
    }
}
