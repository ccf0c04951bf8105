//! CJK characters and their adjacent pairs.

use super::class::{CLASS, Class, FOLDS};
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

    /// The next character does not follow on this one.
    #[inline]
    pub(super) fn stop(&mut self) {
        self.previous = None;
    }

    /// Take the character at `at..end` of the text and the CJK characters right behind it; gives their end.
    #[inline]
    pub(super) fn push_run(&mut self, at: usize, end: usize, sink: &mut impl TokenSink) -> usize {
        self.push(at, end, sink);
        let (mut at, mut end) = (at, end);
        if let Some(code) = script::wide_cjk(self.text, at) {
            end = self.push_wide(code, end, sink);
            at = end - WIDE;
        }
        while let Some((byte, next)) = script::byte_at(self.text, end)
            && byte & (CLASS | FOLDS) == Class::Cjk as u8
        {
            sink.token(&self.text[end..next]);
            sink.token(&self.text[at..next]);
            (at, end) = (end, next);
        }
        self.previous = Some((at, end));
        end
    }

    /// Take the CJK characters of three bytes from `end` on, right behind one whose code is given; gives their end.
    #[inline]
    fn push_wide(&self, mut before: u16, mut end: usize, sink: &mut impl TokenSink) -> usize {
        while let Some(code) = script::wide_cjk(self.text, end) {
            sink.follower(self.text, end, [before, code]);
            before = code;
            end += WIDE;
        }
        end
    }

    /// Take the character at `at..end` of the text.
    #[inline]
    pub(super) fn push(&mut self, at: usize, end: usize, sink: &mut impl TokenSink) {
        match script::wide_cjk(self.text, at) {
            Some(code) => sink.character(self.text, at, code),
            None => sink.token(&self.text[at..end]),
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
