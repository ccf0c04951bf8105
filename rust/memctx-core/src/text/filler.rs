//! Function words and courtesies, which carry no topic.

use super::script;

include!(concat!(env!("OUT_DIR"), "/filler.rs"));

/// Return the weight of a token in a question, from 0 to 1.
///
/// A CJK character by itself tells a third of what it tells with its neighbor; hiragana are mostly grammar.
pub(crate) fn aboutness(token: &str) -> f64 {
    let mut characters = token.chars();
    match (characters.next(), characters.next()) {
        _ if is_filler(token) => 0.0,
        (Some(only), None) if script::is_cjk(only) => 0.3,
        _ => 1.0,
    }
}

/// Return whether a token only holds a sentence together: an English function word, a word of courtesy, hiragana alone.
pub(crate) fn is_filler(token: &str) -> bool {
    FILLERS.binary_search(&token).is_ok() || token.chars().all(|c| matches!(c, '\u{3041}'..='\u{309F}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_found() {
        assert!(FILLERS.is_sorted());
        assert_eq!(["the", "please", "ます", "port", "飞"].map(is_filler), [true, true, true, false, false]);
        assert!(aboutness("飞") < aboutness("飞书") && aboutness("the") < aboutness("飞"));
    }
}
