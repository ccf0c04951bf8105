//! SWAR: the length of runs of ASCII, eight bytes at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

/// Bytes that [`small_run`] looks at.
pub(super) const SMALL_RUN: usize = 16;

/// Return the number of leading ASCII bytes among the next eight.
#[inline]
pub(super) fn ascii_run(bytes: &[u8]) -> usize {
    run(!load(bytes) & HIGH).min(bytes.len())
}

/// Return the number of leading ASCII small letters and digits among the next [`SMALL_RUN`] bytes.
#[inline]
pub(super) fn small_run(bytes: &[u8]) -> usize {
    let (front, back) = match bytes.first_chunk::<SMALL_RUN>() {
        Some(all) => (load(&all[..8]), load(&all[8..])),
        None => (load(bytes), load(bytes.get(8..).unwrap_or_default())),
    };
    let front = small_bytes(front);
    // Most words end in the first half, many in the second: to add that without a branch is quicker than to guess.
    front + (small_bytes(back) & (front / 8).wrapping_neg())
}

/// Return the number of bytes of the word, from the lowest on, that are ASCII small letters or digits.
#[inline]
fn small_bytes(word: u64) -> usize {
    let low = word & !HIGH;
    let is_small = within(low, b'a', b'z') | within(low, b'0', b'9');
    run(is_small & !word & HIGH)
}

/// Return the eight bytes with ASCII capitals made small.
#[inline]
pub(super) fn small(word: u64) -> u64 {
    // The bit that tells a small letter from its capital lies two below the high one.
    word | (within(word & !HIGH, b'A', b'Z') & !word) >> 2
}

/// Return the first eight bytes, with zeros where there are fewer.
#[inline]
fn load(bytes: &[u8]) -> u64 {
    if let Some(eight) = bytes.first_chunk() {
        return u64::from_le_bytes(*eight);
    }
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(eight)
}

/// Return the high bit of each byte, below 128, that lies between the two.
#[inline]
fn within(word: u64, least: u8, most: u8) -> u64 {
    let from_least = word + (0x80 - u64::from(least)) * ONES;
    let above_most = word + (0x7F - u64::from(most)) * ONES;
    from_least & !above_most & HIGH
}

/// Return the number of leading bytes with their high bit set.
#[inline]
fn run(mask: u64) -> usize {
    (!mask & HIGH).trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_equal_counting(bytes in prop::collection::vec(prop_oneof![any::<u8>(), b'a'..=b'z', b'0'..=b'9'], 0..20)) {
            let small = |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            prop_assert_eq!(small_run(&bytes), bytes.iter().take(SMALL_RUN).take_while(small).count());
            prop_assert_eq!(ascii_run(&bytes), bytes.iter().take(8).take_while(|byte| byte.is_ascii()).count());
        }
    }
}
