//! Scaling of word scores and cosines within one search.

use crate::fusion::Weights;

/// The match above which a query counts as answered: what `auto_recall_min_score` is by default.
pub(crate) const LINE: f64 = 0.7;
/// The cosine above the mean at that point. Of questions to another memory one in fifty has a text so near.
const COSINE_AT_LINE: f64 = 0.4;

/// The scale of cosines in one search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) weights: Weights,
    /// The cosine that any text has.
    mean: f64,
    /// The best one.
    top: f64,
    is_centered: bool,
}

impl Scale {
    /// Cosines as they are.
    pub(crate) fn raw(weights: Weights) -> Self {
        Self { weights, mean: 0.0, top: 1.0, is_centered: false }
    }

    /// Cosines from what any text has up to the best.
    pub(crate) fn centered(weights: Weights, mean: f64, top: f64) -> Self {
        Self { weights, mean, top, is_centered: true }
    }

    /// Return the contribution of a cosine, from 0 to 1.
    pub(crate) fn value(&self, cosine: f64) -> f64 {
        let range = self.top - self.mean;
        if range > 0.0 { ((cosine - self.mean) / range).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Return the match of a text with this cosine, on the scale that a minimum is tested on.
    pub(crate) fn matched(&self, cosine: f64) -> f64 {
        if !self.is_centered {
            // Spelling that is a little alike says nothing.
            return cosine.clamp(0.0, 1.0).powi(3);
        }
        let above = ((cosine - self.mean) / (1.0 - self.mean).max(f64::EPSILON)).clamp(0.0, 1.0);
        if above < COSINE_AT_LINE {
            LINE * above / COSINE_AT_LINE
        } else {
            LINE + (1.0 - LINE) * (above - COSINE_AT_LINE) / (1.0 - COSINE_AT_LINE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_below_the_mean_count_as_zero() {
        let weights = Weights { vector: 0.5, bm25: 0.5 };
        let centered = Scale::centered(weights, 0.6, 0.8);
        for (cosine, value) in [(0.5, 0.0), (0.6, 0.0), (0.7, 0.5), (0.8, 1.0), (0.9, 1.0)] {
            assert!((centered.value(cosine) - value).abs() < 1e-9, "{cosine}");
        }
        assert!((centered.matched(0.76) - LINE).abs() < 1e-9);
        assert!(centered.matched(0.6) < 1e-9 && (centered.matched(1.0) - 1.0).abs() < 1e-9);
        assert!(Scale::centered(weights, 0.6, 0.6).value(0.6) < 1e-9);
        let raw = Scale::raw(weights);
        assert!(
            raw.value(-0.2) < 1e-9
                && (raw.value(0.3) - 0.3).abs() < 1e-9
                && raw.matched(0.3) < 0.03
                && raw.matched(1.0) > 0.99
        );
    }
}
