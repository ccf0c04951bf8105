//! The mean of a tier's vectors.

use crate::vector::norm;

/// So many vectors of nothing in common stand beside those there are, so that few do not pass for all.
const UNSEEN: f64 = 16.0;

/// The sum of all vectors, each of length 1.
///
/// Models put all texts of a language near each other. How near a text is to a question says something only beside how
/// near any text is to it.
#[derive(Clone, Debug)]
pub(crate) struct Center {
    sum: Vec<f64>,
    count: usize,
}

impl Center {
    pub(crate) fn new(dim: usize) -> Self {
        Self { sum: vec![0.0; dim], count: 0 }
    }

    /// Return the sum and the count, to be restored from.
    pub(crate) fn parts(&self) -> (&[f64], u64) {
        (&self.sum, self.count as u64)
    }

    /// Restore a center from its parts.
    pub(crate) fn of_parts(sum: Vec<f64>, count: u64) -> Self {
        Self { sum, count: count as usize }
    }

    /// Vectors counted.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Count a vector.
    pub(crate) fn add(&mut self, vector: &[f32]) {
        self.count += usize::from(self.shift(vector, 1.0));
    }

    /// Count a vector no more.
    pub(crate) fn remove(&mut self, vector: &[f32]) {
        self.count -= usize::from(self.shift(vector, -1.0));
    }

    fn shift(&mut self, vector: &[f32], times: f64) -> bool {
        let length = norm(vector);
        if length == 0.0 {
            return false;
        }
        let scale = times / length;
        for (sum, value) in self.sum.iter_mut().zip(vector) {
            *sum += scale * f64::from(*value);
        }
        true
    }

    /// The mean of the cosines between a vector and all others.
    pub(crate) fn cosine(&self, vector: &[f32]) -> f64 {
        let product: f64 = self.sum.iter().zip(vector).map(|(sum, value)| sum * f64::from(*value)).sum();
        let length = norm(vector);
        if length == 0.0 { 0.0 } else { product / (length * self.weight()) }
    }

    /// About the mean of the cosines between any two.
    pub(crate) fn spread(&self) -> f64 {
        self.sum.iter().map(|sum| (sum / self.weight()).powi(2)).sum()
    }

    fn weight(&self) -> f64 {
        self.count as f64 + UNSEEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_center_is_the_mean_after_any_changes(
            vectors in prop::collection::vec(prop::array::uniform4(-3.0..3.0_f32), 1..30),
            gone in prop::collection::vec(any::<bool>(), 30),
        ) {
            let mut center = Center::new(4);
            for vector in &vectors {
                center.add(vector);
            }
            for (vector, _) in vectors.iter().zip(&gone).filter(|(_, gone)| **gone) {
                center.remove(vector);
            }
            let rest: Vec<&[f32; 4]> = vectors.iter().zip(&gone).filter(|(_, gone)| !**gone).map(|it| it.0).collect();
            let query = [1.0, -2.0, 0.5, 3.0];
            let mean = rest.iter().map(|vector| crate::vector::cosine(&query, *vector)).sum::<f64>()
                / (rest.len() as f64 + UNSEEN);
            prop_assert!((center.cosine(&query) - mean).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&center.spread()));
        }
    }
}
