//! Normal form of a text for the hash embedder.

use std::borrow::Cow;

use super::class::is_js_space;
use super::openclaw::with_final_sigmas;
use super::script::{self, WIDE};

const SPACE: u16 = b' ' as u16;

/// Return the text in UTF-16, lower-cased, with one space for every run of white space and one for every other
/// character that is neither a letter, a number nor one of `@ . + -`; exactly one space at either end.
pub(crate) fn hash_form(text: &str) -> Vec<u16> {
    let text: Cow<'_, str> = with_final_sigmas(text);
    // No character has more units than bytes, in lower case neither.
    let mut form = Form { units: vec![SPACE; text.len() + 2], length: 1, is_behind_space: false };
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        if byte.is_ascii() {
            form.push_ascii(byte);
            at += 1;
        } else if let Some(unit) = script::common_han(&text, at) {
            form.push_unit(unit);
            at += WIDE;
        } else {
            let Some(c) = text[at..].chars().next() else { break };
            if script::lowers(c) {
                c.to_lowercase().for_each(|small| form.push(small));
            } else {
                form.push(c);
            }
            at += c.len_utf8();
        }
    }
    form.trimmed()
}

struct Form {
    units: Vec<u16>,
    length: usize,
    is_behind_space: bool,
}

impl Form {
    /// Append as [`Form::push`] does, without a branch on what cannot be foretold.
    #[inline]
    fn push_ascii(&mut self, byte: u8) {
        let (unit, is_space) = ASCII[usize::from(byte)];
        self.units[self.length] = unit;
        self.length += usize::from(!(is_space & self.is_behind_space));
        self.is_behind_space = is_space;
    }

    #[inline]
    fn push(&mut self, c: char) {
        if !script::is_letter_or_number(c) {
            let is_space = is_js_space(c);
            self.units[self.length] = SPACE;
            self.length += usize::from(!(is_space & self.is_behind_space));
            self.is_behind_space = is_space;
            return;
        }
        if let Ok(unit) = u16::try_from(u32::from(c)) {
            self.push_unit(unit);
        } else {
            self.is_behind_space = false;
            self.length += c.encode_utf16(&mut self.units[self.length..]).len();
        }
    }

    /// Take a letter or number that lower-casing leaves alone.
    #[inline]
    fn push_unit(&mut self, unit: u16) {
        self.is_behind_space = false;
        self.units[self.length] = unit;
        self.length += 1;
    }

    /// Return the units, with one space at either end; there is one at least at the beginning.
    fn trimmed(self) -> Vec<u16> {
        let Self { mut units, length, .. } = self;
        units.truncate(length);
        units.truncate(units.iter().rposition(|&unit| unit != SPACE).map_or(1, |last| last + 1));
        let first = units.iter().position(|&unit| unit != SPACE).unwrap_or(1);
        units.drain(1..first);
        units.push(SPACE);
        units
    }
}

/// Normalized form of each ASCII character, and whether it is white space.
static ASCII: [(u16, bool); 128] = {
    let mut table = [(SPACE, false); 128];
    let mut byte = 0;
    while byte < 128 {
        let c = byte as u8;
        table[byte] = match c {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'@' | b'.' | b'+' | b'-' => {
                (c.to_ascii_lowercase() as u16, false)
            }
            _ => (SPACE, is_js_space(c as char)),
        };
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_has_room() {
        for c in '\0'..=char::MAX {
            let text = c.to_string().repeat(3);
            assert!(hash_form(&text).len() <= text.len() + 2, "{c:?}");
        }
    }
}
