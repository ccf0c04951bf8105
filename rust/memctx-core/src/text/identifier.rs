//! Words, and identifiers made of words.

use super::class::Class;
use super::form::Form;
use super::script;
use super::sink::TokenSink;

/// Collects the characters of an identifier and emits its parts as they end, then the whole.
#[derive(Debug)]
pub(super) struct Identifier<'t> {
    form: Form<'t>,
    /// Parts emitted so far.
    parts: usize,
    /// Start of the current part in the form.
    part: usize,
    /// Position of the latest capital in the form.
    capital: usize,
    /// Class of the part's latest character; `Break` at its start.
    last: Class,
    /// The part so far ends in capitals and one `s`; a further small letter makes a hump of the last capital.
    maybe_plural: bool,
}

impl<'t> Identifier<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { form: Form::new(text), parts: 0, part: 0, capital: 0, last: Class::Break, maybe_plural: false }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.form.is_empty()
    }

    /// Take a run of small letters and digits that stands in the text at `at`, given the classes of its ends.
    #[inline]
    pub(super) fn push_small(
        &mut self,
        at: usize,
        run: &str,
        (first, last): (Class, Class),
        sink: &mut impl TokenSink,
    ) {
        if self.last == Class::Upper || self.maybe_plural {
            self.end_capitals(run, first, sink);
        }
        self.last = last;
        self.form.push_slice(at, at + run.len());
    }

    /// Take one small letter or digit that stands for another form of it in the text.
    pub(super) fn push_folded(&mut self, c: char, class: Class, sink: &mut impl TokenSink) {
        self.end_capitals(c.encode_utf8(&mut [0; 4]), class, sink);
        self.last = class;
        self.form.push_char(c);
    }

    /// Take a capital.
    pub(super) fn push_capital(&mut self, c: char, sink: &mut impl TokenSink) {
        if self.last == Class::Lower {
            self.end_part(self.form.len(), sink);
        }
        self.maybe_plural = false;
        self.capital = self.form.len();
        self.last = Class::Upper;
        if c.is_ascii() {
            self.form.push_char(c.to_ascii_lowercase());
            return;
        }
        for small in c.to_lowercase().filter(|&small| Class::of(script::byte_of(small)) != Class::Skip) {
            self.form.push_char(small);
        }
    }

    /// Go on behind a connector, which stands in the text from `at` to `end`, or for which `folded` stands.
    pub(super) fn join(&mut self, folded: Option<char>, at: usize, end: usize, sink: &mut impl TokenSink) {
        self.end_part(self.form.len(), sink);
        match folded {
            Some(connector) => self.form.push_char(connector),
            None => self.form.push_slice(at, end),
        }
        self.part = self.form.len();
        self.last = Class::Break;
        self.maybe_plural = false;
    }

    /// End the identifier.
    #[inline]
    pub(super) fn finish(&mut self, sink: &mut impl TokenSink) {
        if !self.is_open() {
            return;
        }
        if self.parts > 0 {
            self.end_part(self.form.len(), sink);
        }
        sink.token(self.form.as_str());
        self.form.clear();
        self.parts = 0;
        self.part = 0;
        self.capital = 0;
        self.last = Class::Break;
        self.maybe_plural = false;
    }

    /// Small letters follow on capitals: the last capital begins a hump unless all there is is the `s` of a plural.
    fn end_capitals(&mut self, run: &str, first: Class, sink: &mut impl TokenSink) {
        let is_behind_capital = self.last == Class::Upper && first == Class::Lower && self.capital > self.part;
        let was_plural = std::mem::take(&mut self.maybe_plural);
        if is_behind_capital && run == "s" {
            self.maybe_plural = true;
        } else if is_behind_capital || was_plural {
            self.end_part(self.capital, sink);
        }
    }

    fn end_part(&mut self, end: usize, sink: &mut impl TokenSink) {
        sink.token(&self.form.as_str()[self.part..end]);
        self.parts += 1;
        self.part = end;
    }
}
