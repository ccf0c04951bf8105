//! Products of 8-bit matrices with the vectors of some pieces.
#![allow(unsafe_code)]

use super::kernel::{self, AT_ONCE, COLUMNS, Kernel, Products, ROWS};
use crate::vector::Line;

/// A matrix of 8-bit rows, each with its scale, and what is added to the products.
#[derive(Debug)]
pub(super) struct Matrix {
    /// Sixteen rows after the other, see [`kernel`].
    lines: Vec<Line>,
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
        Self { lines, scales, bias, columns, kernel: kernel::pick() }
    }

    /// Return the number of rows.
    pub(super) fn rows(&self) -> usize {
        self.scales.len()
    }

    /// Write the products with vectors, plus the bias, one after the other.
    #[inline(always)]
    pub(super) fn multiply(&self, vectors: &Rounded, into: &mut [f32]) {
        let rows = self.rows();
        let mut products = Products::default();
        let all: Vec<&[u8]> = vectors.bytes.chunks_exact(self.columns).collect();
        let batches = all.chunks(AT_ONCE).zip(vectors.scales.chunks(AT_ONCE)).zip(into.chunks_mut(AT_ONCE * rows));
        for ((batch, scales), into) in batches {
            for (lines, first) in self.lines.chunks_exact(self.columns / COLUMNS).zip((0..).step_by(ROWS)) {
                // SAFETY: the processor was asked for what the kernel needs when it was picked.
                unsafe { (self.kernel)(lines, batch, &mut products) };
                for ((into, products), &scale) in into.chunks_exact_mut(rows).zip(&products).zip(scales) {
                    let weights = self.scales[first..][..ROWS].iter().zip(&self.bias[first..][..ROWS]);
                    for ((into, &product), (&own, &bias)) in into[first..][..ROWS].iter_mut().zip(products).zip(weights)
                    {
                        *into = product as f32 * (own * scale) + bias;
                    }
                }
            }
        }
    }
}

/// Vectors rounded to 8 bits.
#[derive(Debug, Default)]
pub(super) struct Rounded {
    /// Their values with the sign bit flipped, one vector after the other.
    bytes: Vec<u8>,
    scales: Vec<f32>,
}

impl Rounded {
    /// Round vectors of a length, which take the places of those before.
    #[inline(always)]
    pub(super) fn take(&mut self, vectors: &[f32], length: usize) {
        self.bytes.resize(vectors.len(), 0);
        self.scales.clear();
        for (vector, bytes) in vectors.chunks_exact(length).zip(self.bytes.chunks_exact_mut(length)) {
            let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
            let factor = if largest > 0.0 { 127.0 / largest } else { 0.0 };
            self.scales.push(largest / 127.0);
            for (byte, value) in bytes.iter_mut().zip(vector) {
                // At this size a number has no fraction: adding rounds, and the low byte is the whole number.
                *byte = (value * factor + 128.0 + WHOLE).to_bits() as u8;
            }
        }
    }
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
        assert_eq!((rounded.bytes, rounded.scales), (vec![128; 64], vec![0.0]));
    }
}
