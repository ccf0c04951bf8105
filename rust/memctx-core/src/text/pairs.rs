//! CJK characters and their adjacent pairs.

use super::common::Read;
use super::form::Form;
use super::script::{self, WIDE};
use super::sink::TokenSink;

/// Emits every character it is given, and behind it the pair it forms with the one before.
#[derive(Debug)]
pub(super) struct PairChain<'t> {
    text: &'t str,
    previous: Option<(usize, usize)>,
    pair: Form<'t>,
}

impl<'t> PairChain<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, previous: None, pair: Form::new(text) }
    }

    /// End the pair: the next character is not adjacent.
    #[inline]
    pub(super) fn stop(&mut self) {
        self.previous = None;
    }

    /// Continue with the character that ends at this offset.
    #[inline]
    pub(super) fn go_on(&mut self, read: Read) {
        self.previous = read.is_behind_cjk.then(|| (read.end - WIDE, read.end));
    }

    /// Take the character at `at..end` of the text.
    #[inline]
    pub(super) fn push(&mut self, at: usize, end: usize, sink: &mut impl TokenSink) {
        if script::is_wide_cjk(self.text, at) {
            sink.character(self.text, at, false);
        } else {
            sink.token(&self.text[at..end]);
        }
        if let Some((start, middle)) = self.previous.replace((at, end)) {
            // Characters that are read over may stand between the two.
            self.pair.clear();
            self.pair.push_slice(start, middle);
            self.pair.push_slice(at, end);
            sink.token(self.pair.as_str());
        }
    }
}
