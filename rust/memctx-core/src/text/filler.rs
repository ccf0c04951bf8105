//! Function words and courtesies, which carry no topic.

use super::script;
use super::tokenizer::{Mode, for_each_token};

include!(concat!(env!("OUT_DIR"), "/filler.rs"));

/// Return the weight of a token in a question, from 0 to 1.
///
/// A CJK character by itself tells a third of what it tells with its neighbor; hiragana are mostly grammar. A bare
/// number stands in many texts that have nothing else in common.
pub(crate) fn aboutness(token: &str) -> f64 {
    let mut characters = token.chars();
    match (characters.next(), characters.next()) {
        _ if is_filler(token) => 0.0,
        (Some(only), None) if script::is_cjk(only) => 0.3,
        (Some('0'..='9'), _) if token.bytes().all(|byte| byte.is_ascii_digit()) => 0.3,
        (Some(first), Some(_)) if script::is_cjk(first) && FILLER_PAIRS.binary_search(&token).is_ok() => 0.0,
        _ => 1.0,
    }
}

/// Return whether a token only holds a sentence together: an English function word, a word of courtesy, hiragana alone.
pub(crate) fn is_filler(token: &str) -> bool {
    FILLERS.binary_search(&token).is_ok() || token.chars().all(|c| matches!(c, '\u{3041}'..='\u{309F}'))
}

/// Return whether a text is about something: more than courtesies, function words and numbers.
#[must_use]
pub fn has_topic(text: &str) -> bool {
    const LEAST: f64 = 0.5;
    let mut is_found = false;
    for_each_token(text, Mode::Memctx, |token| is_found = is_found || aboutness(token) >= LEAST);
    is_found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_found() {
        assert!(FILLERS.is_sorted() && FILLER_PAIRS.is_sorted());
        assert_eq!(["the", "please", "ます", "port", "飞"].map(is_filler), [true, true, true, false, false]);
        for text in ["thanks, looks good", "what is 2 + 2?", "감사합니다", "ありがとうございます", "..."]
        {
            assert!(!has_topic(text), "{text}");
        }
        assert!(has_topic("the port, please") && has_topic("飞书"));
        assert!(aboutness("什么") == 0.0 && aboutness("17") < aboutness("v17"));
        assert!(aboutness("飞") < aboutness("飞书") && aboutness("the") < aboutness("飞"));
    }
}
