//! The terms of texts.

use std::ops::{Deref, Range};
use std::sync::Arc;

use super::text::Text;
use crate::pages;
use crate::text::{Digest, append_digests};

/// What search sees in a text, in order and with repeats.
///
/// They lie side by side with those of the texts that were read with it: all stay for as long as one is held.
#[derive(Debug)]
pub(super) struct Terms {
    all: Arc<Vec<Digest>>,
    range: Range<usize>,
}

impl Deref for Terms {
    type Target = [Digest];

    fn deref(&self) -> &[Digest] {
        &self.all[self.range.clone()]
    }
}

/// Reads texts one after the other. To get a place for the terms of each would take half as long as to read them.
pub(crate) struct Reader<'t> {
    all: Vec<Digest>,
    read: Vec<(&'t Text, Range<usize>)>,
}

impl<'t> Reader<'t> {
    /// For texts of so many bytes that were not read yet.
    pub(crate) fn with_room(bytes: usize) -> Self {
        /// Terms that there is room for from the beginning, in 32 megabytes at most; for more, room is made when it is needed.
        const MOST_AT_FIRST: usize = 1 << 23;
        // Hardly any text has more terms than bytes, and what is not written to is given back.
        Self { all: pages::with_room(bytes.min(MOST_AT_FIRST)), read: Vec::new() }
    }

    /// The terms of a text, which is read if it was not before.
    pub(crate) fn terms(&mut self, text: &'t Text) -> &[Digest] {
        if let Some(terms) = text.terms.get() {
            return terms;
        }
        let start = self.all.len();
        append_digests(text.body(), &mut self.all);
        self.read.push((text, start..self.all.len()));
        &self.all[start..]
    }

    /// Have the texts keep their terms.
    pub(crate) fn finish(mut self) {
        self.all.shrink_to_fit();
        let all = Arc::new(self.all);
        for (text, range) in self.read {
            // Who was quicker found the same.
            let _ = text.terms.set(Terms { all: Arc::clone(&all), range });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Mode, for_each_token};

    #[test]
    fn texts_keep_the_terms_that_were_read() {
        // The third must be read twice, since it is in another form.
        let texts = ["payHook 飞书", "", "ﾃｽﾄ e\u{301} 한국어", "again payHook"].map(|body| Text::new(body, 1));
        let expected = texts.each_ref().map(|text| {
            let mut terms = Vec::new();
            for_each_token(text.body(), Mode::Memctx, |token| terms.push(Digest::new(token)));
            terms
        });
        let mut reader = Reader::with_room(0);
        for (text, expected) in texts.iter().zip(&expected).rev() {
            assert_eq!(reader.terms(text), expected);
        }
        assert!(!texts[0].has_terms());
        reader.finish();
        for (text, expected) in texts.iter().zip(&expected) {
            assert!(text.has_terms());
            assert_eq!(Reader::with_room(0).terms(text), expected);
        }
    }
}
