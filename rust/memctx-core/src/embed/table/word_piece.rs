//! WordPiece tokenizer: the longest known pieces, from the left.

use std::ops::ControlFlow;

use super::description::Model;
use super::vocabulary::Vocabulary;
use super::words::{Rules, Words};

/// A word longer than this is unknown, unless the file says otherwise.
const MOST_CHARS: usize = 100;

/// The tokenizer of BERT and its kin.
#[derive(Debug)]
pub(super) struct WordPiece {
    words: Words,
    /// Pieces that a word can start with.
    starts: Vocabulary,
    /// Pieces that can follow another, without the prefix that marks them.
    rests: Vocabulary,
    unknown: Option<u32>,
    most_chars: usize,
}

impl WordPiece {
    pub(super) fn new(model: &Model<'_>, limit: usize, rules: Rules) -> Result<Self, String> {
        let vocab = model.vocab(limit)?;
        let prefix = model.continuing_subword_prefix.as_deref().unwrap_or("##");
        let pieces = || vocab.iter().map(|(piece, &id)| (piece.as_str(), id));
        Ok(Self {
            words: Words::new(rules),
            starts: Vocabulary::new(pieces()),
            rests: Vocabulary::new(pieces().filter_map(|(piece, id)| Some((piece.strip_prefix(prefix)?, id)))),
            unknown: model.unk_token.as_ref().and_then(|token| vocab.get(token).copied()),
            most_chars: model.max_input_chars_per_word.unwrap_or(MOST_CHARS),
        })
    }

    pub(super) fn is_latin_only(&self) -> bool {
        self.starts.is_latin_only()
    }

    pub(super) fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// Add the numbers of a text's pieces until there are `most`, or a few more.
    pub(super) fn split(&self, text: &str, most: usize, ids: &mut Vec<u32>) {
        let _ = self.words.for_each(text, self.most_chars, |word| {
            let length = ids.len();
            if !word.is_some_and(|word| self.cut(word, ids)) {
                ids.truncate(length);
                ids.extend(self.unknown);
            }
            if ids.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }

    /// Return false if some part of the word is no piece.
    fn cut(&self, word: &str, ids: &mut Vec<u32>) -> bool {
        let mut rest = word;
        while !rest.is_empty() {
            let vocabulary = if rest.len() == word.len() { &self.starts } else { &self.rests };
            let mut end = rest.len().min(vocabulary.longest());
            let found = loop {
                while !rest.is_char_boundary(end) {
                    end -= 1;
                }
                if end == 0 {
                    return false;
                }
                if let Some(id) = vocabulary.get(&rest[..end]) {
                    break id;
                }
                end -= 1;
            };
            ids.push(found);
            rest = &rest[end..];
        }
        true
    }
}
