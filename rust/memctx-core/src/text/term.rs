//! Tokens as 64-bit words.

use std::hash::BuildHasher as _;

use rustc_hash::FxBuildHasher;

use super::word::Word;

/// A token as one word: its bytes where they fit, which they do for every pair of CJK characters of the basic plane,
/// or else a 63-bit hash. Two long tokens share a word once in some 10^19 pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Term(u64);

const IS_HASH: u64 = 1 << 63;
const INLINE_BYTES: usize = 7;

impl Term {
    /// Create the word of a token.
    #[inline]
    #[must_use]
    pub fn new(token: &str) -> Self {
        let bytes = token.as_bytes();
        let length = bytes.len();
        match length {
            4..=INLINE_BYTES => {
                // Two halves that overlap; the shift puts the second where its bytes belong.
                let back = word(&bytes[length - 4..]) << (8 * (length - 4));
                Self(word(&bytes[..4]) | back | (length as u64) << 56)
            }
            1..4 => {
                // The first, the middle and the last byte are all there are; some of them may be the same.
                let byte = |at: usize| u64::from(bytes[at]) << (8 * at);
                Self(byte(0) | byte(length / 2) | byte(length - 1) | (length as u64) << 56)
            }
            0 => Self(0),
            _ => Self::hashed(bytes),
        }
    }

    #[inline]
    fn hashed(bytes: &[u8]) -> Self {
        Self(FxBuildHasher.hash_one(bytes) | IS_HASH)
    }

    /// Return the term of a word.
    #[inline]
    pub(super) fn of_word(word: Word) -> Self {
        let [low, high] = word.halves();
        // In a word, too, the highest byte is the length.
        if word.len() <= INLINE_BYTES { Self(low | high) } else { Self::hashed(&word.bytes()[..word.len()]) }
    }

    /// Return the word of the token of so many bytes, at most seven, that begins at `at`: the same as that of
    /// [`Term::new`], without a branch on its length.
    #[inline]
    pub(super) fn at<const BYTES: usize>(text: &str, at: usize) -> Self {
        const { assert!(0 < BYTES && BYTES <= INLINE_BYTES) };
        let mut word = [0; 8];
        word[..BYTES].copy_from_slice(&text.as_bytes()[at..at + BYTES]);
        Self(u64::from_le_bytes(word) | (BYTES as u64) << 56)
    }

    /// Return the word of what stands behind the first so many bytes of a token that fits into one.
    #[inline]
    pub(super) const fn behind<const BYTES: usize>(self) -> Self {
        let length = (self.0 >> 56) - BYTES as u64;
        Self(self.0 << 8 >> 8 >> (8 * BYTES) | length << 56)
    }

    /// Return the word.
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        self.0
    }
}

#[inline]
fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, |four| u64::from(u32::from_le_bytes(four)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn short_tokens_are_kept_whole(a in ".{0,7}", b in ".{0,7}") {
            prop_assert_eq!(Term::new(&a) == Term::new(&b), a == b);
            prop_assert_eq!(Term::new(&a).0 & IS_HASH == 0, a.len() <= INLINE_BYTES);
        }
    }
}
