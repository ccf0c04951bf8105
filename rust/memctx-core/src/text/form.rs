//! Builder of one token.

/// Bytes that hold nearly every identifier, so that a text needs room once.
const ROOM: usize = 64;

/// Grows character by character and stays a plain slice of the text for as long as the two agree.
#[derive(Debug)]
pub(super) struct Form<'t> {
    text: &'t str,
    start: usize,
    end: usize,
    /// Holds the form once it differs from the text; kept between tokens so that it is allocated once.
    buffer: String,
    is_slice: bool,
}

impl<'t> Form<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, start: 0, end: 0, buffer: String::new(), is_slice: true }
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.start = self.end;
        self.is_slice = true;
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        if self.is_slice { self.end - self.start } else { self.buffer.len() }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub(super) fn as_str(&self) -> &str {
        if self.is_slice { &self.text[self.start..self.end] } else { &self.buffer }
    }

    /// Append what stands in the text from `at` to `end`.
    #[inline]
    pub(super) fn push_slice(&mut self, at: usize, end: usize) {
        if self.is_slice && self.start == self.end {
            self.start = at;
            self.end = end;
        } else if self.is_slice && self.end == at {
            self.end = end;
        } else {
            self.leave_text();
            self.buffer.push_str(&self.text[at..end]);
        }
    }

    /// Append a character that stands for another one in the text.
    pub(super) fn push_char(&mut self, c: char) {
        self.leave_text();
        self.buffer.push(c);
    }

    fn leave_text(&mut self) {
        if self.is_slice {
            self.buffer.clear();
            self.buffer.reserve(ROOM);
            self.buffer.push_str(&self.text[self.start..self.end]);
            self.is_slice = false;
        }
    }
}
