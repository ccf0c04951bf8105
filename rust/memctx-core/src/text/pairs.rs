//! CJK characters and their adjacent pairs.

use super::form::Form;

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
    pub(super) fn stop(&mut self) {
        self.previous = None;
    }

    /// Take the character at `at..end` of the text.
    pub(super) fn push(&mut self, at: usize, end: usize, emit: &mut impl FnMut(&str)) {
        emit(&self.text[at..end]);
        if let Some((first, second)) = self.previous.replace((at, end)) {
            // Characters that are read over may stand between the two.
            self.pair.clear();
            self.pair.push_slice(first, second);
            self.pair.push_slice(at, end);
            emit(self.pair.as_str());
        }
    }
}
