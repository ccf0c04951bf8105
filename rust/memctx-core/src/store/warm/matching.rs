//! Match scores from 0 to 1 that are comparable between queries.
//!
//! The constants are measured on questions that a memory answers, on questions to another memory and on small talk.

use super::scale::LINE;
use crate::bm25::Cover;

/// Evidence above which a query counts as answered.
const EVIDENCE_AT_LINE: f64 = 3.5;
/// In CJK, where pairs of characters stand for words, each character counts twice.
const CJK_SHARE: f64 = 0.6;
/// The cosine of a text that has the words of the question and is about as long. One that is spelled more like the
/// question says more than its words do, a longer one less.
const USUAL_COSINE: f64 = 0.3;
const COSINE_WEIGHT: f64 = 10.0;
/// Share of the words' evidence that no spelling takes away.
const LEAST_SHARE: f64 = 0.5;
/// Power of the evidence with which the match rises.
const STEEPNESS: i32 = 3;
/// Power of the others' scores with which it falls from the best result to them.
const FALL: f64 = 0.3;

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

/// Return the match of a result, given the best evidence that the query is answered, how well the result's own vector
/// matches and its score divided by the best.
///
/// The best results show whether a query is answered at all. If it is, the others are worth their room in the budget as
/// far as they are nearly as good: the surer the answer, the further down the list.
pub(crate) fn matched(evidence: f64, vector: f64, rank: f64) -> f64 {
    let odds = LINE / (1.0 - LINE) * (evidence / EVIDENCE_AT_LINE).powi(STEEPNESS);
    let answered = odds / (1.0 + odds);
    (answered * rank.clamp(0.0, 1.0).powf(FALL)).max(vector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of_words(share: f64, weight: f64, cjk: f64) -> f64 {
        matched(evidence(Cover { share, weight, cjk }, None), 0.0, 1.0)
    }

    #[test]
    fn a_question_is_answered_by_most_of_its_words_if_they_tell_enough() {
        assert!((of_words(0.5, 2.0 * EVIDENCE_AT_LINE, 0.0) - LINE).abs() < 1e-12);
        assert!(of_words(1.0, 2.0, 0.0) < LINE, "a common word");
        assert!(of_words(0.2, 10.0, 0.0) < LINE, "some words of a long question");
        assert!(of_words(0.5, 8.0, 1.0) < LINE, "characters that count twice");
        assert!(of_words(1.0, 20.0, 0.0) > 0.99);
        assert!(matched(0.0, 0.9, 1.0) >= 0.9, "nearly the same text");
    }

    #[test]
    fn others_pass_as_far_as_they_are_nearly_as_good() {
        assert!(matched(20.0, 0.0, 0.4) >= LINE && matched(20.0, 0.0, 0.2) < LINE);
        assert!(matched(EVIDENCE_AT_LINE, 0.0, 0.9) < LINE, "no surer than it must be");
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
            share in 0.0..0.99, more in 0.0..0.01, weight in 0.0..40.0, cjk in 0.0..1.0, vector in 0.0..1.0, rank in 0.0..1.0,
        ) {
            let of = |share| matched(evidence(Cover { share, weight, cjk }, Some(0.2)), vector, rank);
            prop_assert!((0.0..=1.0).contains(&of(share)) && of(share) <= of(share + more) + 1e-12);
        }
    }
}
