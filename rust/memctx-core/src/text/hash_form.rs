//! The form of a text that the hash embedding reads.

use std::borrow::Cow;

use super::class::is_js_space;
use super::original::with_final_sigmas;
use super::script;

const SPACE: u16 = b' ' as u16;

/// The text in UTF-16, lower-cased, with one space for every run of white space and one for every other character
/// that is neither a letter, a number nor one of `@ . + -`; no space at the ends.
pub(crate) fn hash_form(text: &str) -> Vec<u16> {
    let text: Cow<'_, str> = with_final_sigmas(text);
    let mut form = Form { units: Vec::with_capacity(text.len()), is_behind_space: false };
    for c in text.chars() {
        match c {
            'a'..='z' | '0'..='9' | '@' | '.' | '+' | '-' => form.keep(c),
            'A'..='Z' => form.keep(c.to_ascii_lowercase()),
            c if script::lowers(c) => c.to_lowercase().for_each(|small| form.push(small)),
            c => form.push(c),
        }
    }
    trim(form.units)
}

struct Form {
    units: Vec<u16>,
    is_behind_space: bool,
}

impl Form {
    #[inline]
    fn keep(&mut self, c: char) {
        self.is_behind_space = false;
        match u16::try_from(u32::from(c)) {
            Ok(unit) => self.units.push(unit),
            Err(_) => self.units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
        }
    }

    #[inline]
    fn push(&mut self, c: char) {
        if script::is_letter_or_number(c) {
            self.keep(c);
            return;
        }
        let is_space = is_js_space(c);
        if !(is_space && self.is_behind_space) {
            self.units.push(SPACE);
        }
        self.is_behind_space = is_space;
    }
}

fn trim(mut units: Vec<u16>) -> Vec<u16> {
    units.truncate(units.iter().rposition(|&unit| unit != SPACE).map_or(0, |last| last + 1));
    let first = units.iter().position(|&unit| unit != SPACE).unwrap_or_default();
    units.drain(..first);
    units
}
