//! Lookup of characters in the table that `build.rs` generates.

use super::class::{CLASS, Class, FOLDS, OpenClawClass, WORD};
use super::swar;

include!(concat!(env!("OUT_DIR"), "/classes.rs"));

/// Return the table byte of a character; see [`Class`] and [`super::class::OpenClawClass`] for how to read it.
#[inline]
pub(super) fn byte_of(c: char) -> u8 {
    byte_of_code(c as u32)
}

/// Return the table byte of a code point.
#[inline]
fn byte_of_code(code: u32) -> u8 {
    let page = PAGE_OF.get(code as usize >> 8).copied().unwrap_or_default();
    PAGES[usize::from(page)][code as usize & 0xFF]
}

/// Return the table byte of the character that begins at `at`, and where it ends.
#[allow(clippy::inline_always)] // once for every character of every text
#[inline(always)]
pub(super) fn byte_at(text: &str, at: usize) -> Option<(u8, usize)> {
    let bytes = text.as_bytes();
    let first = *bytes.get(at)?;
    let low = |offset: usize| bytes.get(at + offset).map_or(0, |&byte| u32::from(byte & 0x3F));
    let first_bits = u32::from(first);
    Some(match first {
        0..0x80 => (PAGES[0][usize::from(first)], at + 1),
        0x80..0xE0 => (byte_of_code((first_bits & 0x1F) << 6 | low(1)), at + 2),
        0xE0..0xF0 => (byte_of_code((first_bits & 0xF) << 12 | low(1) << 6 | low(2)), at + 3),
        _ => (byte_of_code((first_bits & 7) << 18 | low(1) << 12 | low(2) << 6 | low(3)), at + 4),
    })
}

/// Return whether a CJK character of three bytes, in the right form, begins at `at`.
#[inline]
pub(super) fn is_wide_cjk(text: &str, at: usize) -> bool {
    let Some(&three) = text.as_bytes().get(at..).and_then(<[u8]>::first_chunk::<WIDE>) else { return false };
    let is_cjk = |three| byte_of_code(code_of(three).into()) & (CLASS | FOLDS) == Class::Cjk as u8;
    is_common_han(three) || matches!(three[0], 0xE0..0xF0) && is_cjk(three)
}

/// Return the code of a character of three bytes.
#[inline]
fn code_of([first, second, third]: [u8; WIDE]) -> u16 {
    let bits = u32::from_le_bytes([first, second, third, 0]);
    ((bits & 0xF) << 12 | (bits >> 8 & 0x3F) << 6 | bits >> 16 & 0x3F) as u16
}

/// Return whether it is one from U+4E00 to U+9FFF.
#[inline]
fn is_common_han([first, second, _]: [u8; WIDE]) -> bool {
    matches!(u16::from_be_bytes([first, second]), 0xE4B8..=0xE9BF)
}

/// Bytes to most CJK characters, and to all common Han.
pub(super) const WIDE: usize = 3;

/// Return the UTF-16 unit of a common Han character, one from U+4E00 to U+9FFF, if one begins at `at`: letters that
/// need no look into the table.
#[inline]
pub(super) fn common_han(text: &str, at: usize) -> Option<u16> {
    let three = *text.as_bytes().get(at..)?.first_chunk::<WIDE>()?;
    is_common_han(three).then(|| code_of(three))
}

/// Return whether the text must be brought into NFKC before the classes of its characters hold.
///
/// Full-width ASCII does not count: it folds one character at a time.
pub(super) fn needs_folding(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&first) = bytes.get(at) {
        if first.is_ascii() {
            at += swar::ascii_run(&bytes[at..]).max(1);
        } else if MAY_FOLD[usize::from(first)] {
            let Some((byte, end)) = byte_at(text, at) else { break };
            if byte & FOLDS != 0 {
                return true;
            }
            at = end;
        } else {
            // The number of leading ones is the number of bytes.
            at += first.leading_ones() as usize;
        }
    }
    false
}

/// Return whether a character is a letter or a number of any script.
#[inline]
pub(super) fn is_letter_or_number(c: char) -> bool {
    byte_of(c) & WORD != 0
}

/// Return whether lower-casing changes a character.
#[inline]
pub(super) fn lowers(c: char) -> bool {
    OpenClawClass::of(byte_of(c)) == OpenClawClass::Lowers
}

/// Return whether a text holds a letter outside ASCII that has another case, or a second small form.
pub(crate) fn has_case_beyond_ascii(text: &str) -> bool {
    const BLOCK: usize = 32;
    let has_case = |at: usize| text[at..].chars().next().is_some_and(|c| lowers(c) || matches!(c, 'ſ' | 'ς'));
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    (0..bytes.len()).step_by(BLOCK).any(|start| {
        // No branches, so that the compiler compares all of a block at once.
        let may_hold = bytes[start..].first_chunk::<{ BLOCK + 2 }>().is_none_or(|block| {
            let threes = block.iter().zip(&block[1..]).zip(&block[2..]);
            threes.fold(false, |any, ((&first, &second), &third)| any | may_have_case(first, second, third))
        });
        let end = bytes.len().min(start + BLOCK);
        may_hold && (start..end).any(|at| may_have_case(byte(at), byte(at + 1), byte(at + 2)) && has_case(at))
    })
}

/// Return false if no character with case beyond ASCII begins with these bytes: none does in kana, Han and hangul, nor
/// among the punctuation that stands between them.
#[allow(clippy::needless_bitwise_bool)] // a branch would keep the compiler from comparing blocks
#[inline]
fn may_have_case(first: u8, second: u8, third: u8) -> bool {
    let is_hangul = (first == 0xEA) & (second >= 0xB0);
    let is_punctuation = (first == 0xE2) & (second == 0x80);
    // Of full-width forms only the capitals from A to Z.
    let is_wide = (first == 0xEF) & !((second == 0xBC) & matches!(third, 0xA1..=0xBA));
    let has_none = matches!(first, 0xE3..=0xE9) | matches!(first, 0xEB..=0xED);
    (first >= 0xC2) & !has_none & !is_hangul & !is_punctuation & !is_wide
}

/// Return whether a character is Han, kana, hangul or bopomofo.
pub(crate) fn is_cjk(c: char) -> bool {
    Class::of(byte_of(c)) == Class::Cjk
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_normalization::UnicodeNormalization as _;

    fn narrow(c: char) -> char {
        match c {
            '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).expect("ASCII"),
            c => c,
        }
    }

    /// Justifies skipping normalization: characters that need no folding may stand in any order and the text is in NFKC
    /// already, but for full-width ASCII and characters that only ever break words.
    #[test]
    fn unfolded_characters_are_stable_side_by_side() {
        let partners = ['a', '가', 'か', '\u{1161}', '\u{0301}', '\u{3099}', '<', ' '];
        for c in ('\0'..=char::MAX).filter(|&c| byte_of(c) & FOLDS == 0 && Class::of(byte_of(c)) != Class::Break) {
            for partner in partners.into_iter().filter(|&p| byte_of(p) & FOLDS == 0) {
                let text: String = [partner, c, partner].iter().collect();
                let expected: String = [partner, narrow(c), partner].iter().collect();
                assert_eq!(text.nfkc().collect::<String>(), expected, "{c:?} beside {partner:?}");
            }
        }
    }

    #[test]
    fn every_character_is_found_in_a_text() {
        for c in '\0'..=char::MAX {
            let text = format!("é{c}");
            assert_eq!(byte_at(&text, 2), Some((byte_of(c), text.len())));
        }
        assert_eq!(byte_at("é", 2), None);
    }

    #[test]
    fn is_wide_cjk_is_what_the_table_calls_so() {
        for c in '\0'..=char::MAX {
            let is_wide = c.len_utf8() == WIDE && byte_of(c) & (CLASS | FOLDS) == Class::Cjk as u8;
            assert_eq!(is_wide_cjk(&format!("{c}a"), 0), is_wide, "{c:?}");
        }
        assert!(!is_wide_cjk("飞", 3));
    }

    #[test]
    fn common_han_are_letters_without_case() {
        for c in '\0'..=char::MAX {
            let expected = ('\u{4E00}'..='\u{9FFF}').contains(&c).then_some(u32::from(c) as u16);
            assert_eq!(common_han(&format!("{c}a"), 0), expected, "{c:?}");
            assert!(expected.is_none() || (is_letter_or_number(c) && !lowers(c)), "{c:?}");
        }
        assert_eq!(common_han("飞", 3), None);
    }

    #[test]
    fn case_beyond_ascii_is_seen() {
        for c in '\u{80}'..=char::MAX {
            let changes = !c.to_lowercase().eq(std::iter::once(c)) || matches!(c, 'ſ' | 'ς');
            assert_eq!(has_case_beyond_ascii(&format!("Abc 飞{c}")), changes, "{c:?}");
        }
        assert!(!has_case_beyond_ascii("ABC"));
    }

    #[test]
    fn only_rare_text_needs_folding() {
        assert!(!needs_folding("plain ascii, 支付回调：失败…（重试）、한국어 テスト ｗｅｂ Größe"));
        assert!(needs_folding("ﾃｽﾄ") && needs_folding("e\u{301}") && needs_folding("ﬁne"));
    }

    #[test]
    fn every_character_with_case_is_seen() {
        for c in '\u{80}'..=char::MAX {
            let wanted = lowers(c) || matches!(c, 'ſ' | 'ς');
            assert_eq!(has_case_beyond_ascii(c.encode_utf8(&mut [0; 4])), wanted, "{c:?}");
            let padded = format!("{c}{}", "界".repeat(20));
            assert_eq!(has_case_beyond_ascii(&padded), wanted, "{c:?}");
        }
    }
}
