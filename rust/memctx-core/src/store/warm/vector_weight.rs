//! Weights of a model's vectors beside words.

use crate::text::is_cjk;

/// The weight of a model's vectors, as measured by `benches/python/recall_eval.py`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorWeight {
    /// Their weight where the words of a question are all found,
    least: f64,
    /// and how much more where none are.
    more: f64,
    /// True if they tell texts in Latin letters apart and no others.
    is_latin_only: bool,
    /// True if any two texts have something in common, which says nothing: cosines count from their mean.
    is_centered: bool,
}

impl VectorWeight {
    /// Spelling: a little more than the words themselves.
    pub const SPELLING: Self = Self { least: 0.2, more: 0.0, is_latin_only: false, is_centered: false };
    /// Meaning, in whatever language.
    pub const MEANING: Self = Self { least: 0.2, more: 0.3, is_latin_only: false, is_centered: true };
    /// Meaning by a table of word pieces, in languages that are written in Latin letters.
    pub const LATIN_TABLE: Self = Self { least: 0.2, more: 0.3, is_latin_only: true, is_centered: true };
    /// Meaning of whole sentences, in languages that are written in Latin letters.
    pub const LATIN_MEANING: Self = Self { least: 0.3, more: 0.3, is_latin_only: true, is_centered: true };

    /// Return whether cosines count from their mean.
    pub(crate) fn is_centered(self) -> bool {
        self.is_centered
    }

    /// Return the vectors' weight for a query of which this share of the words is found.
    pub(crate) fn weight(self, question: &str, cover: f64) -> f64 {
        let known = if self.is_latin_only { 1.0 - cjk_share(question) } else { 1.0 };
        (self.least + self.more * (1.0 - cover.clamp(0.0, 1.0))) * known
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
    fn vectors_count_more_where_words_fail_and_less_where_they_know_no_letter() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(VectorWeight::LATIN_MEANING.weight("which port?", 1.0), 0.3));
        assert!(near(VectorWeight::LATIN_MEANING.weight("which port?", 0.0), 0.6));
        assert!(near(VectorWeight::LATIN_MEANING.weight("哪个端口", 0.0), 0.0));
        assert!(near(VectorWeight::LATIN_MEANING.weight("ab 端口", 0.0), 0.3));
        assert!(near(VectorWeight::MEANING.weight("哪个端口", 0.5), 0.35));
        assert!(near(VectorWeight::SPELLING.weight("1234?", 0.0), 0.2));
    }
}
