//! Marks that the rules for Chinese start from, found in one pass.

use std::sync::LazyLock;

use crate::literals::{Literal, Literals};
use crate::text::is_js_space;

/// Signs of money, of dates, and the first characters of words that a name follows.
const SIGNS: [&str; 20] = [
    "¥", "元", "块", "年", "天", "周", "月", "找", "问", "跟", "给", "叫", "是", "让", "请", "联", "通", "告", "转",
    "抄",
];
/// Cues that count only before Chinese, white space between them allowed.
const CUES: [&str; 2] = ["@", "cc"];

static FINDER: LazyLock<Literals> =
    LazyLock::new(|| Literals::new(SIGNS.into_iter().chain(CUES).map(|text| Literal { text, any_case: false })));

/// A character that a rule hangs on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Offset in bytes.
    pub(super) at: usize,
    /// The character: one of the signs, or the first of a cue.
    pub(super) sign: char,
}

/// Return all marks, in order.
pub(super) fn marks(text: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    // No sign is ASCII, and a cue counts only before what is not.
    if text.is_ascii() {
        return marks;
    }
    FINDER.for_each(text.as_bytes(), |number, range| {
        if number < SIGNS.len() || begins_in_han(&text[range.end..]) {
            let sign = text[range.clone()].chars().next();
            marks.extend(sign.map(|sign| Mark { at: range.start, sign }));
        }
    });
    marks
}

/// Return whether a Han character is the first in a text but for white space.
fn begins_in_han(text: &str) -> bool {
    // All of them from U+4000 to U+9FFF, by their first bytes.
    matches!(text.trim_start_matches(is_js_space).as_bytes(), [0xE4..=0xE9, ..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Find the same, one character after the other.
    fn naively(text: &str) -> Vec<Mark> {
        let cue = |cue: &str, rest: &str| rest.strip_prefix(cue).is_some_and(begins_in_han);
        let is_mark = |(at, sign): &(usize, char)| {
            SIGNS.contains(&&*sign.to_string()) || CUES.iter().any(|known| cue(known, &text[*at..]))
        };
        text.char_indices().filter(is_mark).map(|(at, sign)| Mark { at, sign }).collect()
    }

    proptest! {
        #[test]
        fn every_mark_is_found(text in "([@c ¥元月是抄联系云\u{3000}ア¦x]|.){0,120}") {
            prop_assert_eq!(marks(&text), naively(&text));
        }
    }
}
