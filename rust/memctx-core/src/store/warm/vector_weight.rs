//! Weights of a model's vectors beside words.

use super::scale::Scale;
use crate::fusion::Weights;
use crate::text::is_cjk;

/// Weight of words of which nothing is sure: they still decide where vectors do not.
const LEAST_WORDS: f64 = 0.02;

/// The kind of a model's vectors, which decides how they count beside words; measured by
/// `benches/python/recall_eval.py`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorWeight {
    /// The cosine above the mean, as a share of what is left to 1, that counts as much as words that are sure; for
    /// spelling the weight of a cosine of 1.
    unit: f64,
    /// True if they tell texts in Latin letters apart and no others.
    is_latin_only: bool,
    /// True if any two texts have something in common, which says nothing: cosines count from their mean.
    is_centered: bool,
}

impl VectorWeight {
    /// Spelling: a little more than the words themselves.
    pub const SPELLING: Self = Self { unit: 0.2, is_latin_only: false, is_centered: false };
    /// Meaning, in whatever language.
    pub const MEANING: Self = Self { unit: 0.5, is_latin_only: false, is_centered: true };
    /// Meaning by our own encoder.
    pub const ENCODER: Self = Self { unit: 0.4, ..Self::MEANING };
    /// Meaning by a table of word pieces, in languages that are written in Latin letters.
    pub const LATIN_TABLE: Self = Self { unit: 0.8, is_latin_only: true, ..Self::MEANING };
    /// Meaning of whole sentences, in languages that are written in Latin letters.
    pub const LATIN_MEANING: Self = Self { is_latin_only: true, ..Self::MEANING };

    /// Return whether cosines count from their mean.
    pub(crate) fn is_centered(self) -> bool {
        self.is_centered
    }

    /// Return how the cosines of a query count whose words are so sure to be answered, given the mean cosine.
    pub(crate) fn scale(self, query: &str, words: f64, mean: f64) -> Scale {
        if !self.is_centered {
            return Scale::raw(Weights::of_vector(self.unit));
        }
        let weights = Weights { vector: self.share_known(query), bm25: words.max(LEAST_WORDS) };
        Scale::centered(weights, mean, self.unit)
    }

    /// Return the share of a query that the vectors can tell from others.
    pub(crate) fn share_known(self, query: &str) -> f64 {
        if self.is_latin_only { 1.0 - cjk_share(query) } else { 1.0 }
    }
}

/// Return the share of a text's letters that are Chinese, Japanese or Korean.
fn cjk_share(text: &str) -> f64 {
    let (mut letters, mut cjk) = (0_u32, 0_u32);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        letters += 1;
        cjk += u32::from(is_cjk(c));
    }
    if letters == 0 { 0.0 } else { f64::from(cjk) / f64::from(letters) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_as_far_as_they_are_sure_and_vectors_as_far_as_they_know_the_letters() {
        let weights = |kind: VectorWeight, query: &str, words| {
            let Weights { vector, bm25 } = kind.scale(query, words, 0.0).weights;
            (vector, bm25)
        };
        assert_eq!(weights(VectorWeight::MEANING, "哪个端口", 0.9), (1.0, 0.9));
        assert_eq!(weights(VectorWeight::MEANING, "which port?", 0.0), (1.0, LEAST_WORDS));
        assert_eq!(weights(VectorWeight::LATIN_MEANING, "哪个端口", 0.9), (0.0, 0.9));
        assert_eq!(weights(VectorWeight::LATIN_MEANING, "ab 端口", 0.5), (0.5, 0.5));
        assert_eq!(weights(VectorWeight::SPELLING, "1234?", 0.0), (0.2, 0.8));
    }
}
