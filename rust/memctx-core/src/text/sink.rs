//! Who takes the tokens of a text.

use super::script::WIDE;
use super::term::Term;
use super::word::Word;

/// Takes the tokens of a text, in order.
///
/// CJK text is nearly all characters of three bytes and pairs of them. They come through doors of their own, for
/// whoever does something quicker with them than with tokens of any length.
pub trait TokenSink {
    /// Take a token.
    fn token(&mut self, token: &str);

    /// Take a short token of ASCII.
    #[inline]
    fn word(&mut self, word: Word) {
        self.token(word.spell(&mut [0; _]));
    }

    /// Take a token that is one CJK character of three bytes: where in the text it begins, and its code.
    #[inline]
    fn character(&mut self, text: &str, at: usize, _code: u16) {
        self.token(&text[at..at + WIDE]);
    }

    /// Take two tokens: such a character right behind another one, and both together. Their codes come with them.
    #[inline]
    fn follower(&mut self, text: &str, at: usize, _codes: [u16; 2]) {
        self.token(&text[at..at + WIDE]);
        self.token(&text[at - WIDE..at + WIDE]);
    }

    /// Forget all tokens: the text turned out to be in another form, and is read again.
    fn start_over(&mut self);
}

/// Hands every token to a function.
pub(super) struct Each<F>(pub(super) F);

impl<F: FnMut(&str)> TokenSink for Each<F> {
    #[inline]
    fn token(&mut self, token: &str) {
        (self.0)(token);
    }

    fn start_over(&mut self) {
        unreachable!("a function cannot take back what it was given");
    }
}

/// Appends the terms of a text to those of others.
pub(super) struct Appended<'v> {
    terms: &'v mut Vec<Term>,
    /// Where its terms begin.
    start: usize,
}

impl<'v> Appended<'v> {
    pub(super) fn to(terms: &'v mut Vec<Term>) -> Self {
        Self { start: terms.len(), terms }
    }
}

impl TokenSink for Appended<'_> {
    #[inline]
    fn token(&mut self, token: &str) {
        self.terms.push(Term::new(token));
    }

    #[inline]
    fn word(&mut self, word: Word) {
        self.terms.push(Term::of_word(word));
    }

    #[inline]
    fn character(&mut self, text: &str, at: usize, _code: u16) {
        self.terms.push(Term::at::<WIDE>(text, at));
    }

    #[inline]
    fn follower(&mut self, text: &str, at: usize, _codes: [u16; 2]) {
        self.terms.extend([Term::at::<WIDE>(text, at), Term::at::<{ 2 * WIDE }>(text, at - WIDE)]);
    }

    fn start_over(&mut self) {
        self.terms.truncate(self.start);
    }
}
