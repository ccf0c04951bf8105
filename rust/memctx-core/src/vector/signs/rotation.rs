//! Rotation that spreads what a vector says evenly over its values.

use crate::vector::LANES;

/// Rounds, after which every value may depend on any.
const ROUNDS: usize = 2;

/// An orthogonal transform, the same everywhere: signs, a Hadamard transform of every 64 values, and a transposition.
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    /// Signs of each round, scaled so that lengths stay.
    signs: Vec<Vec<f32>>,
}

impl Rotation {
    /// Create the rotation of vectors of so many values, a multiple of 64.
    pub(super) fn new(values: usize) -> Self {
        let scale = 1.0 / (LANES as f32).sqrt();
        let mut state = 0_u64;
        let mut sign = || {
            // SplitMix64, by Sebastiano Vigna.
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            if (mixed ^ (mixed >> 31)) & 1 == 0 { scale } else { -scale }
        };
        Self { signs: (0..ROUNDS).map(|_| (0..values).map(|_| sign()).collect()).collect() }
    }

    /// Rotate a vector. Every operation is one of single precision in an order of its own: the same bits everywhere.
    pub(super) fn apply(&self, values: &mut [f32]) {
        let mut turned = vec![0.0; values.len()];
        let chunks = values.len() / LANES;
        for signs in &self.signs {
            values.iter_mut().zip(signs).for_each(|(value, sign)| *value *= sign);
            for (number, chunk) in values.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                hadamard(chunk);
                for (at, value) in chunk.iter().enumerate() {
                    turned[at * chunks + number] = *value;
                }
            }
            values.copy_from_slice(&turned);
        }
    }
}

fn hadamard(values: &mut [f32; LANES]) {
    let mut step = 1;
    while step < LANES {
        for pair in values.chunks_exact_mut(2 * step) {
            let (left, right) = pair.split_at_mut(step);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        step *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_stay_and_one_value_reaches_most(lines in 1..7_usize, at in 0..64_usize, seed in any::<u64>()) {
            let values = lines * LANES;
            let rotation = Rotation::new(values);
            let mut one = vec![0.0; values];
            one[at] = 1.0;
            rotation.apply(&mut one);
            let reached = one.iter().filter(|value| **value != 0.0).count();
            prop_assert!(2 * reached >= values, "{} of {}", reached, values);
            let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
            let made = |salt: u64| -> Vec<f32> {
                (0..values as u64).map(|n| ((n + salt) ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) as i32 as f32 / 2e9).collect()
            };
            let (mut a, mut b) = (made(1), made(500));
            let before = (product(&a, &a), product(&a, &b));
            rotation.apply(&mut a);
            rotation.apply(&mut b);
            prop_assert!((product(&a, &a) - before.0).abs() < 1e-3 * before.0);
            prop_assert!((product(&a, &b) - before.1).abs() < 1e-3 * before.0);
        }
    }
}
