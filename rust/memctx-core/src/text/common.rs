//! Fast path for words, common CJK characters and breaks, sixty-four bytes at a time.
//!
//! ASCII, common CJK and its punctuation are known by comparing bytes, whatever else by the table of characters.
//!
//! It is compiled for any processor, for one with AVX2 and for one with AVX-512; what is small is inlined, so that it
//! is, too. The `unsafe` code is a call of one of these, after asking the processor for it.
#![allow(unsafe_code, clippy::inline_always)]

use super::cjk_count::is_common_cjk;
use super::class::{CLASS, Class, FOLDS};
#[cfg(target_arch = "x86_64")]
use super::lanes::Whole;
use super::lanes::{BLOCK, Common, Lanes};
use super::script::{WIDE, byte_at};
use super::sink::TokenSink;
use super::word::Word;

/// A block, and what a word or a character that begins in it may take from behind it.
type Bytes = [u8; BLOCK + Word::LONGEST];

/// Progress in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) end: usize,
    /// True if a CJK character of three bytes ends there.
    pub(super) is_behind_cjk: bool,
}

/// Give `sink` the tokens from where `read` ends, where no identifier is open. Ends before a character that is not
/// plain, before a word that touches one, and before a word that is longer than a block.
pub(super) fn push_common(text: &str, read: Read, sink: &mut impl TokenSink) -> Read {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") {
        // Processors without VBMI2 slow down when they use registers that wide.
        if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vbmi2") {
            // SAFETY: the processor has what the function needs, here and below.
            return unsafe { push_blocks_with_avx512(text, read, sink) };
        }
        // SAFETY: as above.
        return unsafe { push_blocks_with_avx2(text, read, sink) };
    }
    push_blocks::<Common>(text, read, sink)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512bw,bmi1,bmi2")]
fn push_blocks_with_avx512(text: &str, read: Read, sink: &mut impl TokenSink) -> Read {
    push_blocks::<Whole>(text, read, sink)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn push_blocks_with_avx2(text: &str, read: Read, sink: &mut impl TokenSink) -> Read {
    push_blocks::<Common>(text, read, sink)
}

#[inline(always)]
fn push_blocks<L: Lanes>(text: &str, read: Read, sink: &mut impl TokenSink) -> Read {
    let Read { mut end, mut is_behind_cjk } = read;
    let bytes = text.as_bytes();
    while end < bytes.len() {
        let mut padded = [0; _];
        let rest = &bytes[end..];
        let bytes = rest.first_chunk::<{ size_of::<Bytes>() }>().unwrap_or_else(|| {
            padded[..rest.len()].copy_from_slice(rest);
            &padded
        });
        let block = Block::of::<L>(text, end, bytes);
        let read = block.push(text, Read { end, is_behind_cjk }, sink);
        let length = read.end - end;
        Read { end, is_behind_cjk } = read;
        if length == 0 || length == block.length && length < BLOCK {
            break;
        }
    }
    Read { end: end.min(bytes.len()), is_behind_cjk }
}

/// Classes of the bytes of a block, as bit masks; the first byte is the lowest bit.
struct Block<'b> {
    bytes: &'b Bytes,
    /// Number of bytes that can be read: all, or those before the first character that is not plain.
    length: usize,
    small: u64,
    digit: u64,
    /// Belongs to a word or joins two of them.
    inside: u64,
    /// Stands between two parts of an identifier.
    joint: u64,
    /// A capital that begins a part, unless it is the last of a plural.
    hump: u64,
    /// Begins a CJK character.
    cjk: u64,
}

impl<'b> Block<'b> {
    /// Return the block that lies at `offset` in the text.
    #[inline(always)]
    fn of<L: Lanes>(text: &str, offset: usize, bytes: &'b Bytes) -> Self {
        let lanes = L::load(bytes.first_chunk().expect("a block"));
        let mut small = lanes.within(b'a', b'z');
        let capital = lanes.within(b'A', b'Z');
        let mut digit = lanes.within(b'0', b'9');
        let connector = lanes.within_any([(b'-', b'/'), (b':', b':'), (b'@', b'@'), (b'\\', b'\\'), (b'_', b'_')]);
        let beyond_ascii = lanes.within(0x80, 0xFF);
        let Wide { cjk, known } = if beyond_ascii == 0 { Wide::default() } else { Wide::of::<L>(bytes) };
        // A character that begins in this block and ends behind it is read with it.
        let mut end = BLOCK + ((known >> (BLOCK - 2) & 1) | (known >> (BLOCK - 1) & 1) << 1) as usize;
        let mut unknown = beyond_ascii & !(known | known << 1 | known << 2);
        if unknown != 0 {
            let others = Others::of(text, offset, unknown);
            small |= others.small;
            digit |= others.digit;
            unknown = others.unknown;
            end = end.max(others.end);
        }
        let length = if unknown == 0 { end } else { unknown.trailing_zeros() as usize };
        let word = small | capital | digit;
        // What stands behind the block, or is not plain, may be a word: then this one is left to others.
        let may_follow = (word | unknown) >> 1 | 1 << (BLOCK - 1);
        let joint = connector & word << 1 & may_follow;
        Self {
            bytes,
            length,
            small,
            digit,
            inside: word | joint,
            joint,
            hump: capital & (small << 1 | small >> 1 & word << 1),
            cjk,
        }
    }

    /// Give the words that end and the characters that begin in the block, which lies where `read` ends.
    #[inline(always)]
    fn push(&self, text: &str, read: Read, sink: &mut impl TokenSink) -> Read {
        let Read { end: offset, is_behind_cjk } = read;
        let followers = self.cjk & (self.cjk << WIDE | u64::from(is_behind_cjk));
        let words = self.inside & !(self.inside << 1);
        let mut ends = !self.inside & self.inside << 1;
        let mut starts = words | self.cjk;
        let mut length = self.length;
        while starts != 0 {
            let start = starts.trailing_zeros() as usize;
            if start >= length {
                break;
            }
            if self.cjk >> start & 1 == 1 {
                sink.character(text, offset + start, followers >> start & 1 == 1);
            } else {
                let end = ends.trailing_zeros() as usize;
                if end >= length.min(BLOCK) {
                    length = start;
                    break;
                }
                let borders = (self.joint | self.hump) & ((1 << end) - (1 << start));
                if borders == 0 {
                    self.push_word(start, end, sink);
                } else {
                    self.push_identifier(start, end, borders, sink);
                }
                ends &= ends - 1;
            }
            starts &= starts - 1;
        }
        let is_behind_cjk = match length {
            0 => is_behind_cjk,
            length => length >= WIDE && self.cjk.unbounded_shr((length - WIDE) as u32) & 1 == 1,
        };
        Read { end: offset + length, is_behind_cjk }
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
                self.push_word(part, border, sink);
                part = border + usize::from(is_joint);
            }
        }
        if part > start {
            self.push_word(part, end, sink);
        }
        self.push_word(start, end, sink);
    }

    /// Return whether the hump ends capitals that a lone `s` follows.
    fn is_plural(&self, hump: usize) -> bool {
        let is_small = |at: usize| (self.small | self.digit) >> at & 1 == 1;
        self.small >> (hump - 1) & 1 == 0 && self.bytes[hump + 1] == b's' && !is_small(hump + 2)
    }

    /// Give a token in small letters.
    #[inline(always)]
    fn push_word(&self, start: usize, end: usize, sink: &mut impl TokenSink) {
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
    sink.token(str::from_utf8(token).expect("whole characters"));
}

/// Table lookups for characters that comparing bytes does not classify.
struct Others {
    small: u64,
    digit: u64,
    /// The first character that is not plain, and all that were not looked at.
    unknown: u64,
    /// End of the last one.
    end: usize,
}

impl Others {
    /// Look up those of the block at `offset` in the text.
    #[inline(never)] // most blocks have none
    fn of(text: &str, offset: usize, mut unknown: u64) -> Self {
        const BREAK: u8 = Class::Break as u8;
        const LOWER: u8 = Class::Lower as u8;
        const DIGIT: u8 = Class::Digit as u8;
        let [mut small, mut digit] = [0, 0];
        let mut end = 0;
        while unknown != 0 {
            let start = unknown.trailing_zeros() as usize;
            let Some((byte, behind)) = byte_at(text, offset + start) else { break };
            end = behind - offset;
            let bits = u64::MAX.unbounded_shl(end as u32) ^ u64::MAX << start;
            match byte & (CLASS | FOLDS) {
                LOWER => small |= bits,
                DIGIT => digit |= bits,
                BREAK => {}
                _ => break,
            }
            unknown &= !bits;
        }
        Self { small, digit, unknown, end }
    }
}

/// Starts of common characters of three bytes.
#[derive(Default)]
struct Wide {
    cjk: u64,
    /// Common characters of three bytes, and breaking ones.
    known: u64,
}

impl Wide {
    #[inline(always)]
    fn of<L: Lanes>(bytes: &Bytes) -> Self {
        const CJK: u8 = 0xC0;
        const BREAK: u8 = 0x80;
        let mut marks = [0; BLOCK];
        // No branches, so that the compiler compares many bytes at once.
        for (((mark, &first), &second), &third) in marks.iter_mut().zip(bytes).zip(&bytes[1..]).zip(&bytes[2..]) {
            let is_cjk = u8::from(is_common_cjk(first, second, third));
            let is_break = u8::from(is_common_break(first, second, third));
            *mark = (is_cjk * CJK) | (is_break * BREAK);
        }
        let marks = L::load(&marks);
        Self { cjk: marks.within(CJK, CJK), known: marks.within(BREAK, CJK) }
    }
}

/// Return whether these bytes are common punctuation that ends a word and a chain of pairs.
#[allow(clippy::needless_bitwise_bool)] // a branch would keep the compiler from comparing blocks
#[inline]
fn is_common_break(first: u8, second: u8, third: u8) -> bool {
    // 、 。 and brackets; full-width ! , ? and the like; dashes, quotes and an ellipsis.
    let is_cjk = (first == 0xE3) & (second == 0x80) & matches!(third, 0x80..=0x82 | 0x88..=0x91);
    let is_full_width = (first == 0xEF) & (second == 0xBC) & matches!(third, 0x81..=0x8C | 0x9B..=0x9F);
    let is_general = (first == 0xE2) & (second == 0x80) & matches!(third, 0x93..=0x94 | 0x98..=0x9D | 0xA6);
    is_cjk | is_full_width | is_general
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::class::{CLASS, Class, FOLDS};
    use super::super::script::byte_of;
    use super::super::sink::Terms;
    use super::*;

    /// Full-width ASCII stands for its narrow form.
    fn narrow(c: char) -> char {
        match c {
            '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0).expect("ASCII"),
            c => c,
        }
    }

    #[test]
    fn common_characters_are_what_the_table_calls_them() {
        for c in '\u{80}'..=char::MAX {
            let mut bytes = [0; _];
            c.encode_utf8(&mut bytes);
            let Wide { cjk, known } = Wide::of::<Common>(&bytes);
            let byte = byte_of(narrow(c)) & (CLASS | FOLDS);
            assert!(cjk == 0 || byte == Class::Cjk as u8, "{c:?} is no CJK");
            assert!(known == cjk || byte == Class::Break as u8, "{c:?} is no break");
            assert!(known <= 1, "nothing begins inside {c:?}");
        }
        let block = |text: &str| {
            let mut bytes = [0; _];
            bytes[..text.len()].copy_from_slice(text.as_bytes());
            Wide::of::<Common>(&bytes).known.count_ones()
        };
        assert_eq!(block("、。「，！？“—…"), 9);
    }

    proptest! {
        #[test]
        fn every_processor_reads_the_same(text in "([a-zA-Z0-9_.]{1,12}|[飞書カ한、 ]{1,12}|[éжЖ٣ế│😀\u{301}]){0,60}") {
            let start = Read { end: 0, is_behind_cjk: false };
            let [mut here, mut anywhere] = [const { Vec::new() }; 2];
            let read = push_common(&text, start, &mut Terms::in_place_of(&mut here));
            prop_assert_eq!(push_blocks::<Common>(&text, start, &mut Terms::in_place_of(&mut anywhere)), read);
            prop_assert_eq!(&here, &anywhere);
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") {
                anywhere.clear();
                // SAFETY: the processor has what the function needs.
                let with_avx2 = unsafe { push_blocks_with_avx2(&text, start, &mut Terms::in_place_of(&mut anywhere)) };
                prop_assert_eq!(with_avx2, read);
                prop_assert_eq!(here, anywhere);
            }
        }
    }
}
