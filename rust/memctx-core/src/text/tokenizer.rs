//! From text to the terms that search works on.
//!
//! The rules of [`Mode::Memctx`], on the text in NFKC form:
//!
//! 1. A Han, kana, hangul or bopomofo character is a token; so is each adjacent pair, which follows its second
//!    character: 飞书消 gives 飞, 书, 飞书, 消, 书消.
//! 2. Every other run of letters and numbers is a word, lower-cased character by character.
//! 3. Words joined by exactly one of `_ - . / : \ @` form an identifier.
//! 4. A capital begins a new part of a word when a letter that is no capital stands before it, and when a small
//!    letter stands behind it and anything before it: `parseHTTPHeader` is `parse`, `http`, `header`. But a lone `s`
//!    behind two or more capitals, with no small letter or digit following, is a plural: `APIs` is one part.
//! 5. An identifier gives its parts in order and then, if there were several, itself: `src/payHook.rs` gives
//!    `src`, `pay`, `hook`, `rs`, `src/payhook.rs`.
//! 6. Marks and invisible format characters are read over. Everything else ends a word, an identifier and a chain
//!    of pairs.
//!
//! No token is allocated: each is a slice of the text or, where the two differ, of one reused buffer.

use unicode_normalization::UnicodeNormalization as _;

use super::class::Class;
use super::identifier::Identifier;
use super::pairs::PairChain;
use super::{original, script};
use crate::{Error, Result};

/// Which tokenizer to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Knows every CJK script and the anatomy of identifiers.
    #[default]
    Memctx,
    /// The TypeScript original, token for token: CJK is Han and CJK punctuation only, symbols glue words together.
    Original,
}

impl Mode {
    /// The mode of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "memctx" => Ok(Self::Memctx),
            "original" => Ok(Self::Original),
            _ => Err(Error::argument("mode", "\"memctx\" or \"original\"", format!("{name:?}"))),
        }
    }

    /// The name that [`Mode::parse`] takes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memctx => "memctx",
            Self::Original => "original",
        }
    }
}

/// Call `emit` with every token of the text, in order.
///
/// ```
/// use memctx_core::text::{Mode, for_each_token};
///
/// let mut tokens = Vec::new();
/// for_each_token("payHook 飞书", Mode::Memctx, |token| tokens.push(token.to_owned()));
/// assert_eq!(tokens, ["pay", "hook", "payhook", "飞", "书", "飞书"]);
/// ```
pub fn for_each_token(text: &str, mode: Mode, emit: impl FnMut(&str)) {
    match mode {
        Mode::Original => original::for_each_token(text, emit),
        Mode::Memctx if script::needs_folding(text) => scan(&text.nfkc().collect::<String>(), emit),
        Mode::Memctx => scan(text, emit),
    }
}

/// Walk a text that is in NFKC form, but for full-width ASCII.
fn scan(text: &str, mut emit: impl FnMut(&str)) {
    let mut identifier = Identifier::new(text);
    let mut pairs = PairChain::new(text);
    let mut at = 0;
    while let Some((c, class, mut end)) = read(text, at) {
        match class {
            Class::Lower | Class::Digit => {
                pairs.stop();
                if end - at == c.len_utf8() {
                    let (run_end, last) = small_run(text, end, class);
                    end = run_end;
                    identifier.push_small(at, &text[at..end], (class, last), &mut emit);
                } else {
                    identifier.push_folded(c, class, &mut emit);
                }
            }
            Class::Upper => {
                pairs.stop();
                identifier.push_capital(c, &mut emit);
            }
            Class::Cjk => {
                identifier.finish(&mut emit);
                pairs.push(at, end, &mut emit);
            }
            Class::Connector if identifier.is_open() && is_word_at(text, end) => {
                identifier.join(c, at, end, &mut emit);
            }
            Class::Break | Class::Connector => {
                identifier.finish(&mut emit);
                pairs.stop();
            }
            Class::Skip | Class::Wide => {}
        }
        at = end;
    }
    identifier.finish(&mut emit);
}

/// The character at `at`, narrow if it was full-width, with its class and where it ends in the text.
#[inline]
fn read(text: &str, at: usize) -> Option<(char, Class, usize)> {
    let first = *text.as_bytes().get(at)?;
    if first.is_ascii() {
        return Some((char::from(first), Class::of(script::ascii_byte_of(first)), at + 1));
    }
    let c = text[at..].chars().next()?;
    let end = at + c.len_utf8();
    match Class::of(script::byte_of(c)) {
        Class::Wide => {
            // U+FF01..=U+FF5E are the printable ASCII characters in the same order.
            let narrow = (c as u32 - 0xFEE0) as u8;
            Some((char::from(narrow), Class::of(script::ascii_byte_of(narrow)), end))
        }
        class => Some((c, class, end)),
    }
}

/// Where a run of ASCII small letters and digits that goes on at `at` ends, and the class of its last character.
#[inline]
fn small_run(text: &str, mut at: usize, mut last: Class) -> (usize, Class) {
    while let Some(&byte) = text.as_bytes().get(at) {
        if byte.is_ascii_lowercase() {
            last = Class::Lower;
        } else if byte.is_ascii_digit() {
            last = Class::Digit;
        } else {
            break;
        }
        at += 1;
    }
    (at, last)
}

fn is_word_at(text: &str, at: usize) -> bool {
    matches!(read(text, at), Some((_, Class::Lower | Class::Upper | Class::Digit, _)))
}
