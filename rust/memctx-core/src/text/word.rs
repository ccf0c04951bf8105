//! Short tokens as two machine words.

use super::swar;

/// A token of at most [`Word::LONGEST`] bytes: these and, in the last place, their number.
///
/// ```
/// use memctx_core::text::Word;
///
/// let word = Word::new("feature").expect("it is short");
/// assert_eq!(word.spell(&mut [0; _]), "feature");
/// assert_eq!(Word::new("internationalization"), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Word([u64; 2]);

const SIZE: usize = size_of::<Word>();

impl Word {
    /// Bytes that fit.
    pub const LONGEST: usize = SIZE - 1;

    /// Return the word of a token, if that is short enough.
    #[inline]
    #[must_use]
    pub fn new(token: &str) -> Option<Self> {
        let bytes = token.as_bytes();
        let length = bytes.len();
        let [low, high] = if length > Self::LONGEST {
            return None;
        } else if let (Some(&front), Some(&back)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
            // Two parts that overlap; the shift takes from the second what is in the first.
            [u64::from_le_bytes(front), u64::from_le_bytes(back) >> 1 >> (8 * (Self::LONGEST - length) + 7)]
        } else if let (Some(&front), Some(&back)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            [u64::from(u32::from_le_bytes(front)) | u64::from(u32::from_le_bytes(back)) << (8 * (length - 4)), 0]
        } else {
            [bytes.iter().rev().fold(0, |low, &byte| low << 8 | u64::from(byte)), 0]
        };
        Some(Self([low, high | (length as u64) << 56]))
    }

    /// Return the word of the first `length` bytes, at most [`Word::LONGEST`], with capitals of ASCII made small. No
    /// branches.
    #[inline]
    pub(super) fn small(bytes: &[u8; SIZE], length: usize) -> Self {
        let bytes = u128::from_le_bytes(*bytes) & !(u128::MAX << (8 * length));
        Self([swar::small(bytes as u64), swar::small((bytes >> 64) as u64) | (length as u64) << 56])
    }

    /// Return the word of the token of so many bytes, at most eight, that begins at `at`: the same as that of
    /// [`Word::new`], without a branch on its length.
    #[inline]
    pub(super) fn at<const BYTES: usize>(text: &str, at: usize) -> Self {
        let mut low = [0; 8];
        low[..BYTES].copy_from_slice(&text.as_bytes()[at..at + BYTES]);
        Self([u64::from_le_bytes(low), (BYTES as u64) << 56])
    }

    /// Return the word of what stands behind the first so many bytes of a token of at most eight.
    #[inline]
    pub(super) const fn behind<const BYTES: usize>(self) -> Self {
        Self([self.0[0] >> (8 * BYTES), self.0[1] - ((BYTES as u64) << 56)])
    }

    /// Return both machine words; together they are the same for no other token.
    #[inline]
    #[must_use]
    pub const fn halves(self) -> [u64; 2] {
        self.0
    }

    /// Return the number of bytes.
    #[allow(clippy::len_without_is_empty)] // no token is empty
    #[inline]
    #[must_use]
    pub const fn len(self) -> usize {
        (self.0[1] >> 56) as usize
    }

    /// Return the bytes, and some behind them that are not of the token.
    #[inline]
    pub(super) const fn bytes(self) -> [u8; SIZE] {
        let [low, high] = self.0;
        ((high as u128) << 64 | low as u128).to_le_bytes()
    }

    /// Return the token, written to a place that has room for it.
    #[allow(clippy::missing_panics_doc)] // a word is made of a token
    #[inline]
    #[must_use]
    pub fn spell(self, buffer: &mut [u8; SIZE]) -> &str {
        *buffer = self.bytes();
        str::from_utf8(&buffer[..self.len()]).expect("the bytes of a token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn short_tokens_are_kept_whole(token in "[a-zé飞]{0,6}|[a-z.]{0,20}") {
            let word = Word::new(&token);
            prop_assert_eq!(word.is_some(), token.len() <= Word::LONGEST);
            if let Some(word) = word {
                let mut buffer = [0; SIZE];
                prop_assert_eq!(word.spell(&mut buffer), token);
            }
        }

        #[test]
        fn capitals_become_small(token in "[ -~]{0,15}", rest in "[ -~]{16}") {
            let bytes = format!("{token}{rest}").into_bytes();
            let word = Word::small(bytes.first_chunk().expect("enough"), token.len());
            prop_assert_eq!(Some(word), Word::new(&token.to_ascii_lowercase()));
        }
    }
}
