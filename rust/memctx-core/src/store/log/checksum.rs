//! A checksum as the last key of a JSON line, so that damage inside valid JSON is seen.
//!
//! The line ends in `,"crc":"xxxxxxxx"}`, the CRC-32 of all bytes before that comma in hexadecimal. Readers that do not
//! know the key ignore it.

/// `,"crc":"`, eight digits, `"}`.
const SEAL_BYTES: usize = 18;
const FRONT: &[u8; 8] = b",\"crc\":\"";
const BACK: &[u8; 2] = b"\"}";
/// A damaged seal must not pass for a line that never had one, so a few bytes of its front may be wrong.
const LIKE: usize = 6;

/// The state of a line's checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// The line is as it was written.
    Holds,
    /// The line was written without a checksum.
    Absent,
    /// The line is damaged.
    Broken,
}

/// Turn a JSON object that lacks its closing brace into a sealed line, without its line end.
pub(crate) fn seal(line: &mut Vec<u8>) {
    seal_from(line, 0);
}

/// The same for the last of several lines, which begins at `start`.
pub(crate) fn seal_from(lines: &mut Vec<u8>, start: usize) {
    let seal = seal_of(&lines[start..]);
    lines.extend_from_slice(&seal);
}

/// Check a line, without its line end.
pub(crate) fn check(line: &[u8]) -> Checksum {
    let Some(body_bytes) = line.len().checked_sub(SEAL_BYTES) else { return Checksum::Absent };
    let (body, seal) = line.split_at(body_bytes);
    if seal.iter().zip(FRONT).filter(|(found, wanted)| found == wanted).count() < LIKE {
        return Checksum::Absent;
    }
    if seal == seal_of(body) { Checksum::Holds } else { Checksum::Broken }
}

fn seal_of(body: &[u8]) -> [u8; SEAL_BYTES] {
    let mut seal = [0; SEAL_BYTES];
    seal[..8].copy_from_slice(FRONT);
    let crc = crc32fast::hash(body);
    for (digit, at) in seal[8..16].iter_mut().zip((0..8).rev()) {
        *digit = b"0123456789abcdef"[(crc >> (4 * at) & 0xF) as usize];
    }
    seal[16..].copy_from_slice(BACK);
    seal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_is_seen() {
        let mut line = br#"{"id":"a","content":"port 8443""#.to_vec();
        seal(&mut line);
        assert_eq!(check(&line), Checksum::Holds);
        assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut damaged = line.clone();
                damaged[at] ^= 1 << bit;
                assert_eq!(check(&damaged), Checksum::Broken, "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn a_line_of_another_writer_has_no_checksum() {
        for line in [&b"{}"[..], br#"{"id":"a","metadata":{"topics":[],"entities":[]}}"#, b"", br#"{"x":"12345678"}"#] {
            assert_eq!(check(line), Checksum::Absent);
        }
    }
}
