//! The form of a text that the hash embedding reads.

use std::borrow::Cow;

use super::class::is_js_space;
use super::script;

const SPACE: u16 = b' ' as u16;

/// The text in UTF-16, lower-cased, with one space for every run of white space and one for every other character
/// that is neither a letter, a number nor one of `@ . + -`; no space at the ends.
pub(crate) fn hash_form(text: &str) -> Vec<u16> {
    let text: Cow<'_, str> = if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.to_lowercase()) };
    let mut units = Vec::with_capacity(text.len());
    let mut is_behind_space = false;
    for c in text.chars() {
        let is_space = is_js_space(c);
        if is_space && is_behind_space {
            continue;
        }
        is_behind_space = is_space;
        if script::is_letter_or_number(c) || matches!(c, '@' | '.' | '+' | '-') {
            units.extend_from_slice(c.to_ascii_lowercase().encode_utf16(&mut [0; 2]));
        } else {
            units.push(SPACE);
        }
    }
    trim(units)
}

fn trim(mut units: Vec<u16>) -> Vec<u16> {
    units.truncate(units.iter().rposition(|&unit| unit != SPACE).map_or(0, |last| last + 1));
    let first = units.iter().position(|&unit| unit != SPACE).unwrap_or_default();
    units.drain(..first);
    units
}
