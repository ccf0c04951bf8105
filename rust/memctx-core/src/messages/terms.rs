//! Search terms of texts, read once.

use std::mem::take;
use std::ops::{Deref, Range};
use std::sync::Arc;

use super::text::Text;
use crate::text::{Digest, append_digests};

/// Search terms of a text, in order and with repeats.
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
    /// Bytes of the texts that are still to be read.
    unread: usize,
    buffer: Vec<Digest>,
    pending: Vec<(&'t Text, Range<usize>)>,
}

/// Terms that find room side by side; so many that getting it costs little, and so few that the last text to go does
/// not keep much of others.
const BUFFER: usize = 1 << 18;

impl<'t> Reader<'t> {
    /// Create a reader with room for texts of so many bytes that were not read yet.
    pub(crate) fn with_room(unread: usize) -> Self {
        Self { unread, buffer: Vec::new(), pending: Vec::new() }
    }

    /// Return the terms of a text, which is read if it was not before.
    pub(crate) fn terms(&mut self, text: &'t Text) -> &[Digest] {
        if let Some(terms) = text.terms.get() {
            return terms;
        }
        let bytes = text.body().len();
        // Hardly any text has more terms than bytes.
        if self.buffer.capacity() - self.buffer.len() < bytes {
            self.put_away();
            self.buffer = Vec::with_capacity(self.unread.min(BUFFER).max(bytes));
        }
        self.unread = self.unread.saturating_sub(bytes);
        let start = self.buffer.len();
        append_digests(text.body(), &mut self.buffer);
        self.pending.push((text, start..self.buffer.len()));
        &self.buffer[start..]
    }

    /// Have the texts keep their terms.
    pub(crate) fn finish(mut self) {
        self.put_away();
    }

    fn put_away(&mut self) {
        let mut all = take(&mut self.buffer);
        if all.len() < all.capacity() / 2 {
            all.shrink_to_fit();
        }
        let all = Arc::new(all);
        for (text, range) in self.pending.drain(..) {
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
