//! Scaling of word scores and cosines within one search.

use crate::fusion::Weights;

/// The scale of cosines in one search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) weights: Weights,
    /// The cosine that any text has.
    mean: f64,
    /// The share of what is left to 1 that counts in full,
    unit: f64,
    is_centered: bool,
}

impl Scale {
    /// Cosines as they are.
    pub(crate) fn raw(weights: Weights) -> Self {
        Self { weights, mean: 0.0, unit: 1.0, is_centered: false }
    }

    /// Cosines from the one that any text has. They do not depend on the best: where no text is near, none counts.
    pub(crate) fn centered(weights: Weights, mean: f64, unit: f64) -> Self {
        Self { weights, mean, unit, is_centered: true }
    }

    pub(crate) fn is_centered(&self) -> bool {
        self.is_centered
    }

    /// Return the cosine above the mean, as a share of what is left to 1.
    fn above(&self, cosine: f64) -> f64 {
        ((cosine - self.mean) / (1.0 - self.mean).max(f64::EPSILON)).clamp(0.0, 1.0)
    }

    /// Return what the best of some cosines tells of the meaning; none if it tells of spelling only.
    pub(crate) fn meaning(&self, cosines: impl Iterator<Item = f64>) -> Option<f64> {
        self.is_centered.then(|| self.above(cosines.fold(0.0, f64::max)) * self.weights.vector)
    }

    /// Return the contribution of a cosine, from 0 to 1.
    pub(crate) fn value(&self, cosine: f64) -> f64 {
        (self.above(cosine) / self.unit).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_count_from_the_mean_whatever_the_best_is() {
        let weights = Weights { vector: 1.0, bm25: 0.5 };
        let centered = Scale::centered(weights, 0.6, 0.5);
        for (cosine, value) in [(0.5, 0.0), (0.6, 0.0), (0.7, 0.5), (0.8, 1.0), (0.9, 1.0)] {
            assert!((centered.value(cosine) - value).abs() < 1e-9, "{cosine}");
        }
        assert!(Scale::centered(weights, 1.0, 0.5).value(1.0) < 1e-9);
        let raw = Scale::raw(weights);
        assert!(raw.value(-0.2) < 1e-9 && (raw.value(0.3) - 0.3).abs() < 1e-9);
    }
}
