//! Scaling of word scores and cosines within one search.

use crate::fusion::Weights;

/// The certainty above which a query counts as answered: what `recall.min_score` is by default.
pub(crate) const LINE: f64 = 0.7;
/// Power of the cosine with which certainty rises.
const STEEPNESS: i32 = 6;

/// The scale of cosines in one search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) weights: Weights,
    /// The cosine that any text has.
    mean: f64,
    /// The share of what is left to 1 that counts in full,
    unit: f64,
    /// and the one at which a query counts as answered.
    line: f64,
    /// The content of the query, from 0 (small talk) to 1.
    content: f64,
    is_centered: bool,
}

impl Scale {
    /// Cosines as they are.
    pub(crate) fn raw(weights: Weights) -> Self {
        Self { weights, mean: 0.0, unit: 1.0, line: 1.0, content: 1.0, is_centered: false }
    }

    /// Cosines from the one that any text has. They do not depend on the best: where no text is near, none counts.
    pub(crate) fn centered(weights: Weights, mean: f64, unit: f64, line: f64) -> Self {
        Self { weights, mean, unit, line, content: 1.0, is_centered: true }
    }

    /// The same for a query that says so much. Small talk is like small talk in any memory, and answered by none.
    pub(crate) fn of_content(self, content: f64) -> Self {
        Self { content, ..self }
    }

    pub(crate) fn is_centered(&self) -> bool {
        self.is_centered
    }

    /// Return the cosine above the mean, as a share of what is left to 1.
    fn above(&self, cosine: f64) -> f64 {
        ((cosine - self.mean) / (1.0 - self.mean).max(f64::EPSILON)).clamp(0.0, 1.0)
    }

    /// Return the contribution of a cosine, from 0 to 1.
    pub(crate) fn value(&self, cosine: f64) -> f64 {
        (self.above(cosine) / self.unit).min(1.0)
    }

    /// Return how sure it is that a text with this cosine answers the query.
    pub(crate) fn certainty(&self, cosine: f64) -> f64 {
        if !self.is_centered {
            // Spelling says nothing unless it is nearly the same.
            return cosine.clamp(0.0, 1.0).powi(8);
        }
        let odds = LINE / (1.0 - LINE) * (self.above(cosine) / self.line).powi(STEEPNESS);
        odds / (1.0 + odds) * self.weights.vector * self.content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_count_from_the_mean_whatever_the_best_is() {
        let weights = Weights { vector: 1.0, bm25: 0.5 };
        let centered = Scale::centered(weights, 0.6, 0.5, 0.42);
        for (cosine, value) in [(0.5, 0.0), (0.6, 0.0), (0.7, 0.5), (0.8, 1.0), (0.9, 1.0)] {
            assert!((centered.value(cosine) - value).abs() < 1e-9, "{cosine}");
        }
        assert!((centered.certainty(0.768) - LINE).abs() < 1e-9);
        assert!(centered.certainty(0.6) < 1e-9 && centered.certainty(1.0) > 0.99);
        assert!(centered.of_content(0.3).certainty(1.0) < LINE, "small talk");
        assert!(Scale::centered(weights, 1.0, 0.5, 0.42).value(1.0) < 1e-9);
        let raw = Scale::raw(weights);
        assert!(raw.value(-0.2) < 1e-9 && (raw.value(0.3) - 0.3).abs() < 1e-9);
        assert!(raw.certainty(0.3) < 0.03 && raw.certainty(1.0) > 0.99);
    }
}
