//! Certainty of a sentence: whether it can state a fact.

use super::tables::{CJK_UNCERTAIN, GERMAN_UNCERTAIN, PAST, QUESTION_OPENINGS, UNCERTAIN};

/// Longest sentence, in bytes: more is no plain statement.
const LONGEST: usize = 400;

/// Return whether a sentence may state something: it is no question, guess, condition or example.
pub(in crate::facts) fn may_state(sentence: &str) -> bool {
    let is_open = sentence.ends_with(['?', '？']) || CJK_UNCERTAIN.iter().any(|word| sentence.contains(word));
    let Some(first) = words(sentence).next() else { return !is_open && !sentence.is_empty() };
    let is_uncertain = |word: &str| is_in(UNCERTAIN, word) || is_in(GERMAN_UNCERTAIN, word);
    !is_open && sentence.len() <= LONGEST && !is_in(QUESTION_OPENINGS, first) && !words(sentence).any(is_uncertain)
}

/// Return whether a sentence says what held before.
pub(in crate::facts) fn is_past(sentence: &str) -> bool {
    words(sentence).any(|word| is_in(PAST, word))
}

fn words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty())
}

fn is_in(list: &[&str], word: &str) -> bool {
    list.iter().any(|listed| listed.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_guesses_and_conditions_state_nothing() {
        for sentence in ["The port is 8443.", "ポートは8443です", "Use tabs", "端口是 8443"] {
            assert!(may_state(sentence), "{sentence}");
        }
        for sentence in [
            "Is the port 8443",
            "The port is 8443?",
            "if the port is 8443",
            "Der Port ist vielleicht 8443",
            "可能是 8443",
            "",
        ] {
            assert!(!may_state(sentence), "{sentence}");
        }
    }
}
