//! Words and identifiers of ASCII, found sixty-four bytes at a time.

use super::lanes::{BLOCK, Lanes};
use super::sink::TokenSink;
use super::word::Word;

/// A block, and what a word that begins in it may take from behind it.
type Bytes = [u8; BLOCK + Word::LONGEST];

/// Give `sink` the words and identifiers from `at` on, where none is open, and read over what stands between them. Ends
/// before what is not ASCII, before a word that touches it, and before one that is longer than a block.
#[inline]
pub(super) fn push_words(text: &str, mut at: usize, sink: &mut impl TokenSink) -> usize {
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let mut padded = [0; _];
        let bytes = bytes[at..].first_chunk::<{ size_of::<Bytes>() }>().unwrap_or_else(|| {
            padded[..bytes.len() - at].copy_from_slice(&bytes[at..]);
            &padded
        });
        let block = Block::of(bytes);
        let read = block.push_words(sink);
        at += read;
        if read == 0 || block.length < BLOCK {
            break;
        }
    }
    at.min(bytes.len())
}

/// What the bytes of a block are: of each a bit, the first one the lowest.
struct Block<'b> {
    bytes: &'b Bytes,
    /// How many are ASCII, up to the first that is not.
    length: usize,
    small: u64,
    digit: u64,
    /// Belongs to a word or joins two of them.
    inside: u64,
    /// Stands between two parts of an identifier.
    joint: u64,
    /// A capital that begins a part, unless it is the last of a plural.
    hump: u64,
}

impl<'b> Block<'b> {
    #[inline]
    fn of(bytes: &'b Bytes) -> Self {
        let lanes = Lanes::load(bytes.first_chunk().expect("a block"));
        let small = lanes.within(b'a', b'z');
        let capital = lanes.within(b'A', b'Z');
        let digit = lanes.within(b'0', b'9');
        let beyond_ascii = lanes.within(0x80, 0xFF);
        let connector = lanes.within_any([(b'-', b'/'), (b':', b':'), (b'@', b'@'), (b'\\', b'\\'), (b'_', b'_')]);
        let word = small | capital | digit;
        // What stands behind the block, or is not ASCII, may be a word: then this one is left to others.
        let may_follow = (word | beyond_ascii) >> 1 | 1 << (BLOCK - 1);
        let joint = connector & word << 1 & may_follow;
        Self {
            bytes,
            length: beyond_ascii.trailing_zeros() as usize,
            small,
            digit,
            inside: word | joint,
            joint,
            hump: capital & (small << 1 | small >> 1 & word << 1),
        }
    }

    /// Give the words that end in the block; how many bytes that takes.
    #[inline]
    fn push_words(&self, sink: &mut impl TokenSink) -> usize {
        let mut starts = self.inside & !(self.inside << 1);
        let mut ends = !self.inside & self.inside << 1;
        while starts != 0 {
            let (start, end) = (starts.trailing_zeros() as usize, ends.trailing_zeros() as usize);
            if end >= self.length {
                return start.min(self.length);
            }
            let borders = (self.joint | self.hump) & ((1 << end) - (1 << start));
            if borders == 0 {
                self.push(start, end, sink);
            } else {
                self.push_identifier(start, end, borders, sink);
            }
            starts &= starts - 1;
            ends &= ends - 1;
        }
        self.length
    }

    /// Give the parts of an identifier and then, if there are several, itself.
    #[inline]
    fn push_identifier(&self, start: usize, end: usize, mut borders: u64, sink: &mut impl TokenSink) {
        let mut part = start;
        while borders != 0 {
            let border = borders.trailing_zeros() as usize;
            borders &= borders - 1;
            let is_joint = self.joint >> border & 1 == 1;
            if is_joint || !self.is_plural(border) {
                self.push(part, border, sink);
                part = border + usize::from(is_joint);
            }
        }
        if part > start {
            self.push(part, end, sink);
        }
        self.push(start, end, sink);
    }

    /// Whether the hump ends capitals that a lone `s` follows.
    fn is_plural(&self, hump: usize) -> bool {
        let is_small = |at: usize| (self.small | self.digit) >> at & 1 == 1;
        self.small >> (hump - 1) & 1 == 0 && self.bytes[hump + 1] == b's' && !is_small(hump + 2)
    }

    /// Give a token in small letters.
    #[inline]
    fn push(&self, start: usize, end: usize, sink: &mut impl TokenSink) {
        if let Some(bytes) = self.bytes[start..].first_chunk()
            && end - start <= Word::LONGEST
        {
            sink.word(Word::small(bytes, end - start));
        } else {
            push_long(&self.bytes[start..end], sink);
        }
    }
}

#[inline(never)] // few are that long
fn push_long(bytes: &[u8], sink: &mut impl TokenSink) {
    let mut token = [0; BLOCK];
    let token = &mut token[..bytes.len()];
    token.copy_from_slice(bytes);
    token.make_ascii_lowercase();
    sink.token(str::from_utf8(token).expect("ASCII"));
}
