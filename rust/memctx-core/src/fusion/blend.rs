//! Weighted blend of two rankings, decay by age, and calibration.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::Explanation;

/// Default decay of a score per day: half is left after 139 days.
pub const DECAY: f64 = 0.995;

/// Weights of the two rankings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// The vector side.
    pub vector: f64,
    /// The text side.
    pub bm25: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self { vector: 0.7, bm25: 0.3 }
    }
}

impl Weights {
    /// So much for the vector side, and the rest of 1 for the text side.
    #[must_use]
    pub fn of_vector(share: f64) -> Self {
        Self { vector: share, bm25: 1.0 - share }
    }
}

/// Scores of one item in the two rankings; 0 where a ranking does not have it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blend {
    /// The cosine.
    pub vector: f64,
    /// The normalized BM25 score.
    pub bm25: f64,
}

impl Blend {
    /// Return the weighted sum.
    ///
    /// ```
    /// use memctx_core::fusion::{Blend, Weights};
    ///
    /// let both = Blend { vector: 0.4, bm25: 1.0 };
    /// assert_eq!(both.score(Weights::default()), 0.58);
    /// ```
    #[must_use]
    pub fn score(self, weights: Weights) -> f64 {
        weights.vector * self.vector + weights.bm25 * self.bm25
    }

    /// Return the sum of the weights that contributed.
    #[must_use]
    pub fn weight(self, weights: Weights) -> f64 {
        let of = |part: f64, weight: f64| if part > 0.0 { weight } else { 0.0 };
        of(self.vector, weights.vector) + of(self.bm25, weights.bm25)
    }
}

/// Return both sides of every item: those of the vector side in its order, then those that only the text side found.
pub fn merge<K: Copy + Eq + Hash>(vector: &[(K, f64)], bm25: &[(K, f64)]) -> Vec<(K, Blend)> {
    let mut merged: Vec<(K, Blend)> = Vec::with_capacity(vector.len() + bm25.len());
    let mut indices: FxHashMap<K, usize> = FxHashMap::default();
    let mut at = |key: K, merged: &mut Vec<(K, Blend)>| {
        *indices.entry(key).or_insert_with(|| {
            merged.push((key, Blend::default()));
            merged.len() - 1
        })
    };
    for &(key, score) in vector {
        let index = at(key, &mut merged);
        merged[index].1.vector = score;
    }
    for &(key, score) in bm25 {
        let index = at(key, &mut merged);
        merged[index].1.bm25 = score;
    }
    merged
}

/// Return the largest score if it is above zero, which is what scores are divided by to bring them to at most 1.
#[must_use]
pub fn normalize(scores: impl IntoIterator<Item = f64>) -> Option<f64> {
    scores.into_iter().filter(|score| *score > 0.0).max_by(f64::total_cmp)
}

/// Return the factor of a score at an age: `rate` to the power of the days.
///
/// Age below zero counts as zero; a rate of 1 or more changes nothing, one of 0 or less leaves nothing.
///
/// ```
/// use memctx_core::fusion::decay_factor;
///
/// assert_eq!(decay_factor(-3.0, 0.995), 1.0);
/// assert!((decay_factor(139.0, 0.995) - 0.5).abs() < 0.002);
/// ```
#[must_use]
pub fn decay_factor(age_days: f64, rate: f64) -> f64 {
    match rate {
        rate if rate >= 1.0 => 1.0,
        rate if rate > 0.0 => rate.powf(age_days.max(0.0)),
        _ => 0.0,
    }
}

/// Return a score divided by the weights that contributed to it: the scale on which a minimum is tested.
#[must_use]
pub fn calibrate(score: f64, weight: f64) -> f64 {
    if weight > 0.0 { score / weight } else { score }
}

impl Blend {
    /// Return the sum and its two summands.
    #[must_use]
    pub fn explain(self, weights: Weights, vector: Option<Explanation>, bm25: Option<Explanation>) -> Explanation {
        let part = |name: &'static str, weight: f64, value: f64, of: Option<Explanation>| {
            let factors = of.into_iter().chain([Explanation::leaf("weight", weight)]).collect();
            Explanation::of(name, weight * value, factors)
        };
        let parts = vec![
            part("vector side", weights.vector, self.vector, vector),
            part("text side", weights.bm25, self.bm25, bm25),
        ];
        Explanation::of("blend", self.score(weights), parts)
    }
}
