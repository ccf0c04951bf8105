//! Vocabulary of a tokenizer: pieces and their numbers.

use std::fmt;

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use crate::text::is_cjk;

/// From a piece to its number, with all texts in one string.
pub(super) struct Vocabulary {
    text: String,
    entries: HashTable<Entry>,
    longest: usize,
}

#[derive(Clone, Copy)]
struct Entry {
    start: u32,
    end: u32,
    id: u32,
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary").field("pieces", &self.entries.len()).finish_non_exhaustive()
    }
}

impl Vocabulary {
    /// Of two that read the same the later one counts. All texts together must be shorter than 4 GiB.
    pub(super) fn new<'a>(pieces: impl IntoIterator<Item = (&'a str, u32)>) -> Self {
        let mut text = String::new();
        let mut entries: HashTable<Entry> = HashTable::new();
        let mut longest = 0;
        for (piece, id) in pieces {
            let hash = xxh3_64(piece.as_bytes());
            if let Some(entry) = entries.find_mut(hash, |entry| entry.text(&text) == piece) {
                entry.id = id;
                continue;
            }
            let start = text.len() as u32;
            text.push_str(piece);
            longest = longest.max(piece.len());
            let entry = Entry { start, end: text.len() as u32, id };
            entries.insert_unique(hash, entry, |entry| xxh3_64(entry.text(&text).as_bytes()));
        }
        Self { text, entries, longest }
    }

    /// Return whether so few pieces are of Chinese, Japanese or Korean that nothing is known of what is said in them.
    pub(super) fn is_latin_only(&self) -> bool {
        /// Vocabularies made for English have a few single characters, those made for many languages far more.
        const SOME: usize = 20;
        let cjk = self.entries.iter().filter(|entry| entry.text(&self.text).contains(is_cjk)).count();
        cjk * SOME < self.entries.len()
    }

    #[inline]
    pub(super) fn get(&self, piece: &str) -> Option<u32> {
        let entry = self.entries.find(xxh3_64(piece.as_bytes()), |entry| entry.text(&self.text) == piece)?;
        Some(entry.id)
    }

    /// Return the length of the longest piece in bytes.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Return every piece with its number, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.entries.iter().map(|entry| (entry.text(&self.text), entry.id))
    }
}

impl Entry {
    #[inline]
    fn text(self, all: &str) -> &str {
        &all[self.start as usize..self.end as usize]
    }
}
