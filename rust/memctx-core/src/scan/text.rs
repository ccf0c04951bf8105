//! One text of a message, read once.

use std::cell::RefCell;
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

use super::recalled;
use super::terms::Terms;
use crate::recall::Stored;
use crate::text::{Term, weighted_len};

thread_local! {
    static SCRATCH: RefCell<Vec<Term>> = const { RefCell::new(Vec::new()) };
}

/// A text of a message with what was found out about it, shared by all turns that see it again.
#[derive(Debug)]
pub struct Text {
    body: Box<str>,
    hash: u64,
    tokens: u32,
    is_block: bool,
    is_blank: bool,
    weighted_len: OnceLock<usize>,
    stored: OnceLock<Stored>,
    terms: OnceLock<Terms>,
}

impl Text {
    /// A text that costs so many tokens.
    #[must_use]
    pub fn new(body: &str, tokens: u32) -> Self {
        Self {
            body: body.into(),
            hash: key_of(body),
            tokens,
            is_block: recalled::is_block(body),
            is_blank: body.chars().all(char::is_whitespace),
            weighted_len: OnceLock::new(),
            stored: OnceLock::new(),
            terms: OnceLock::new(),
        }
    }

    /// The text itself.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// XXH3 of the text: the same on every machine and in every version.
    #[must_use]
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// What it costs the model.
    #[must_use]
    pub const fn tokens(&self) -> u32 {
        self.tokens
    }

    /// Whether all of it is one block that we put there.
    pub(crate) const fn is_block(&self) -> bool {
        self.is_block
    }

    /// Whether there is nothing to read in it.
    pub(crate) const fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// Its length in UTF-16 units with each CJK character as long as a token; measured when first asked for.
    pub(crate) fn weighted_len(&self) -> usize {
        *self.weighted_len.get_or_init(|| weighted_len(&self.body))
    }

    /// How it would be stored; found out when first asked for.
    pub(crate) fn stored(&self) -> &Stored {
        self.stored.get_or_init(|| Stored::of(&self.body))
    }

    /// Whether somebody has asked for its terms.
    pub(crate) fn has_terms(&self) -> bool {
        self.terms.get().is_some()
    }

    /// What search sees in it, in order and with repeats; made when first asked for.
    pub fn terms(&self) -> &[Term] {
        self.terms.get_or_init(|| SCRATCH.with_borrow_mut(|room| Terms::of(&self.body, room)))
    }

    /// Find out the terms of texts that nobody has asked for yet.
    pub(crate) fn read_all(texts: &[&Self]) {
        for (text, terms) in texts.iter().zip(Terms::of_all(texts.iter().map(|text| text.body()))) {
            // Who was quicker found the same.
            let _ = text.terms.set(terms);
        }
    }
}

/// XXH3 of a text.
#[must_use]
pub fn key_of(body: &str) -> u64 {
    xxh3_64(body.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_together_have_the_terms_of_texts_read_alone() {
        // The third must be read twice, since it is in another form.
        let bodies = ["payHook 飞书", "", "ﾃｽﾄ e\u{301} 한국어", "again payHook"];
        let [together, alone] = [(); 2].map(|()| bodies.map(|body| Text::new(body, 1)));
        Text::read_all(&together.each_ref());
        for (one, other) in together.iter().zip(&alone) {
            assert!(one.has_terms() && !other.has_terms());
            assert_eq!(one.terms(), other.terms());
        }
        assert_eq!(together[1].terms(), []);
    }
}
