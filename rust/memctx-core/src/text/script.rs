//! Looking characters up in the table that `build.rs` makes.

use super::class::{Class, FOLDS, WORD};

include!(concat!(env!("OUT_DIR"), "/classes.rs"));

/// The table byte of a character; see [`Class`] and [`super::class::OriginalClass`] for how to read it.
#[inline]
pub(super) fn byte_of(c: char) -> u8 {
    let code = c as usize;
    PAGES[usize::from(PAGE_OF[code >> 8])][code & 0xFF]
}

/// The table byte of an ASCII character.
#[inline]
pub(super) fn ascii_byte_of(byte: u8) -> u8 {
    PAGES[0][usize::from(byte)]
}

/// Whether the text must be brought into NFKC before the classes of its characters hold.
///
/// Full-width ASCII does not count: it folds one character at a time.
pub(super) fn needs_folding(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| MAY_FOLD[usize::from(byte)]) {
        rest = &rest[at..];
        let Some(c) = rest.chars().next() else { return false };
        if byte_of(c) & FOLDS != 0 {
            return true;
        }
        rest = &rest[c.len_utf8()..];
    }
    false
}

/// Whether a character is a letter or a number of any script.
pub(super) fn is_letter_or_number(c: char) -> bool {
    byte_of(c) & WORD != 0
}

/// Whether a character is Han, kana, hangul or bopomofo.
pub(super) fn is_cjk(c: char) -> bool {
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

    /// What lets the tokenizer skip normalisation: characters that need no folding may stand in any order and the
    /// text is NFKC already, but for full-width ASCII and characters that only ever break words.
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
    fn only_rare_text_needs_folding() {
        assert!(!needs_folding("plain ascii, 支付回调：失败…（重试）、한국어 テスト ｗｅｂ Größe"));
        assert!(needs_folding("ﾃｽﾄ") && needs_folding("e\u{301}") && needs_folding("ﬁne"));
    }
}
