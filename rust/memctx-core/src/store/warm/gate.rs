//! The gate: how sure it is that a question is answered, and the probability that a result is part of the answer.
//!
//! `benches/python/gate_fit.py` makes the weights, in `gate.json`, from questions that a memory answers, questions to
//! another memory, and small talk.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::Explanation;

/// Added before logarithms, so that next to nothing is not infinitely far from a little: about the least that tells
/// anything.
const LEAST_WORDS: f64 = 0.3;
const LEAST_MEANING: f64 = 0.05;
const LEAST_TOLD: f64 = 0.5;
/// Told by the three best pieces of a usual question.
const USUALLY_TOLD: f64 = 12.0;
/// Least and most words of a memory that make a difference, as in those that the gate was fitted with.
const FEWEST_HELD: f64 = 6_000.0;
const MOST_HELD: f64 = 400_000.0;
/// Power of the ranks by which candidates count as good as the best.
const CROWD: i32 = 8;
/// Ranks below this share of the best are alike.
const LEAST_RANK: f64 = 1e-3;
/// Of the questions that scores are calibrated on two thirds are answered, of the messages of a conversation three in ten:
/// the odds are so many times as high.
const MORE_ANSWERED: f64 = (2.0 / 1.0) / (3.0 / 7.0);
/// A lead counts up to this logarithm of how many times as good the best is as the next.
const MOST_LEAD: f64 = 1.0;

static WEIGHTS: LazyLock<Weights> =
    LazyLock::new(|| serde_json::from_str(include_str!("gate.json")).expect("a file of the crate, which a test reads"));

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Weights {
    words: Side,
    meaning: Side,
    /// The power with which the odds fall with the words of the memory: the more it holds, the more is like any question.
    held: f64,
    certainty: Line,
    share: ShareWeights,
}

/// The weight of one side.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Side {
    /// The value at which its odds are even,
    even: f64,
    /// the power with which they rise,
    power: f64,
    /// and that with which they rise with what the question's pieces tell.
    told: f64,
}

/// From the odds of both sides to a probability.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    slope: f64,
    bias: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShareWeights {
    bias: f64,
    certainty: f64,
    rank: f64,
    crowd: f64,
    best: f64,
    lead: f64,
}

impl Side {
    /// Return the odds by the value of this side; none if there is nothing at all.
    fn odds(&self, value: f64, least: f64, told: Option<f64>) -> f64 {
        if value <= 0.0 {
            return 0.0;
        }
        let told = told.map_or(0.0, |told| ((told + LEAST_TOLD) / USUALLY_TOLD).ln());
        (self.power * ((value + least) / self.even).ln() + self.told * told).exp()
    }
}

/// Evidence that a question is answered by the candidates for it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Evidence {
    /// The best evidence of words.
    pub(crate) words: f64,
    /// The best cosine above the mean, where vectors have a meaning.
    pub(crate) meaning: Option<f64>,
    /// The most that the three best pieces of the question tell of a candidate, where pieces can be compared.
    pub(crate) told: Option<f64>,
    /// Words of all texts in the memory.
    pub(crate) held: f64,
}

impl Evidence {
    /// Return the probability that the question is answered: the odds of both sides are added, each as far as the
    /// question says something that a candidate has, and fall with the size of the memory.
    pub(crate) fn certainty(&self) -> f64 {
        let words = WEIGHTS.words.odds(self.words, LEAST_WORDS, self.told);
        let meaning = WEIGHTS.meaning.odds(self.meaning.unwrap_or_default(), LEAST_MEANING, self.told);
        let held = WEIGHTS.held * (self.held.min(MOST_HELD) + FEWEST_HELD).ln();
        sigmoid(WEIGHTS.certainty.bias + WEIGHTS.certainty.slope * ((words + meaning).ln() - held))
    }

    /// Take in what the question's pieces tell of a candidate.
    pub(crate) fn add(&mut self, told: f64) {
        self.told = Some(self.told.unwrap_or_default().max(told));
    }

    fn explain(&self) -> Vec<Explanation> {
        let words = Explanation::leaf("best evidence of words", self.words);
        let meaning = self.meaning.map(|meaning| Explanation::leaf("best cosine above the mean", meaning));
        let told = self.told.map(|told| Explanation::leaf("what its three best pieces tell", told));
        let held = Explanation::leaf("words in the memory", self.held);
        [words].into_iter().chain(meaning).chain(told).chain([held]).collect()
    }
}

/// The certainty that a query is answered, and what the probability of each candidate follows from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    evidence: Evidence,
    certainty: f64,
    /// The rank of the best candidate.
    best: f64,
    /// Candidates as good as the best: 1 if it stands alone.
    crowd: f64,
    /// The logarithm of how many times as good the best is as the next.
    lead: f64,
}

impl Answer {
    /// Return the answer by candidates of these ranks.
    pub(crate) fn new(evidence: Evidence, ranks: impl Iterator<Item = f64> + Clone) -> Self {
        let best = ranks.clone().fold(0.0, f64::max);
        let alone = Self { evidence, certainty: evidence.certainty(), best, crowd: 1.0, lead: 0.0 };
        let ranks = ranks.map(|rank| alone.relative(rank));
        let crowd: f64 = ranks.clone().map(|rank| rank.powi(CROWD)).sum();
        // The best by itself and the best beside its neighbors share the first rank.
        let is_led = ranks.clone().filter(|&rank| rank >= 1.0).count() <= 2;
        let next = ranks.filter(|&rank| rank < 1.0).fold(LEAST_RANK, f64::max);
        let lead = if is_led { (-next.ln()).min(MOST_LEAD) } else { 0.0 };
        Self { crowd: crowd.max(1.0), lead, ..alone }
    }

    /// Return how sure it is that the query is answered.
    pub(crate) fn certainty(&self) -> f64 {
        self.certainty
    }

    /// Return the probability that a candidate is part of the answer.
    pub(crate) fn score(&self, rank: f64) -> f64 {
        let relative = self.relative(rank);
        if relative <= 0.0 {
            return 0.0;
        }
        let weights = &WEIGHTS.share;
        let best = if relative >= 1.0 { weights.best + weights.lead * self.lead } else { 0.0 };
        let certainty = weights.certainty * self.certainty.max(f64::MIN_POSITIVE).ln();
        let rank = weights.rank * relative.max(LEAST_RANK).ln();
        let score = sigmoid(weights.bias + certainty + rank + best + weights.crowd * self.crowd.ln());
        // A part of an answer is no surer than that there is one.
        score.min(sigmoid(logit(self.certainty) + MORE_ANSWERED.ln()))
    }

    fn relative(&self, rank: f64) -> f64 {
        if self.best > 0.0 { (rank / self.best).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Return the operands of the score of a candidate, with those of its rank.
    pub(crate) fn explain(&self, rank: f64, ranked: Vec<Explanation>) -> Vec<Explanation> {
        let rank = Explanation::of("rank", rank, ranked);
        vec![
            Explanation::of("sure that the query is answered", self.certainty, self.evidence.explain()),
            Explanation::of("share of the best rank", self.relative(rank.value), vec![rank]),
            Explanation::leaf("candidates as good as the best", self.crowd),
            Explanation::leaf("lead of the best, as a logarithm", self.lead),
        ]
    }
}

fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn evidence(words: f64, meaning: f64, told: f64) -> Evidence {
        Evidence { words, meaning: Some(meaning), told: Some(told), held: 20_000.0 }
    }

    fn scores(certain: &Evidence, ranks: &[f64]) -> Vec<f64> {
        let answer = Answer::new(*certain, ranks.iter().copied());
        ranks.iter().map(|&rank| answer.score(rank)).collect()
    }

    #[test]
    fn an_accidental_word_is_no_answer_and_two_moderate_sides_are() {
        let sure = |words, meaning, told| evidence(words, meaning, told).certainty();
        assert!(sure(4.5, 0.1, 5.0) < 0.5, "a word or two that small talk has by accident");
        assert!(sure(4.5, 0.1, 5.0) < sure(4.5, 0.1, 15.0), "the same evidence of a question that says something");
        assert!(sure(2.2, 0.33, 14.0) > 0.7 && sure(2.2, 0.0, 14.0) < 0.7 && sure(0.0, 0.33, 14.0) < 0.7);
        assert!(sure(0.0, 0.6, 8.0) > 0.7, "another language");
    }

    #[test]
    fn one_that_stands_alone_has_the_answer_and_many_share_it() {
        let sure = evidence(12.0, 0.6, 18.0);
        assert!(scores(&sure, &[2.0, 0.6])[0] > 0.6);
        assert!(scores(&sure, &[2.0; 12])[0] < 0.3);
        assert!(scores(&sure, &[2.0, 0.6])[1] < 0.05);
        assert_eq!(scores(&sure, &[0.0]), [0.0]);
    }

    proptest! {
        #[test]
        fn a_higher_rank_is_never_less_probable(
            words in 0.0..30.0, cosine in 0.0..1.0, best in 0.0..24.0, mut ranks in prop::collection::vec(0.01..2.0, 1..40),
        ) {
            ranks.sort_by(f64::total_cmp);
            let scores = scores(&evidence(words, cosine, best), &ranks);
            prop_assert!(scores.windows(2).all(|pair| pair[0] <= pair[1]), "{scores:?}");
            prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
        }

        #[test]
        fn more_evidence_never_makes_it_less_sure(
            words in 0.0..30.0, cosine in 0.0..1.0, best in 0.0..24.0, more in 0.0..5.0, held in 0.0..1e7,
        ) {
            let of = |words, cosine, told| evidence(words, cosine, told).certainty();
            prop_assert!(of(words, cosine, best) <= of(words + more, cosine, best) + 1e-12);
            prop_assert!(of(words, cosine, best) <= of(words, cosine + more, best) + 1e-12);
            prop_assert!(of(words, cosine, best) <= of(words, cosine, best + more) + 1e-12);
            let sure = |held| Evidence { held, ..evidence(words, cosine, best) }.certainty();
            prop_assert!(sure(held + more) <= sure(held), "the same evidence in a larger memory");
        }
    }
}
