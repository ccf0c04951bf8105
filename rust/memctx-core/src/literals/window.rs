//! Windows: the rarest bytes of a string, searched first.

use super::Literal;

/// Bytes to a window, where the string has as many.
pub(super) const LONGEST: usize = 3;

/// Part of a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    bytes: [u8; LONGEST],
    pub(super) length: usize,
    /// Offset in the string.
    pub(super) at: usize,
    any_case: bool,
}

impl Window {
    /// Return the part of a string that texts hold least often; the first of those that are as rare.
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

    /// Return the bytes admitted at a position; none if all are.
    pub(super) fn admitted(&self, position: usize) -> Option<[u8; 2]> {
        let byte = *self.bytes().get(position)?;
        let is_folded = self.any_case && byte.is_ascii_alphabetic();
        Some([byte, if is_folded { byte ^ 0x20 } else { byte }])
    }

    /// Return the bytes that may stand at each place of it.
    pub(super) fn admitted_all(&self) -> [Option<[u8; 2]>; LONGEST] {
        std::array::from_fn(|position| self.admitted(position))
    }

    /// Return its approximate frequency in a text.
    pub(super) fn frequency(&self) -> f32 {
        (0..self.length).filter_map(|position| self.admitted(position)).map(of_either).product()
    }
}

fn of_either([byte, other]: [u8; 2]) -> f32 {
    frequency(byte) + if other == byte { 0.0 } else { frequency(other) }
}

/// Return the approximate frequency of a byte per thousand, in talk, code and Chinese.
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
