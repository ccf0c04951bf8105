//! Digests: tokens as 32-bit hashes.

use std::hash::BuildHasher as _;

use rustc_hash::FxBuildHasher;

use super::script::WIDE;
use super::sink::TokenSink;
use super::tokenizer::{Mode, tokenize};
use super::word::Word;

/// Short hash of a token, for many tokens of which few are looked up. Two tokens collide once in some 10^9 pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digest(u32);

impl Digest {
    /// Create the digest of a token.
    pub(crate) fn new(token: &str) -> Self {
        Word::new(token).map_or_else(|| Self(upper(FxBuildHasher.hash_one(token))), Self::of_word)
    }

    /// Return the digest of a short token. No branches: which words are longer than others cannot be foretold.
    #[inline]
    fn of_word(word: Word) -> Self {
        // Odd, and otherwise as good as any.
        const MULTIPLIERS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03];
        let [low, high] = word.halves();
        Self(upper(low.wrapping_mul(MULTIPLIERS[0]).wrapping_add(high.wrapping_mul(MULTIPLIERS[1]))))
    }

    /// Return all its bits; the higher ones depend on more of the token than the lower ones.
    #[inline]
    pub(crate) const fn to_u32(self) -> u32 {
        self.0
    }
}

/// Only these depend on all that was multiplied.
const fn upper(hash: u64) -> u32 {
    (hash >> u32::BITS) as u32
}

/// Put the digests of the tokens of a text behind others, in order.
pub(crate) fn append_digests(text: &str, digests: &mut Vec<Digest>) {
    tokenize(text, Mode::Memctx, &mut Digests { start: digests.len(), digests });
}

struct Digests<'v> {
    digests: &'v mut Vec<Digest>,
    /// Start of the digests of the text.
    start: usize,
}

impl TokenSink for Digests<'_> {
    #[inline]
    fn token(&mut self, token: &str) {
        self.digests.push(Digest::new(token));
    }

    #[inline]
    fn word(&mut self, word: Word) {
        self.digests.push(Digest::of_word(word));
    }

    #[inline]
    fn character(&mut self, text: &str, at: usize, follows: bool) {
        let Some(before) = at.checked_sub(WIDE) else { return self.token(&text[at..at + WIDE]) };
        // Whether it follows cannot be foretold: so both are written in any case, and the second is counted if it does.
        let pair = Word::at::<{ 2 * WIDE }>(text, before);
        self.digests.extend([pair.behind::<WIDE>(), pair].map(Digest::of_word));
        self.digests.truncate(self.digests.len() - usize::from(!follows));
    }

    fn start_over(&mut self) {
        self.digests.truncate(self.start);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::tokenizer::for_each_token;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digests_are_those_of_the_tokens(
            text in "([a-zA-Z0-9_./é]{1,24}|[一-龥]{1,9}|[飞書カ한]{1,5}|[ﾃｽﾄﬁe\u{301}ｗ１\u{F900}\u{200D}]|[ .!、]){0,40}",
        ) {
            let mut expected = vec![Digest::new("of another text")];
            for_each_token(&text, Mode::Memctx, |token| expected.push(Digest::new(token)));
            let mut digests = vec![Digest::new("of another text")];
            append_digests(&text, &mut digests);
            prop_assert_eq!(digests, expected);
        }
    }

    #[test]
    fn few_tokens_share_one() {
        let words = (0..60_000_u32).map(|number| format!("item{number}"));
        let long = (0..60_000_u32).map(|number| format!("a_rather_long_identifier_{number}"));
        let han = ('一'..='龥').zip(('一'..='龥').skip(7)).flat_map(|(a, b)| [a.to_string(), format!("{a}{b}")]);
        let mut sharers = HashMap::new();
        for token in words.chain(long).chain(han) {
            *sharers.entry(Digest::new(&token).to_u32()).or_insert(0) += 1;
        }
        // By chance, 160,000 of them would have three pairs.
        assert!(sharers.values().filter(|&&count| count > 1).count() < 20);
    }
}
