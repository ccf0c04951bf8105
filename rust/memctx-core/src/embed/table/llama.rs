//! Byte-pair tokenizer of Llama: joins the most urgent pair first, with spaces as part of the words they precede.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use rustc_hash::FxHashMap;

use super::description::Model;
use super::vocabulary::Vocabulary;

const NONE: u32 = u32::MAX;

/// Number of extra pieces that are cut, so that the end of the input does not affect the ones asked for.
const LOOKAHEAD: usize = 16;

/// The tokenizer of Llama and its kin.
pub(super) struct Llama {
    vocabulary: Vocabulary,
    merges: FxHashMap<(u32, u32), Merge>,
    /// The pieces that are one ASCII character, which most symbols begin as.
    ascii: Box<[Option<u32>; 128]>,
    /// Pieces that stand for one byte each, for characters that are no pieces.
    bytes: Box<[Option<u32>; 256]>,
    unknown: Option<u32>,
    fuses_unknown: bool,
    /// Replacement for a space, and the start of every text.
    space: char,
    /// True if no pair is ever joined across the end of a word, so that each word can be cut by itself.
    splits: bool,
    /// Pieces whose own text is cut into just that piece. Most words are found among them, at one blow.
    wholes: Vocabulary,
}

#[derive(Clone, Copy)]
struct Merge {
    rank: u32,
    id: u32,
}

/// Symbols of a word as a linked list, and the joins to do, kept between words.
#[derive(Default)]
struct Scratch {
    symbols: Vec<Symbol>,
    /// Rank and place; a join whose pair has changed since is passed over.
    joins: BinaryHeap<Reverse<(u32, u32)>>,
}

#[derive(Clone, Copy)]
struct Symbol {
    id: u32,
    previous: u32,
    next: u32,
}

impl fmt::Debug for Llama {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let merges = self.merges.len();
        f.debug_struct("Llama").field("vocabulary", &self.vocabulary).field("merges", &merges).finish_non_exhaustive()
    }
}

impl Llama {
    pub(super) fn new(model: &Model<'_>, limit: usize, space: char) -> Result<Self, String> {
        let vocab = model.vocab(limit)?;
        let id_of = |piece: &str| {
            vocab
                .get(piece)
                .copied()
                .ok_or_else(|| format!("`model.merges` needs {piece:?}, which is not in the vocabulary"))
        };
        let mut space_text = [0; 4];
        id_of(space.encode_utf8(&mut space_text))?;
        let mut merges = FxHashMap::default();
        let mut splits = true;
        for ([left, right], rank) in model.merges()?.into_iter().zip(0..) {
            let id = id_of(&format!("{left}{right}"))?;
            merges.insert((id_of(&left)?, id_of(&right)?), Merge { rank, id });
            splits &= left.ends_with(space) || !right.starts_with(space);
        }
        let byte = |byte: usize| vocab.get(&format!("<0x{byte:02X}>")).copied().filter(|_| model.byte_fallback);
        let vocabulary = Vocabulary::new(vocab.iter().map(|(piece, &id)| (piece.as_str(), id)));
        let ascii = |code: usize| vocabulary.get(char::from(code as u8).encode_utf8(&mut [0; 4]));
        let mut llama = Self {
            ascii: Box::new(std::array::from_fn(ascii)),
            merges,
            bytes: Box::new(std::array::from_fn(byte)),
            unknown: model.unk_token.as_ref().and_then(|token| vocab.get(token).copied()),
            fuses_unknown: model.fuse_unk,
            space,
            splits,
            wholes: Vocabulary::new([]),
            vocabulary,
        };
        let (mut scratch, mut ids) = (Scratch::default(), Vec::new());
        llama.wholes = Vocabulary::new(llama.vocabulary.iter().filter(|(piece, id)| {
            ids.clear();
            llama.join(piece, &mut scratch, &mut ids);
            ids == [*id]
        }));
        Ok(llama)
    }

    pub(super) fn is_latin_only(&self) -> bool {
        self.vocabulary.is_latin_only()
    }

    pub(super) fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// Add the numbers of a text's pieces until there are `most`, or a few more.
    pub(super) fn split(&self, text: &str, most: usize, ids: &mut Vec<u32>) {
        // No piece is longer than the longest. What follows can decide where a piece ends, hence some more.
        let text = self.form(start_of(text, most.saturating_add(LOOKAHEAD).saturating_mul(self.vocabulary.longest())));
        let mut scratch = Scratch::default();
        let mut start = 0;
        while start < text.len() && ids.len() < most {
            let end = if self.splits { self.end_of_word(&text, start) } else { text.len() };
            let word = &text[start..end];
            start = end;
            match self.wholes.get(word) {
                Some(id) => ids.push(id),
                None => self.join(word, &mut scratch, ids),
            }
        }
    }

    /// Return the text with marks for its spaces and one before it.
    fn form(&self, text: &str) -> String {
        let mut form = String::with_capacity(text.len() + text.len() / 2 + 4);
        for word in text.split(' ') {
            form.push(self.space);
            form.push_str(word);
        }
        form
    }

    /// Return the start of the next word: a space after anything but a space.
    fn end_of_word(&self, text: &str, start: usize) -> usize {
        let letters = text[start..].trim_start_matches(self.space);
        letters.find(self.space).map_or(text.len(), |end| text.len() - letters.len() + end)
    }

    fn join(&self, word: &str, scratch: &mut Scratch, ids: &mut Vec<u32>) {
        let Scratch { symbols, joins } = scratch;
        symbols.clear();
        let mut buffer = [0; 4];
        for c in word.chars() {
            let piece: &str = c.encode_utf8(&mut buffer);
            let known = self.ascii.get(c as usize).copied().unwrap_or_else(|| self.vocabulary.get(piece));
            if let Some(id) = known {
                push(symbols, id);
            } else if piece.bytes().all(|byte| self.bytes[usize::from(byte)].is_some()) {
                piece.bytes().filter_map(|byte| self.bytes[usize::from(byte)]).for_each(|id| push(symbols, id));
            } else if let Some(id) = self.unknown
                && !(self.fuses_unknown && symbols.last().is_some_and(|last| last.id == id))
            {
                push(symbols, id);
            }
        }
        joins.extend((0..symbols.len() as u32).filter_map(|at| Some(Reverse((self.merge_at(symbols, at)?.rank, at)))));
        while let Some(Reverse((rank, at))) = joins.pop() {
            let Some(merge) = self.merge_at(symbols, at).filter(|merge| merge.rank == rank) else { continue };
            let Symbol { previous, next: joined, .. } = symbols[at as usize];
            let next = symbols[joined as usize].next;
            // No pair has this number, so what was joined is never joined again.
            symbols[joined as usize].id = NONE;
            symbols[at as usize] = Symbol { id: merge.id, previous, next };
            if let Some(after) = symbols.get_mut(next as usize) {
                after.previous = at;
            }
            for at in [previous, at] {
                joins.extend(self.merge_at(symbols, at).map(|merge| Reverse((merge.rank, at))));
            }
        }
        ids.extend(symbols.iter().map(|symbol| symbol.id).filter(|&id| id != NONE));
    }

    /// Return the merge of the symbol at an index with the one after it.
    #[inline]
    fn merge_at(&self, symbols: &[Symbol], at: u32) -> Option<Merge> {
        let left = symbols.get(at as usize)?;
        let right = symbols.get(left.next as usize)?;
        self.merges.get(&(left.id, right.id)).copied()
    }
}

/// Append a symbol; the last one's next is past the end.
fn push(symbols: &mut Vec<Symbol>, id: u32) {
    let at = symbols.len() as u32;
    symbols.push(Symbol { id, previous: at.checked_sub(1).unwrap_or(NONE), next: at + 1 });
}

/// At most so many bytes of a text, and whole characters.
fn start_of(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
