//! Estimators of model tokens.

use super::cjk_count::CjkCount;
use super::script;
use crate::{Error, Result};

/// UTF-16 units to a token, by the rule of thumb of OpenClaw.
const UNITS_PER_TOKEN: usize = 3;

/// Estimator of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimator {
    /// A third of the UTF-16 length, rounded up. Stored with every segment.
    #[default]
    Utf16,
    /// Each CJK character one token, the rest as in `Utf16`: an upper estimate, for budgets.
    Script,
}

impl Estimator {
    /// Return the estimator of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "utf16" => Ok(Self::Utf16),
            "script" => Ok(Self::Script),
            _ => Err(Error::argument("estimator", "\"utf16\" or \"script\"", format!("{name:?}"))),
        }
    }

    /// Tokens that the text costs, never less than 1.
    ///
    /// ```
    /// use memctx_core::text::Estimator;
    ///
    /// assert_eq!(Estimator::Utf16.estimate("支付回调失败了"), 3);
    /// assert_eq!(Estimator::Script.estimate("支付回调失败了"), 7);
    /// ```
    #[must_use]
    pub fn estimate(self, text: &str) -> usize {
        self.thirds(text).div_ceil(UNITS_PER_TOKEN).max(1)
    }

    /// Return the cost of the text in thirds of a token. The costs of two texts add up to that of their concatenation.
    pub(crate) fn thirds(self, text: &str) -> usize {
        match self {
            Self::Utf16 => utf16_len(text),
            Self::Script => {
                let count = CjkCount::of(text);
                count.characters * UNITS_PER_TOKEN + count.other_units
            }
        }
    }

    /// Return the cost of a character in thirds of a token.
    pub(crate) fn thirds_of_char(self, c: char) -> usize {
        match self {
            Self::Script if script::is_cjk(c) => UNITS_PER_TOKEN,
            Self::Script | Self::Utf16 => c.len_utf16(),
        }
    }
}

/// Return the length in UTF-16 code units, which is what a JavaScript host means by length.
#[must_use]
pub fn utf16_len(text: &str) -> usize {
    // Every byte that begins a character is a unit, and one that begins a four-byte character is two. Sums of at most
    // 255 fit a byte, which lets the compiler use a full vector register for them.
    text.as_bytes()
        .chunks(255)
        .map(|chunk| {
            let firsts: u8 = chunk.iter().map(|&byte| u8::from(byte & 0xC0 != 0x80)).sum();
            let pairs: u8 = chunk.iter().map(|&byte| u8::from(byte >= 0xF0)).sum();
            usize::from(firsts) + usize::from(pairs)
        })
        .sum()
}

/// Characters that a token of a model's window stands for, by the rule of thumb that contexts are pruned by.
pub(crate) const CHARS_PER_TOKEN: usize = 4;

/// Return the length in UTF-16 code units with each CJK character as long as a token.
pub(crate) fn weighted_len(text: &str) -> usize {
    let count = CjkCount::of(text);
    count.characters * CHARS_PER_TOKEN + count.other_units
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_empty_text_costs_one_token() {
        assert_eq!(Estimator::Utf16.estimate(""), 1);
        assert_eq!(Estimator::Script.estimate(""), 1);
    }

    proptest! {
        #[test]
        fn utf16_len_is_the_length_in_utf16(text in ".{0,600}") {
            prop_assert_eq!(utf16_len(&text), text.encode_utf16().count());
        }

        #[test]
        fn script_counts_cjk_characters_whole(text in "[a-zé飞書カ한😀 ]{0,80}") {
            let (cjk, rest): (Vec<char>, Vec<char>) = text.chars().partition(|c| "飞書カ한".contains(*c));
            let units: usize = rest.iter().map(|c| c.len_utf16()).sum();
            prop_assert_eq!(Estimator::Script.estimate(&text), (cjk.len() + units.div_ceil(3)).max(1));
        }

        #[test]
        fn characters_cost_what_their_text_costs(text in ".{0,80}|[飞書カ한😀𠀋 ]{0,80}") {
            for estimator in [Estimator::Script, Estimator::Utf16] {
                let sum: usize = text.chars().map(|c| estimator.thirds_of_char(c)).sum();
                prop_assert_eq!(sum, estimator.thirds(&text));
            }
        }

        #[test]
        fn a_cjk_character_is_as_long_as_a_token(text in "[a-zé飞書カ한😀 ]{0,80}") {
            let length = |c: char| if "飞書カ한".contains(c) { 4 } else { c.len_utf16() };
            prop_assert_eq!(weighted_len(&text), text.chars().map(length).sum::<usize>());
        }

        #[test]
        fn script_is_never_below_utf16(text in ".{0,200}") {
            prop_assert!(Estimator::Script.estimate(&text) >= Estimator::Utf16.estimate(&text));
        }
    }
}
