//! Ends of texts and words.

use super::class::{OpenClawClass, is_js_space};
use super::script::byte_of;

/// Return the text without the white space around it, by the rules of JavaScript.
pub(crate) fn trim_js(text: &str) -> &str {
    text.trim_matches(is_js_space)
}

/// Return whether a character is white space, by the rules of JavaScript, or punctuation.
#[inline]
pub(crate) fn ends_word(c: char) -> bool {
    match OpenClawClass::of(byte_of(c)) {
        OpenClawClass::Break => true,
        // That class holds the punctuation of its block.
        OpenClawClass::Cjk => matches!(c, '\u{3000}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301F}'
            | '\u{3030}' | '\u{303D}'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_general_category::{GeneralCategory as G, get_general_category};

    #[test]
    fn words_end_at_white_space_and_punctuation() {
        for c in '\0'..=char::MAX {
            let is_punctuation = matches!(
                get_general_category(c),
                G::ConnectorPunctuation
                    | G::DashPunctuation
                    | G::OpenPunctuation
                    | G::ClosePunctuation
                    | G::InitialPunctuation
                    | G::FinalPunctuation
                    | G::OtherPunctuation
            );
            assert_eq!(ends_word(c), is_punctuation || is_js_space(c), "{c:?}");
        }
    }
}
