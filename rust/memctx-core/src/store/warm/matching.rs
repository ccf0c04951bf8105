//! Match scores from 0 to 1 that are comparable between queries.

use super::scale::LINE;
use crate::bm25::Cover;

/// The share of a question's words that a text has at that point, and of a question in CJK, where pairs of characters
/// stand for words. Most questions to another memory stay below; so do those that share no words with their answer.
const WORDS_AT_LINE: f64 = 0.25;
const CJK_AT_LINE: f64 = 0.15;
/// The difference between the best result's match and the last one's.
const SPREAD: f64 = 0.05;

/// Return the match of a result, given how much of the query the best result covers, how well the result's own vector
/// matches and its score divided by the best.
///
/// The best results show whether a query is answered at all; if it is, the others are worth their room in the budget.
pub(crate) fn matched(cover: Cover, vector: f64, rank: f64) -> f64 {
    let at_line = WORDS_AT_LINE + (CJK_AT_LINE - WORDS_AT_LINE) * cover.cjk;
    let covered = if cover.share < at_line {
        LINE * cover.share / at_line
    } else {
        LINE + SPREAD + (1.0 - LINE - SPREAD) * (cover.share - at_line) / (1.0 - at_line)
    };
    (covered - SPREAD * (1.0 - rank)).clamp(0.0, 1.0).max(vector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_answered_question_passes_with_all_its_results() {
        let cover = Cover { share: WORDS_AT_LINE, cjk: 0.0 };
        assert!(matched(cover, 0.0, 0.0) >= LINE - 1e-12);
        assert!(matched(Cover { share: WORDS_AT_LINE - 0.01, cjk: 0.0 }, 0.0, 1.0) < LINE);
        assert!(matched(Cover { share: CJK_AT_LINE, cjk: 1.0 }, 0.0, 0.5) >= LINE - 1e-12);
        assert!((matched(Cover { share: 1.0, cjk: 0.0 }, 0.0, 1.0) - 1.0).abs() < 1e-12);
        assert!(matched(Cover::default(), 0.9, 1.0) >= 0.9, "nearly the same text");
    }

    proptest! {
        #[test]
        fn more_is_never_less(share in 0.0..0.99, more in 0.0..0.01, cjk in 0.0..1.0, vector in 0.0..1.0, rank in 0.0..1.0) {
            let less = matched(Cover { share, cjk }, vector, rank);
            let at_most = matched(Cover { share: share + more, cjk }, vector, rank);
            prop_assert!((0.0..=1.0).contains(&less) && less <= at_most + 1e-12);
        }
    }
}
