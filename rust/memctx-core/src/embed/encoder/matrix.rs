//! Products of 8-bit matrices with the vectors of some pieces.
#![allow(unsafe_code)]

use super::kernel::{self, COLUMNS, Factors, GROUPS, Kernel, Products, ROWS, TOGETHER};
use super::layer::SUMS;
use crate::vector::Line;

/// A matrix of 8-bit rows, each with its scale, and what is added to the products.
#[derive(Debug)]
pub(super) struct Matrix {
    /// Sixteen rows after the other, see [`kernel`].
    lines: Vec<Line>,
    /// Numbers that flipped sign bits of a vector add to its product with each row, for sixteen rows at a time.
    excess: Vec<[i32; ROWS]>,
    scales: Vec<f32>,
    bias: Vec<f32>,
    columns: usize,
    kernel: Kernel,
}

impl Matrix {
    /// Take rows of `columns` values each: as many as scales, a multiple of 16, and columns a multiple of 4.
    pub(super) fn new(values: &[i8], columns: usize, scales: Vec<f32>, bias: Vec<f32>) -> Self {
        let mut lines = Vec::with_capacity(values.len() / (ROWS * COLUMNS));
        for rows in values.chunks_exact(ROWS * columns) {
            for first in (0..columns).step_by(COLUMNS) {
                let mut line = Line::ZERO;
                for (part, row) in line.0.chunks_exact_mut(COLUMNS).zip(rows.chunks_exact(columns)) {
                    part.copy_from_slice(&row[first..][..COLUMNS]);
                }
                lines.push(line);
            }
        }
        let excess = lines.chunks_exact(columns / COLUMNS).map(kernel::excess).collect();
        Self { lines, excess, scales, bias, columns, kernel: kernel::pick() }
    }

    /// Return the number of rows.
    pub(super) fn rows(&self) -> usize {
        self.scales.len()
    }

    /// Write the products with vectors, plus the bias, one after the other.
    #[inline(always)]
    pub(super) fn multiply(&self, vectors: &Rounded, into: &mut [f32]) {
        const BATCH: usize = TOGETHER * GROUPS;
        let rows = self.rows();
        let mut products = Products::default();
        let groups: Vec<&[Factors]> = vectors.factors.chunks_exact(self.columns / COLUMNS).collect();
        let weights = self.scales.as_chunks().0.iter().zip(self.bias.as_chunks().0);
        let blocks = self.lines.chunks_exact(self.columns / COLUMNS).zip(&self.excess).zip(weights);
        // Sixteen rows stay in the nearest cache while all vectors pass.
        for (((lines, excess), (own, bias)), block) in blocks.zip(0..) {
            let batches = groups.chunks(GROUPS).zip(vectors.scales.chunks(BATCH)).zip(into.chunks_mut(BATCH * rows));
            for ((groups, scales), into) in batches {
                // SAFETY: the processor was asked for what the kernel needs when it was picked.
                unsafe { (self.kernel)(lines, excess, groups, &mut products) };
                for ((into, products), &scale) in into.chunks_exact_mut(rows).zip(&products).zip(scales) {
                    into.as_chunks_mut().0[block] = scaled(products, own, scale, bias);
                }
            }
        }
    }
}

#[inline(always)]
fn scaled(products: &[i32; ROWS], own: &[f32; ROWS], scale: f32, bias: &[f32; ROWS]) -> [f32; ROWS] {
    std::array::from_fn(|row| products[row] as f32 * (own[row] * scale) + bias[row])
}

/// Vectors rounded to 8 bits.
#[derive(Debug, Default)]
pub(super) struct Rounded {
    /// Their values with the sign bit flipped, in groups.
    factors: Vec<Factors>,
    scales: Vec<f32>,
    bytes: Vec<u8>,
}

impl Rounded {
    /// Round vectors of a length, which take the places of those before.
    #[inline(always)]
    pub(super) fn take(&mut self, vectors: &[f32], length: usize) {
        let columns = length / COLUMNS;
        self.factors.resize((vectors.len() / length).div_ceil(TOGETHER) * columns, Factors::default());
        self.bytes.resize(length, 0);
        self.scales.clear();
        for (number, vector) in vectors.chunks_exact(length).enumerate() {
            let largest = largest_magnitude(vector);
            let factor = if largest > 0.0 { 127.0 / largest } else { 0.0 };
            self.scales.push(largest / 127.0);
            for (byte, value) in self.bytes.iter_mut().zip(vector) {
                // At this size a number has no fraction: adding rounds, and the low byte is the whole number.
                *byte = (value * factor + 128.0 + WHOLE).to_bits() as u8;
            }
            let group = &mut self.factors[number / TOGETHER * columns..][..columns];
            for (factors, &four) in group.iter_mut().zip(self.bytes.as_chunks().0) {
                factors[number % TOGETHER] = four;
            }
        }
    }
}

/// Return the largest magnitude of values, whose number is a multiple of 16.
#[inline(always)]
fn largest_magnitude(values: &[f32]) -> f32 {
    let mut largest = [0.0_f32; SUMS];
    for values in values.chunks_exact(SUMS) {
        for (largest, value) in largest.iter_mut().zip(values) {
            *largest = if value.abs() > *largest { value.abs() } else { *largest };
        }
    }
    largest.into_iter().fold(0.0, f32::max)
}

/// 2 to the power of 23.
const WHOLE: f32 = 8_388_608.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::cast_sign_loss)] // sizes above 0
    #[test]
    fn a_product_is_that_of_the_numbers_up_to_rounding() {
        let (rows, columns, count) = (208, 96, 7);
        let values: Vec<i8> = (0..columns * rows).map(|at| ((at * 37) % 255 - 127) as i8).collect();
        let scales: Vec<f32> = (0..rows).map(|row| 0.001 * (row % 7 + 1) as f32).collect();
        let bias: Vec<f32> = (0..rows).map(|row| row as f32).collect();
        let vectors: Vec<f32> = (0..columns * count).map(|at| (at as f32 * 0.7).sin()).collect();
        let matrix = Matrix::new(&values, columns as usize, scales.clone(), bias.clone());
        let mut rounded = Rounded::default();
        rounded.take(&vectors, columns as usize);
        let mut found = vec![0.0; matrix.rows() * count as usize];
        matrix.multiply(&rounded, &mut found);
        for (vector, found) in vectors.chunks_exact(columns as usize).zip(found.chunks_exact(matrix.rows())) {
            for (row, values) in values.chunks_exact(columns as usize).enumerate() {
                let exact: f32 = values.iter().zip(vector).map(|(&a, &b)| f32::from(a) * b).sum::<f32>() * scales[row];
                assert!((found[row] - bias[row] - exact).abs() < 0.05 + 0.02 * exact.abs(), "{row}");
            }
        }
    }

    #[test]
    fn a_vector_of_zeros_stays_one() {
        let mut rounded = Rounded::default();
        rounded.take(&[0.0; 64], 64);
        let factors = vec![Factors::default(); 64 / COLUMNS];
        let zeros = factors
            .into_iter()
            .map(|mut four| {
                four[0] = [128; COLUMNS];
                four
            })
            .collect::<Vec<_>>();
        assert_eq!((rounded.factors, rounded.scales), (zeros, vec![0.0]));
    }
}
