//! The score of a result: the probability that it answers the query, comparable between queries.
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
/// Power of the evidence with which certainty rises.
const STEEPNESS: i32 = 3;
/// Power of the ranks by which the candidates share the probability that one of them answers.
const FALL: i32 = 4;
/// Texts that answer a question, on average.
const ANSWERS: f64 = 1.3;
/// The share of an answer that is not among the candidates.
const UNSEEN: f64 = 0.2;

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

/// Return how sure the words are, given the best evidence that the query is answered.
pub(crate) fn certainty(evidence: f64) -> f64 {
    let odds = LINE / (1.0 - LINE) * (evidence / EVIDENCE_AT_LINE).powi(STEEPNESS);
    odds / (1.0 + odds)
}

/// The certainty that a query is answered, and the shares of its candidates in the answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    /// Certainty of the words that it is answered at all,
    pub(crate) words: f64,
    /// and the vectors.
    pub(crate) vectors: f64,
    /// The rank of the best candidate.
    best: f64,
    /// The shares of all candidates together.
    all: f64,
}

impl Answer {
    /// Return the answer by candidates of these ranks.
    pub(crate) fn new(words: f64, vectors: f64, ranks: impl Iterator<Item = f64> + Clone) -> Self {
        let best = ranks.clone().fold(0.0, f64::max);
        let alone = Self { words, vectors, best, all: 1.0 };
        Self { all: UNSEEN + ranks.map(|rank| alone.share(rank)).sum::<f64>(), ..alone }
    }

    /// Return how sure both sides are together: one of them is enough, and two halves make more than a half.
    pub(crate) fn certainty(self) -> f64 {
        1.0 - (1.0 - self.words) * (1.0 - self.vectors)
    }

    /// Return the share of the answer that a candidate has.
    ///
    /// One that stands alone has nearly all of it; many that are alike have little each.
    pub(crate) fn share(self, rank: f64) -> f64 {
        if self.best > 0.0 { (rank / self.best).clamp(0.0, 1.0).powi(FALL) / self.all } else { 0.0 }
    }

    /// Return the score of a candidate.
    pub(crate) fn score(self, rank: f64) -> f64 {
        (self.certainty() * ANSWERS * self.share(rank)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of_words(share: f64, weight: f64, cjk: f64) -> f64 {
        certainty(evidence(Cover { share, weight, cjk }, None))
    }

    fn score(words: f64, vectors: f64, rank: f64) -> f64 {
        Answer::new(words, vectors, [1.0, rank].into_iter()).score(rank)
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
    fn one_side_that_is_sure_is_enough_and_two_that_are_not_make_more_than_one() {
        let of = |words, vectors| Answer { words, vectors, ..Answer::default() }.certainty();
        assert!(of(0.0, 0.9) >= 0.9 && of(0.9, 0.0) >= 0.9);
        assert!(of(0.5, 0.5) > LINE && of(0.5, 0.0) < LINE);
        assert!(Answer::default().score(0.0) < 1e-12);
    }

    #[test]
    fn one_that_stands_alone_has_the_answer_and_many_share_it() {
        let first = |ranks: &[f64]| Answer::new(0.9, 0.0, ranks.iter().copied()).score(ranks[0]);
        assert!(first(&[2.0]) > 0.9 && first(&[2.0, 0.6]) > 0.9);
        assert!(first(&[2.0, 2.0, 2.0]) < 0.4 && first(&[2.0; 12]) < 0.1);
        assert!(score(0.9, 0.0, 0.3) < 0.01 && score(0.9, 0.0, 0.8) > 0.2);
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
            let of = |share| score(certainty(evidence(Cover { share, weight, cjk }, Some(0.2))), vector, rank);
            prop_assert!((0.0..=1.0).contains(&of(share)) && of(share) <= of(share + more) + 1e-12);
        }
    }
}
