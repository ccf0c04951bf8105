//! Count of CJK characters.
//!
//! It is compiled for any processor, for one with AVX2 and for one with AVX-512. The `unsafe` code is a call of one of
//! these, after asking the processor for it.
#![allow(unsafe_code, clippy::inline_always)]

use super::class::Class;
use super::script;

/// Bytes that are looked at in one go; so few that their sums fit a byte.
const BLOCK: usize = 64;

/// CJK characters, and the UTF-16 units that all others take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CjkCount {
    pub(super) characters: usize,
    pub(super) other_units: usize,
}

impl CjkCount {
    pub(super) fn of(text: &str) -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // Processors without VBMI2 slow down when they use registers that wide.
            if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vbmi2") {
                // SAFETY: the processor has what the function needs, here and below.
                return unsafe { Self::of_with_avx512(text) };
            }
            // SAFETY: as above.
            return unsafe { Self::of_with_avx2(text) };
        }
        Self::of_blocks(text)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,avx512bw")]
    fn of_with_avx512(text: &str) -> Self {
        Self::of_blocks(text)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn of_with_avx2(text: &str) -> Self {
        Self::of_blocks(text)
    }

    #[inline(always)]
    fn of_blocks(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut count = Self::default();
        for start in (0..bytes.len()).step_by(BLOCK) {
            if let Some(common) = bytes[start..].first_chunk().and_then(common_in) {
                count.characters += common.characters;
                count.other_units += common.other_units;
            } else {
                count.add_each(text, start, bytes.len().min(start + BLOCK));
            }
        }
        count
    }

    /// Count the characters that begin between the two, one after the other.
    fn add_each(&mut self, text: &str, start: usize, end: usize) {
        let mut at = (start..end).find(|&at| text.is_char_boundary(at)).unwrap_or(end);
        while at < end
            && let Some((byte, next)) = script::byte_at(text, at)
        {
            // No branch: scripts alternate with punctuation, and what comes next is guessed wrong too often.
            let is_cjk = usize::from(Class::of(byte) == Class::Cjk);
            self.characters += is_cjk;
            self.other_units += (1 - is_cjk) << usize::from(next - at == 4);
            at = next;
        }
    }
}

/// Count the characters that begin in a block, if that needs no table; the two bytes after it are included.
#[inline(always)]
fn common_in(block: &[u8; BLOCK + 2]) -> Option<CjkCount> {
    if block.is_ascii() {
        return Some(CjkCount { characters: 0, other_units: BLOCK });
    }
    let (mut characters, mut units, mut unknown) = (0_u8, 0_u8, 0);
    // No branches, so that the compiler compares many bytes at once.
    for ((&first, &second), &third) in block.iter().zip(&block[1..]).zip(&block[2..]) {
        let is_cjk = is_common_cjk(first, second, third);
        characters += u8::from(is_cjk);
        // Whatever is common takes one.
        units += u8::from(first & 0xC0 != 0x80);
        unknown |= u8::from(!(is_cjk | is_common_other(first, second, third)));
    }
    (unknown == 0).then(|| CjkCount { characters: characters.into(), other_units: (units - characters).into() })
}

/// Return whether one of the common CJK characters begins with these bytes: Han, kana or hangul.
#[allow(clippy::needless_bitwise_bool)] // a branch would keep the compiler from comparing blocks
#[inline]
pub(super) fn is_common_cjk(first: u8, second: u8, third: u8) -> bool {
    let is_han = (first == 0xE4) & (second >= 0xB8);
    let is_hangul = (first == 0xEA) & (second >= 0xB0) | (first == 0xED) & (second <= 0x9D);
    let is_either = matches!(first, 0xE5..=0xEC) & (first != 0xEA);
    // Among the letters stand a few marks and signs.
    let is_letter = (second == 0x81) & (third != 0x80)
        | (second == 0x82) & !matches!(third, 0x97..=0xA0)
        | (second == 0x83) & !matches!(third, 0xBB | 0xBF);
    is_han | is_hangul | is_either | (first == 0xE3) & is_letter
}

/// Return whether these bytes begin none or something common that is not CJK: ASCII, letters of two bytes, punctuation.
#[allow(clippy::needless_bitwise_bool)] // likewise
#[inline]
fn is_common_other(first: u8, second: u8, third: u8) -> bool {
    let is_punctuation = (first == 0xE3) & (second == 0x80) & matches!(third, 0x80..=0x82 | 0x88..=0x91);
    let is_sign = (first == 0xE2) & (second < 0xBA);
    let is_full_width = (first == 0xEF) & (second == 0xBC);
    (first < 0xE0) | is_punctuation | is_sign | is_full_width
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one_by_one(text: &str) -> CjkCount {
        let (cjk, others): (Vec<char>, Vec<char>) = text.chars().partition(|&c| script::is_cjk(c));
        CjkCount { characters: cjk.len(), other_units: others.into_iter().map(char::len_utf16).sum() }
    }

    #[test]
    fn every_character_is_what_the_table_calls_it() {
        for c in '\0'..=char::MAX {
            // Long enough for a whole block.
            let text = format!("{c}{}", "a".repeat(BLOCK + 2));
            assert_eq!(CjkCount::of(&text), one_by_one(&text), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn blocks_equal_counting(text in "([a-z ]{1,30}|[一-龥]{1,30}|[ぁ-ヿ]{1,9}|[가-힣]{1,9}|.|[、。！é𠀋😀ﾃ\u{3099}]){0,60}") {
            prop_assert_eq!(CjkCount::of(&text), one_by_one(&text));
            prop_assert_eq!(CjkCount::of_blocks(&text), one_by_one(&text));
        }
    }
}
