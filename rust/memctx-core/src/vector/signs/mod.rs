//! Sign codes: one bit for each value of a vector, from which its cosine to a query can be estimated.
//!
//! Vectors come in blocks. The mean of a block is subtracted, the rest is rotated, and the signs of the values are kept,
//! with a factor that makes the product of a query with the signs an unbiased estimate of that with the vector: `RaBitQ`
//! (Gao and Long, 2024), with as many bits as values. The query stays as precise as its tables are; a scan adds up table
//! entries of four values each, for 64 vectors at a time.

mod kernel;
mod rotation;

use super::coarse::Copy;
use super::kernel::{LANES, Line};
use kernel::{Finish, GROUP, HIGHEST, Kernel, TABLES};
use rotation::Rotation;

/// Scores that are compared with the floor at a time.
const TOGETHER: usize = 16;
/// Vectors to a block.
pub(crate) const BLOCK: usize = 4096;

/// Codes of vectors of one length.
#[derive(Clone, Debug)]
pub(crate) struct Signs {
    /// Values of a vector, of which those behind its own are zero.
    values: usize,
    rotation: Rotation,
    kernel: Kernel,
}

/// A query, ready to be compared with blocks.
#[derive(Debug)]
pub(crate) struct SignQuery {
    rotated: Vec<f32>,
    tables: Vec<u8>,
    /// Value of one step of an entry, and of all entries that are zero.
    step: f32,
    least: f32,
}

impl Signs {
    /// Codes of vectors of so many lines.
    pub(crate) fn new(lines: usize) -> Self {
        let values = lines * LANES;
        Self { values, rotation: Rotation::new(values), kernel: Kernel::pick() }
    }

    /// Return the size of a block in words: the rotated mean, a factor for each vector, the codes.
    pub(crate) fn words(&self) -> usize {
        self.values + BLOCK + BLOCK * self.values / u32::BITS as usize
    }

    /// Return the standard deviation of the estimates of a cosine, roughly.
    pub(crate) fn deviation(&self) -> f32 {
        0.75 / (self.values as f32).sqrt()
    }

    /// Encode a block of 8-bit copies, the lines of which lie one behind the other. One whose scale is 0 is near to nothing.
    pub(crate) fn encode(&self, lines: &[Line], scales: &[f32]) -> Vec<u32> {
        let width = self.values / LANES;
        let rows = || lines.chunks_exact(width).zip(scales);
        let mut mean = vec![0.0; self.values];
        let there = scales.iter().filter(|scale| **scale != 0.0).count().max(1) as f32;
        for (row, scale) in rows() {
            for (sum, &value) in mean.iter_mut().zip(row.iter().flat_map(|line| &line.0)) {
                *sum += f32::from(value) * (scale / there);
            }
        }
        self.rotation.apply(&mut mean);
        let mut words = vec![0; self.words()];
        let (head, codes) = words.split_at_mut(self.values + BLOCK);
        let (center, factors) = head.split_at_mut(self.values);
        bytemuck::cast_slice_mut(center).copy_from_slice(&mean);
        let codes: &mut [u8] = bytemuck::cast_slice_mut(codes);
        let bytes = self.values / 8;
        let mut rest = vec![0.0; self.values];
        for (number, ((row, &scale), factor)) in rows().zip(factors).enumerate() {
            for (value, &quantum) in rest.iter_mut().zip(row.iter().flat_map(|line| &line.0)) {
                *value = f32::from(quantum) * scale;
            }
            self.rotation.apply(&mut rest);
            rest.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean);
            *factor = if scale == 0.0 { f32::NAN } else { factor_of(&rest) }.to_bits();
            let place = place(number % GROUP);
            let group = &mut codes[number / GROUP * GROUP * bytes..][..GROUP * bytes];
            for (at, eight) in rest.chunks_exact(8).enumerate() {
                let bits = eight.iter().rev().fold(0, |bits, value| bits << 1 | u8::from(*value >= 0.0));
                group[at * GROUP + place] = bits;
            }
        }
        words
    }

    /// Prepare a query.
    #[allow(clippy::cast_sign_loss)] // entries are clamped
    pub(crate) fn query(&self, query: &Copy) -> SignQuery {
        let values = query.lines.iter().flat_map(|line| &line.0);
        let mut rotated: Vec<f32> = values.map(|&quantum| f32::from(quantum) * query.scale).collect();
        self.rotation.apply(&mut rotated);
        let reach = |four: &[f32]| four.iter().map(|value| value.abs()).sum::<f32>();
        let widest = rotated.chunks_exact(4).map(reach).fold(f32::MIN_POSITIVE, f32::max);
        // Sums of very long vectors would not fit 16 bits.
        let highest = f32::from(HIGHEST).min((4 * usize::from(u16::MAX) / self.values) as f32);
        let step = 2.0 * widest / highest;
        let least = -rotated.chunks_exact(4).map(reach).sum::<f32>();
        let mut tables = Vec::with_capacity(self.values / 8 * TABLES);
        for four in rotated.chunks_exact(4) {
            let reach = reach(four);
            for bits in 0..16_u8 {
                let signed = |(at, value): (usize, &f32)| if bits >> at & 1 == 1 { *value } else { -value };
                let sum: f32 = four.iter().enumerate().map(signed).sum();
                tables.push(((sum + reach) / step).round().clamp(0.0, highest) as u8);
            }
        }
        SignQuery { rotated, tables, step, least }
    }

    /// Offer the vectors of a block whose estimated cosines are above a floor. `offer` gets the number within the block and
    /// the estimate, and returns the floor from then on.
    pub(crate) fn scan(
        &self,
        query: &SignQuery,
        words: &[u32],
        mut floor: f32,
        mut offer: impl FnMut(usize, f32) -> f32,
    ) {
        let (head, codes) = words.split_at(self.values + BLOCK);
        let (center, factors) = bytemuck::cast_slice::<u32, f32>(head).split_at(self.values);
        let base = center.iter().zip(&query.rotated).map(|(a, b)| f64::from(a * b)).sum::<f64>() as f32;
        let line = kernel::Affine { base, step: query.step, least: query.least };
        let groups = bytemuck::cast_slice::<u32, u8>(codes).chunks_exact(GROUP * self.values / 8);
        let mut scores = [0.0; GROUP];
        for (number, (codes, factors)) in groups.zip(factors.as_chunks::<GROUP>().0).enumerate() {
            let finish = &mut Finish { line, factors, floor, scores: &mut scores };
            if self.kernel.score(codes, &query.tables, finish) {
                for (start, scores) in (0..).step_by(TOGETHER).zip(scores.chunks(TOGETHER)) {
                    // Without a branch for each: counted, since in most groups one score is above, and it may be any.
                    if scores.iter().filter(|score| **score > floor).count() > 0 {
                        for (at, &score) in (start..).zip(scores) {
                            if score > floor {
                                floor = offer(number * GROUP + at, score);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Return the byte of a group that has the code of a row, as the kernels expect it.
fn place(row: usize) -> usize {
    row % (GROUP / 2) * 2 + row / (GROUP / 2)
}

/// Return what the product with the signs has to be multiplied with.
fn factor_of(rest: &[f32]) -> f32 {
    let (mut square, mut sum) = (0.0_f64, 0.0_f64);
    for value in rest {
        square += f64::from(value * value);
        sum += f64::from(value.abs());
    }
    if sum == 0.0 { 0.0 } else { (square / sum) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Return a block of vectors around a common center, as copies.
    fn block(dim: usize, seed: u64) -> Vec<Copy> {
        let mut state = seed | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1 << 24) as f32 - 0.5
        };
        let center: Vec<f32> = (0..dim).map(|_| next()).collect();
        let mut one = |number: usize| {
            let vector: Vec<f32> =
                center.iter().map(|value| if number % 50 == 49 { 0.0 } else { value + 2.0 * next() }).collect();
            Copy::new(&vector, crate::vector::norm(&vector))
        };
        (0..BLOCK).map(&mut one).collect()
    }

    #[test]
    fn sums_of_the_longest_vectors_fit_16_bits() {
        let values = 65_536;
        let vector: Vec<f32> = (0..values).map(|at| if at % 3 == 0 { 0.5 } else { -0.25 }).collect();
        let query = Copy::new(&vector, crate::vector::norm(&vector));
        let prepared = Signs::new(query.lines.len()).query(&query);
        let highest = prepared.tables.chunks_exact(16).map(|table| u32::from(*table.iter().max().expect("16 entries")));
        assert!(u16::try_from(highest.sum::<u32>()).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(6))]
        #[test]
        fn estimates_are_about_right_and_floors_hold(dim in 1..400_usize, seed in any::<u64>()) {
            let copies = block(dim, seed);
            let lines: Vec<Line> = copies.iter().flat_map(|copy| copy.lines.clone()).collect();
            let scales: Vec<f32> = copies.iter().map(|copy| copy.scale).collect();
            let signs = Signs::new(copies[0].lines.len());
            let words = signs.encode(&lines, &scales);
            prop_assert_eq!(words.len(), signs.words());
            let asked = &copies[7];
            let query = signs.query(asked);
            let mut estimates = vec![None; BLOCK];
            signs.scan(&query, &words, f32::NEG_INFINITY, |row, score| {
                estimates[row] = Some(score);
                f32::NEG_INFINITY
            });
            let cosine = |copy: &Copy| {
                let pairs = copy.lines.iter().zip(&asked.lines).flat_map(|(a, b)| a.0.iter().zip(&b.0));
                pairs.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>() * f64::from(copy.scale) * f64::from(asked.scale)
            };
            let mut square = 0.0;
            for (copy, estimate) in copies.iter().zip(&estimates) {
                prop_assert_eq!(estimate.is_none(), copy.scale == 0.0);
                square += estimate.map_or(0.0, |estimate| (f64::from(estimate) - cosine(copy)).powi(2));
            }
            let deviation = (square / BLOCK as f64).sqrt();
            prop_assert!(deviation < 1.5 * f64::from(signs.deviation()), "{} of {}", deviation, signs.deviation());
            let floor = 0.1;
            let mut above = Vec::new();
            signs.scan(&query, &words, floor, |row, score| {
                above.push((row, score));
                floor
            });
            let expected: Vec<_> = estimates.iter().enumerate()
                .filter_map(|(row, score)| score.filter(|score| *score > floor).map(|score| (row, score))).collect();
            prop_assert_eq!(above, expected);
        }
    }
}
