//! The evidence of words that a query is answered, and how much words count beside vectors because of it.

use crate::bm25::Cover;

/// The evidence at which words are so sure.
const EVIDENCE_AT_LINE: f64 = 3.5;
const LINE: f64 = 0.7;
/// In CJK, where pairs of characters stand for words, each character counts twice.
const CJK_SHARE: f64 = 0.6;
/// The cosine of a text that has the words of the question and is about as long. One that is spelled more like the
/// question says more than its words do, a longer one less.
const USUAL_COSINE: f64 = 0.3;
const COSINE_WEIGHT: f64 = 10.0;
/// Share of the words' evidence that no spelling takes away.
const LEAST_SHARE: f64 = 0.5;
/// Power of the evidence with which certainty rises.
const STEEPNESS: i32 = 3;
/// Return the evidence that a text answers a query: the share of the query's words that it has, times what these words
/// tell. `spelling` is the cosine of vectors that stand for spelling, if there are any.
///
/// Neither factor is enough by itself: small talk is covered by a word or two that tell little, and of a long question
/// on another subject some words are always known.
pub(crate) fn evidence(cover: Cover, spelling: Option<f64>) -> f64 {
    let words = cover.share * cover.weight * (1.0 - (1.0 - CJK_SHARE) * cover.cjk);
    let letters = spelling.map_or(0.0, |cosine| COSINE_WEIGHT * (cosine - USUAL_COSINE) * (1.0 - cover.cjk));
    if words > 0.0 { (words + letters).max(LEAST_SHARE * words) } else { 0.0 }
}

/// Return how sure the words are, given the best evidence that the query is answered: their weight in a rank.
pub(crate) fn certainty(evidence: f64) -> f64 {
    let odds = LINE / (1.0 - LINE) * (evidence / EVIDENCE_AT_LINE).powi(STEEPNESS);
    odds / (1.0 + odds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of_words(share: f64, weight: f64, cjk: f64) -> f64 {
        certainty(evidence(Cover { share, weight, cjk }, None))
    }

    #[test]
    fn a_question_is_answered_by_most_of_its_words_if_they_tell_enough() {
        assert!((of_words(0.5, 2.0 * EVIDENCE_AT_LINE, 0.0) - LINE).abs() < 1e-12);
        assert!(of_words(1.0, 2.0, 0.0) < LINE, "a common word");
        assert!(of_words(0.2, 10.0, 0.0) < LINE, "some words of a long question");
        assert!(of_words(0.5, 8.0, 1.0) < LINE, "characters that count twice");
        assert!(of_words(1.0, 20.0, 0.0) > 0.99);
    }

    #[test]
    fn a_text_spelled_like_the_question_is_more_evidence_than_a_longer_one() {
        let cover = Cover { share: 0.6, weight: 6.0, cjk: 0.0 };
        let of = |cosine| evidence(cover, Some(cosine));
        assert!(of(0.1) < evidence(cover, None) && evidence(cover, None) < of(0.5));
        assert!(of(-1.0) >= LEAST_SHARE * 0.6 * 6.0 - 1e-12 && evidence(Cover::default(), Some(0.9)).abs() < 1e-12);
        let cjk = Cover { cjk: 1.0, ..cover };
        assert!((evidence(cjk, Some(0.0)) - evidence(cjk, None)).abs() < 1e-12, "letters only");
    }

    proptest! {
        #[test]
        fn more_is_never_less(
            share in 0.0..0.99, more in 0.0..0.01, weight in 0.0..40.0, cjk in 0.0..1.0,
        ) {
            let of = |share| certainty(evidence(Cover { share, weight, cjk }, Some(0.2)));
            prop_assert!((0.0..=1.0).contains(&of(share)) && of(share) <= of(share + more) + 1e-12);
        }
    }
}
