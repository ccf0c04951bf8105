//! Receivers of tokens.

use super::script::WIDE;
use super::term::Term;
use super::word::Word;

/// Takes the tokens of a text, in order.
///
/// Nearly all text is short words, CJK characters of three bytes, and pairs of them. They come through doors of
/// their own, for sinks that handle them faster than with tokens of any length.
pub trait TokenSink {
    /// Take a token.
    fn token(&mut self, token: &str);

    /// Take a short token.
    #[inline]
    fn word(&mut self, word: Word) {
        self.token(word.spell(&mut [0; _]));
    }

    /// Take a token that is one CJK character of three bytes and, if it `follows` right on another one, a second token
    /// that is both together. Says where in the text it begins.
    #[inline]
    fn character(&mut self, text: &str, at: usize, follows: bool) {
        self.token(&text[at..at + WIDE]);
        if follows {
            self.token(&text[at - WIDE..at + WIDE]);
        }
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

/// Collects the terms of a text.
pub(super) struct Terms<'v>(&'v mut Vec<Term>);

impl<'v> Terms<'v> {
    /// Instead of those that are there.
    pub(super) fn in_place_of(terms: &'v mut Vec<Term>) -> Self {
        terms.clear();
        Self(terms)
    }
}

impl TokenSink for Terms<'_> {
    #[inline]
    fn token(&mut self, token: &str) {
        self.0.push(Term::new(token));
    }

    #[inline]
    fn word(&mut self, word: Word) {
        self.0.push(Term::of_word(word));
    }

    #[inline]
    fn character(&mut self, text: &str, at: usize, follows: bool) {
        let Some(before) = at.checked_sub(WIDE) else { return self.0.push(Term::at::<WIDE>(text, at)) };
        // Whether it follows cannot be foretold: so both are written in any case, and the second is counted if it does.
        let pair = Term::at::<{ 2 * WIDE }>(text, before);
        self.0.extend([pair.behind::<WIDE>(), pair]);
        self.0.truncate(self.0.len() - usize::from(!follows));
    }

    fn start_over(&mut self) {
        self.0.clear();
    }
}
