//! Attention of all pieces of a text to each other, head by head.

use super::layer::SUMS;

/// Queries that are answered together, so that no sum waits for the one before.
const AT_ONCE: usize = 4;
/// Smaller exponents count as this one, whose power is as good as 0.
const LEAST: f32 = -87.0;

/// Sixteen numbers: a vector register, or a few.
type Lanes = [f32; SUMS];

/// Memory that is kept from one call to the next.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Columns of the keys of 16 places each.
    keys: Vec<Lanes>,
    /// The values of all places, 16 columns at a time.
    values: Vec<Lanes>,
    weights: [Vec<f32>; AT_ONCE],
}

/// Write the mean of all values that each piece attends to. `projected` has a query, a key and a value for each piece.
#[inline(always)]
pub(super) fn attend(projected: &[f32], dim: usize, heads: usize, buffers: &mut Buffers, into: &mut [f32]) {
    let size = dim / heads;
    let pieces = into.len() / dim;
    for start in (0..dim).step_by(size) {
        let part = |place: usize, part: usize| &projected[(place * 3 + part) * dim + start..][..size];
        buffers.set_keys((0..pieces).map(|place| part(place, 1)), size);
        buffers.set_values((0..pieces).map(|place| part(place, 2)), size);
        for first in (0..pieces).step_by(AT_ONCE) {
            // Those behind the last one repeat it.
            let places = [0, 1, 2, 3].map(|at: usize| (first + at).min(pieces - 1));
            buffers.weigh(places.map(|place| part(place, 0)), size, pieces);
            for (values, column) in buffers.values.chunks_exact(pieces).zip((start..).step_by(SUMS)) {
                for (&place, sum) in places.iter().zip(&buffers.sum(values)) {
                    into[place * dim + column..][..SUMS].copy_from_slice(sum);
                }
            }
        }
    }
}

impl Buffers {
    #[inline(always)]
    fn set_keys<'a>(&mut self, keys: impl ExactSizeIterator<Item = &'a [f32]>, size: usize) {
        self.keys.clear();
        self.keys.resize(keys.len().div_ceil(SUMS) * size, [0.0; SUMS]);
        for (place, key) in keys.enumerate() {
            for (column, &value) in self.keys[place / SUMS * size..][..size].iter_mut().zip(key) {
                column[place % SUMS] = value;
            }
        }
    }

    #[inline(always)]
    fn set_values<'a>(&mut self, values: impl ExactSizeIterator<Item = &'a [f32]>, size: usize) {
        let pieces = values.len();
        self.values.resize(pieces * size / SUMS, [0.0; SUMS]);
        for (place, values) in values.enumerate() {
            for (column, &values) in values.as_chunks().0.iter().enumerate() {
                self.values[column * pieces + place] = values;
            }
        }
    }

    /// Set the weights of all places for some queries. Those of each sum to 1.
    #[inline(always)]
    fn weigh(&mut self, [a, b, c, d]: [&[f32]; AT_ONCE], size: usize, pieces: usize) {
        for weights in &mut self.weights {
            weights.clear();
        }
        for keys in self.keys.chunks_exact(size) {
            let mut sums = [[0.0; SUMS]; AT_ONCE];
            for ((((key, &a), &b), &c), &d) in keys.iter().zip(a).zip(b).zip(c).zip(d) {
                sums = add_products(sums, [a, b, c, d], key);
            }
            for (weights, sum) in self.weights.iter_mut().zip(&sums) {
                weights.extend_from_slice(sum);
            }
        }
        let scale = 1.0 / (size as f32).sqrt();
        for weights in &mut self.weights {
            weights[pieces..].fill(f32::NEG_INFINITY);
            softmax(weights, scale);
        }
    }

    /// Return the weighed sums of the values of all places.
    #[inline(always)]
    fn sum(&self, values: &[Lanes]) -> [Lanes; AT_ONCE] {
        let [a, b, c, d] = &self.weights;
        let mut sums = [[0.0; SUMS]; AT_ONCE];
        for ((((values, &a), &b), &c), &d) in values.iter().zip(a).zip(b).zip(c).zip(d) {
            sums = add_products(sums, [a, b, c, d], values);
        }
        sums
    }
}

#[inline(always)]
fn add_products([a, b, c, d]: [Lanes; AT_ONCE], factors: [f32; AT_ONCE], values: &Lanes) -> [Lanes; AT_ONCE] {
    let add = |mut sum: Lanes, factor: f32| {
        for (sum, value) in sum.iter_mut().zip(values) {
            *sum += factor * value;
        }
        sum
    };
    [add(a, factors[0]), add(b, factors[1]), add(c, factors[2]), add(d, factors[3])]
}

/// Make weights that sum to 1 of exponents, whose number is a multiple of 16, after multiplying them.
#[inline(always)]
fn softmax(weights: &mut [f32], scale: f32) {
    let mut largest = [f32::NEG_INFINITY; SUMS];
    for weights in weights.chunks_exact(SUMS) {
        for (largest, &weight) in largest.iter_mut().zip(weights) {
            *largest = if weight > *largest { weight } else { *largest };
        }
    }
    let largest = largest.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let mut totals = [0.0; SUMS];
    for weights in weights.chunks_exact_mut(SUMS) {
        for (total, weight) in totals.iter_mut().zip(weights) {
            *weight = exp((*weight - largest) * scale);
            *total += *weight;
        }
    }
    let factor = 1.0 / totals.iter().sum::<f32>();
    for weight in weights {
        *weight *= factor;
    }
}

/// Return e to the power of a number of at most 0, within 2e-7 of it. Unlike `f32::exp` it is the same on every processor
/// and counts in vector registers.
#[inline(always)]
fn exp(exponent: f32) -> f32 {
    /// Adding it rounds to a whole number, which the low bits of the sum are.
    const WHOLE: f32 = 12_582_912.0;
    const BITS_OF_FRACTION: u32 = 23;
    let exponent = if exponent > LEAST { exponent } else { LEAST };
    let shifted = exponent * std::f32::consts::LOG2_E + WHOLE;
    let twos = shifted - WHOLE;
    // The logarithm of 2 in two parts, so that the product with the first has no error.
    let rest = exponent - twos * 0.693_359_4 + twos * 2.121_944_4e-4;
    let mut power = 1.987_569_2e-4;
    for factor in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5, 1.0, 1.0] {
        power = power * rest + factor;
    }
    power * f32::from_bits((shifted.to_bits() << BITS_OF_FRACTION).wrapping_add(1.0_f32.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_that_of_the_standard_library_up_to_rounding() {
        for at in 0..870_000 {
            let exponent = -(at as f32) / 10_000.0;
            let exact = f64::from(exponent).exp();
            assert!((f64::from(exp(exponent)) - exact).abs() <= 2e-7 * exact, "{exponent}");
        }
        assert!((exp(0.0) - 1.0).abs() < f32::EPSILON);
        assert!(exp(f32::NEG_INFINITY) < 2e-38);
    }

    #[test]
    fn attention_equals_its_formula() {
        let (dim, heads) = (128, 2);
        for pieces in [0, 1, 3, 4, 5, 16, 17, 50] {
            let projected: Vec<f32> = (0..pieces * 3 * dim).map(|at| (at as f32 * 0.37).sin() * 2.0).collect();
            let mut found = vec![f32::NAN; pieces * dim];
            attend(&projected, dim, heads, &mut Buffers::default(), &mut found);
            let size = dim / heads;
            for (at, &found) in found.iter().enumerate() {
                let (place, column) = (at / dim, at % dim);
                let head = column / size * size;
                let of = |place: usize, part: usize| &projected[(place * 3 + part) * dim + head..][..size];
                let weight = |other: usize| {
                    let product: f32 = of(place, 0).iter().zip(of(other, 1)).map(|(a, b)| a * b).sum();
                    f64::from(product / (size as f32).sqrt()).exp()
                };
                let total: f64 = (0..pieces).map(weight).sum();
                let exact: f64 =
                    (0..pieces).map(|other| weight(other) / total * f64::from(of(other, 2)[column % size])).sum();
                assert!((f64::from(found) - exact).abs() < 1e-4, "{pieces} {at}: {found} {exact}");
            }
        }
    }
}
