//! Tokenizer: from text to search terms.
//!
//! The rules of [`Mode::Memctx`], on the text in NFKC form:
//!
//! 1. A Han, kana, hangul or bopomofo character is a token; so is each adjacent pair, which follows its second
//!    character: 飞书消 gives 飞, 书, 飞书, 消, 书消.
//! 2. Every other run of letters and numbers is a word, lower-cased character by character.
//! 3. Words joined by exactly one of `_ - . / : \ @`, with the next word right behind it, form an identifier.
//! 4. A capital begins a new part of a word when a letter that is no capital stands before it, and when a small
//!    letter stands behind it and anything before it: `parseHTTPHeader` is `parse`, `http`, `header`. But if that small
//!    letter is a lone `s`, with no small letter or digit following, it is a plural: `APIs` is one part.
//! 5. An identifier gives its parts in order and then, if there were several, itself: `src/payHook.rs` gives
//!    `src`, `pay`, `hook`, `rs`, `src/payhook.rs`.
//! 6. Marks and invisible format characters are read over. Everything else ends a word, an identifier and a chain
//!    of pairs.
//!
//! No token is allocated: each is a slice of the text or, where the two differ, of one reused buffer.

use unicode_normalization::UnicodeNormalization as _;

use super::class::{Class, FOLDS};
use super::common::{Read, push_common};
use super::identifier::Identifier;
use super::lanes::BLOCK;
use super::pairs::PairChain;
use super::sink::{Each, Terms, TokenSink};
use super::term::Term;
use super::{openclaw, script, swar};
use crate::{Error, Result};

/// Tokenizer to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Knows every CJK script and the anatomy of identifiers.
    #[default]
    Memctx,
    /// Token for token as OpenClaw: CJK is Han and CJK punctuation only, symbols glue words together.
    OpenClaw,
}

impl Mode {
    /// Return the mode of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "memctx" => Ok(Self::Memctx),
            "openclaw" => Ok(Self::OpenClaw),
            _ => Err(Error::argument("mode", "\"memctx\" or \"openclaw\"", format!("{name:?}"))),
        }
    }

    /// Return the name that [`Mode::parse`] takes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memctx => "memctx",
            Self::OpenClaw => "openclaw",
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
    let sink = &mut Each(emit);
    match mode {
        Mode::OpenClaw => openclaw::tokenize(text, sink),
        Mode::Memctx if script::needs_folding(text) => scan_folded(text, sink),
        Mode::Memctx => {
            scan::<false>(text, sink);
        }
    }
}

/// Give `sink` every token of the text, in order.
pub fn tokenize(text: &str, mode: Mode, sink: &mut impl TokenSink) {
    match mode {
        Mode::OpenClaw => openclaw::tokenize(text, sink),
        // Nearly every text is in the right form: so it is read as if it were, and read again in the other case.
        Mode::Memctx if !scan::<true>(text, sink) => {
            sink.start_over();
            scan_folded(text, sink);
        }
        Mode::Memctx => {}
    }
}

/// Replace `terms` by the words of the tokens of the text, in order.
pub(crate) fn terms_into(text: &str, mode: Mode, terms: &mut Vec<Term>) {
    tokenize(text, mode, &mut Terms::in_place_of(terms));
}

#[cold]
fn scan_folded(text: &str, sink: &mut impl TokenSink) {
    scan::<false>(&text.nfkc().collect::<String>(), sink);
}

/// Walk a text that is in NFKC form, but for full-width ASCII. If it may be in another, the walk ends at the first
/// character that shows it, and gives false.
fn scan<const MAY_FOLD: bool>(text: &str, sink: &mut impl TokenSink) -> bool {
    let mut identifier = Identifier::new(text);
    let mut pairs = PairChain::new(text);
    // Where little is common, looking for it takes longer than the walk.
    let mut may_be_common = 0;
    let mut at = 0;
    while let Some((byte, mut end)) = script::byte_at(text, at) {
        if MAY_FOLD && byte & FOLDS != 0 {
            return false;
        }
        let mut class = Class::of(byte);
        let wide = (class == Class::Wide).then(|| narrow(text, at));
        if let Some((_, narrow_class)) = wide {
            class = narrow_class;
        }
        let is_plain = match class {
            Class::Lower | Class::Digit => wide.is_none(),
            class => class == Class::Upper && end == at + 1,
        };
        if is_plain && !identifier.is_open() && at >= may_be_common {
            let read = push_common(text, Read { end: at, is_behind_cjk: false }, sink);
            if read.end > at {
                pairs.go_on(read);
                at = read.end;
                continue;
            }
            may_be_common = at + BLOCK;
        }
        match class {
            Class::Lower | Class::Digit => {
                pairs.stop();
                if let Some((c, _)) = wide {
                    identifier.push_folded(c, class, sink);
                } else {
                    let first_end = end;
                    end = small_run(text, end);
                    let last = if end > first_end { class_of_small(text.as_bytes()[end - 1]) } else { class };
                    identifier.push_small(at, &text[at..end], (class, last), sink);
                }
            }
            Class::Upper => {
                pairs.stop();
                if let Some(c) = wide.map(|(c, _)| c).or_else(|| text[at..].chars().next()) {
                    identifier.push_capital(c, sink);
                }
            }
            Class::Cjk => {
                identifier.finish(sink);
                pairs.push(at, end, sink);
                if script::is_wide_cjk(text, at) {
                    let read = push_common(text, Read { end, is_behind_cjk: true }, sink);
                    pairs.go_on(read);
                    end = read.end;
                }
            }
            Class::Connector if identifier.is_open() && is_word_at(text, end) => {
                identifier.join(wide.map(|(c, _)| c), at, end, sink);
            }
            Class::Break | Class::Connector => {
                identifier.finish(sink);
                pairs.stop();
            }
            Class::Skip | Class::Wide => {}
        }
        at = end;
    }
    identifier.finish(sink);
    true
}

/// Return the ASCII character that a full-width one at `at` stands for, and its class.
#[cold]
fn narrow(text: &str, at: usize) -> (char, Class) {
    // U+FF01..=U+FF5E are the printable ASCII characters in the same order.
    let wide = text[at..].chars().next().map_or(0, u32::from);
    let c = char::from(wide.wrapping_sub(0xFEE0) as u8);
    (c, Class::of(script::byte_of(c)))
}

/// Return the end of a run of ASCII small letters and digits that continues at `at`.
#[inline]
fn small_run(text: &str, mut at: usize) -> usize {
    loop {
        let run = swar::small_run(&text.as_bytes()[at..]);
        at += run;
        if run < swar::SMALL_RUN {
            return at;
        }
    }
}

/// Return the class of an ASCII small letter or digit.
fn class_of_small(byte: u8) -> Class {
    if byte.is_ascii_digit() { Class::Digit } else { Class::Lower }
}

fn is_word_at(text: &str, at: usize) -> bool {
    let class = script::byte_at(text, at).map(|(byte, _)| Class::of(byte));
    match class {
        Some(Class::Wide) => matches!(narrow(text, at).1, Class::Lower | Class::Upper | Class::Digit),
        class => matches!(class, Some(Class::Lower | Class::Upper | Class::Digit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn terms_are_those_of_the_tokens(
            text in "([a-zA-Z0-9_./]{1,9}|[一-龥]{1,9}|[飞書カ한]{1,5}|[ﾃｽﾄﬁe\u{301}ｗ１\u{F900}\u{200D}]|[ .!、]){0,40}",
        ) {
            let mut expected = Vec::new();
            for_each_token(&text, Mode::Memctx, |token| expected.push(Term::new(token)));
            let mut terms = vec![Term::new("of another text")];
            terms_into(&text, Mode::Memctx, &mut terms);
            prop_assert_eq!(terms, expected);
        }
    }
}
