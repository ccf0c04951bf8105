//! Vectors with some structure, for searching without a model.

use crate::rng::Rng;

const CENTERS: u64 = 400;
const STREAM: u64 = 201;

/// `count` vectors of length 1, row after row: a topic's center, and as much noise again.
#[must_use]
pub fn unit_vectors(seed: u64, count: u64, dim: usize) -> Vec<f32> {
    let centers: Vec<Vec<f32>> =
        (0..CENTERS).map(|topic| noise(&mut Rng::keyed(&[seed, STREAM, topic]), dim)).collect();
    let row = |index| {
        let mut rng = Rng::keyed(&[seed, STREAM, CENTERS + index]);
        let center = &centers[rng.below(CENTERS) as usize];
        let mut row = noise(&mut rng, dim);
        for (value, center) in row.iter_mut().zip(center) {
            *value += center;
        }
        scale_to_one(&mut row);
        row
    };
    (0..count).flat_map(row).collect()
}

/// Values between -1 and 1 that a float holds exactly.
fn noise(rng: &mut Rng, dim: usize) -> Vec<f32> {
    (0..dim).map(|_| (rng.below(1 << 16) as f32 - 32_768.0) / 32_768.0).collect()
}

fn scale_to_one(row: &mut [f32]) {
    let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
    for value in row {
        *value /= length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_length_one() {
        let vectors = unit_vectors(7, 50, 384);
        assert_eq!(vectors.len(), 50 * 384);
        for row in vectors.chunks(384) {
            let square: f32 = row.iter().map(|value| value * value).sum();
            assert!((square - 1.0).abs() < 1e-5, "{square}");
        }
    }
}
