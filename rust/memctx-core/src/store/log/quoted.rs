//! A string as JSON writes it.

/// Bytes that are looked at together.
const BLOCK: usize = 32;

/// Write a string in quotes behind a line, as `serde_json` does.
pub(crate) fn quote(line: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    line.reserve(bytes.len() + 2);
    line.push(b'"');
    let mut from = 0;
    while let Some(at) = next_escaped(bytes, from) {
        line.extend_from_slice(&bytes[from..at]);
        escape(line, bytes[at]);
        from = at + 1;
    }
    line.extend_from_slice(&bytes[from..]);
    line.push(b'"');
}

/// The first byte at `from` or behind it that cannot stand in quotes as it is.
fn next_escaped(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    // Most blocks have none; without branches the compiler compares all of a block at once.
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        if block.iter().fold(false, |any, &byte| any | is_escaped(byte)) {
            break;
        }
        at += BLOCK;
    }
    bytes.get(at..)?.iter().position(|&byte| is_escaped(byte)).map(|found| at + found)
}

#[allow(clippy::needless_bitwise_bool)] // a branch would keep the compiler from comparing blocks
fn is_escaped(byte: u8) -> bool {
    (byte < b' ') | (byte == b'"') | (byte == b'\\')
}

fn escape(line: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0C => b'f',
        b'\r' => b'r',
        _ => {
            let digit = |half: u8| b"0123456789abcdef"[usize::from(half)];
            line.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xF)]);
            return;
        }
    };
    line.extend_from_slice(&[b'\\', letter]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn strings_are_those_of_serde(text in "([\\x00-\\x7F]|[a-z]{20}|(?s).){0,80}") {
            let mut line = b"x".to_vec();
            quote(&mut line, &text);
            prop_assert_eq!(&line[1..], serde_json::to_vec(&text).expect("a string"));
        }
    }
}
