//! The bytes of a string that are looked for first.

use super::Literal;

/// Bytes to a window, where the string has as many.
pub(super) const LONGEST: usize = 3;

/// Part of a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    bytes: [u8; LONGEST],
    pub(super) length: usize,
    /// Where in the string it begins.
    pub(super) at: usize,
    any_case: bool,
}

impl Window {
    /// The part of a string that texts hold least often; the first of those that are as rare.
    pub(super) fn of(literal: Literal<'_>) -> Self {
        let whole = literal.text.as_bytes();
        let length = whole.len().min(LONGEST);
        assert!(length > 0, "a string of one byte or more");
        let windows = whole.windows(length).enumerate().map(|(at, part)| {
            let mut bytes = [0; LONGEST];
            bytes[..length].copy_from_slice(part);
            Self { bytes, length, at, any_case: literal.any_case }
        });
        let rarest = windows.min_by(|a, b| a.frequency().total_cmp(&b.frequency()));
        rarest.expect("a string has a window of its own length")
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The bytes that may stand at a place of it; none if all may.
    pub(super) fn admitted(&self, place: usize) -> Option<[u8; 2]> {
        let byte = *self.bytes().get(place)?;
        let is_folded = self.any_case && byte.is_ascii_alphabetic();
        Some([byte, if is_folded { byte ^ 0x20 } else { byte }])
    }

    /// About how often it stands in a text.
    pub(super) fn frequency(&self) -> f32 {
        (0..self.length).filter_map(|place| self.admitted(place)).map(of_either).product()
    }
}

fn of_either([byte, other]: [u8; 2]) -> f32 {
    frequency(byte) + if other == byte { 0.0 } else { frequency(other) }
}

/// About how many of a thousand bytes are this one, in talk, code and Chinese alike.
pub(super) fn frequency(byte: u8) -> f32 {
    match byte {
        b' ' => 120.0,
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 50.0,
        b'h' | b'l' | b'd' | b'c' | b'u' | b'm' => 25.0,
        b'p' | b'f' | b'g' | b'y' | b'w' | b'b' | b'v' => 12.0,
        0xE4..=0xE9 => 30.0,
        0x80..=0xBF => 8.0,
        b'A'..=b'Z' | 0xC2..=0xF4 => 2.0,
        b'a'..=b'z'
        | b'0'..=b'9'
        | b'.'
        | b','
        | b'_'
        | b'-'
        | b'/'
        | b':'
        | b'='
        | b'"'
        | b'\''
        | b'('
        | b')'
        | b'\n' => 4.0,
        _ => 0.5,
    }
}
