//! Who takes the tokens of a text.

use super::script::WIDE;
use super::term::Term;

/// Takes the tokens of a text, in order.
///
/// CJK text is nearly all characters of three bytes and pairs of them. They come through doors of their own, for
/// whoever does something quicker with them than with tokens of any length.
pub trait TokenSink {
    /// Take a token.
    fn token(&mut self, token: &str);

    /// Take a token that is one CJK character of three bytes, and its code.
    #[inline]
    fn character(&mut self, token: &str, _code: u16) {
        self.token(token);
    }

    /// Take a token that is two CJK characters of three bytes each, and their codes.
    #[inline]
    fn pair(&mut self, token: &str, _codes: [u16; 2]) {
        self.token(token);
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

impl TokenSink for Vec<Term> {
    #[inline]
    fn token(&mut self, token: &str) {
        self.push(Term::new(token));
    }

    #[inline]
    fn character(&mut self, token: &str, _code: u16) {
        self.push(Term::of_length::<WIDE>(token));
    }

    #[inline]
    fn pair(&mut self, token: &str, _codes: [u16; 2]) {
        self.push(Term::of_length::<{ 2 * WIDE }>(token));
    }

    fn start_over(&mut self) {
        self.clear();
    }
}
