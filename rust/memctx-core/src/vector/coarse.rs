//! 8-bit copies of the vectors, which rule out most of them.
//!
//! A vector of length 1 is kept as whole numbers times a scale of its own. How far the copy is from the vector is
//! measured when it is made, so every product of two copies comes with an error that is never exceeded.

use std::io::{self, Write};

use super::kernel::{Kernel, LANES, Line};
use crate::blocks::{BlockReader, BlockWriter, Fault};
use crate::prefetch;

/// A vector of length 1 (or 0) in 8 bits.
#[derive(Debug)]
pub(crate) struct Copy {
    pub(crate) lines: Vec<Line>,
    /// Value of one step of the copy.
    pub(crate) scale: f32,
    /// Length of the difference between the vector and its copy.
    error: f32,
}

/// Room for the rounding of the few single-precision operations between a product and its bounds.
const ROUNDING: f32 = 1e-5;

impl Copy {
    /// Copy a vector; `norm` is its length.
    pub(crate) fn new(vector: &[f32], norm: f64) -> Self {
        let mut lines = vec![Line::ZERO; vector.len().div_ceil(LANES)];
        if norm == 0.0 {
            return Self { lines, scale: 0.0, error: 0.0 };
        }
        let unit = unit(vector);
        let per_unit = 1.0 / unit;
        // Several sums, so that none has to wait for the one before.
        let mut squares = [0.0; 8];
        for (line, values) in lines.iter_mut().zip(vector.chunks(LANES)) {
            for (quanta, values) in line.0.chunks_mut(8).zip(values.chunks(8)) {
                for ((quantum, value), square) in quanta.iter_mut().zip(values).zip(&mut squares) {
                    let value = f64::from(*value);
                    let steps = nearest(value * per_unit);
                    *quantum = steps as i8;
                    *square += (value - unit * steps).powi(2);
                }
            }
        }
        let square: f64 = squares.iter().sum();
        Self { lines, scale: (unit / norm) as f32, error: (square.sqrt() / norm) as f32 }
    }

    /// Return the length of what the copy has behind its front.
    fn rest(&self) -> f32 {
        let rest = self.lines[front(self.lines.len())..].iter().flat_map(|line| line.0);
        let square: i64 = rest.map(|quantum| i64::from(quantum).pow(2)).sum();
        (square as f64).sqrt() as f32 * self.scale
    }
}

/// Return the number of lines in the front of a copy, by which most vectors can be ruled out.
fn front(width: usize) -> usize {
    width.div_ceil(3)
}

/// Return the value of one step of the copy, before scaling to length 1.
///
/// The values of a hash vector are whole numbers times the smallest of them, and as long as none is above 127 steps its
/// copy is exact. Otherwise the highest value is 127 steps.
fn unit(vector: &[f32]) -> f64 {
    const MOST: f64 = 127.0;
    let peak = f64::from(vector.iter().fold(0.0_f32, |peak, value| peak.max(value.abs())));
    let least = vector.iter().filter(|value| **value != 0.0).fold(f32::INFINITY, |least, value| least.min(value.abs()));
    let least = f64::from(least);
    let per_least = 1.0 / least;
    let is_whole = |value: &f32| {
        let steps = f64::from(*value) * per_least;
        (steps - nearest(steps)).abs() < 1e-3
    };
    let all_whole = |values: &[f32]| values.iter().fold(true, |all, value| all & is_whole(value));
    if peak <= MOST * least && vector.chunks(LANES).all(all_whole) { least } else { peak / MOST }
}

/// Return the nearest whole number to one that is far below 2^51, without a call.
fn nearest(value: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    value + SHIFT - SHIFT
}

/// The copies of all vectors, one behind the other.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    kernel: Kernel,
    /// Lines to a row.
    width: usize,
    lines: Vec<Line>,
    scales: Vec<f32>,
    errors: Vec<f32>,
    /// For each the length of what is behind its front.
    rests: Vec<f32>,
}

/// Bounds of a cosine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) low: f32,
    pub(super) high: f32,
}

impl Copies {
    /// Rows that are multiplied at a time: few enough to stay in the cache nearest to the processor but one.
    pub(super) const BATCH: usize = 512;

    pub(super) fn new(dim: usize) -> Self {
        Self {
            kernel: Kernel::pick(),
            width: dim.div_ceil(LANES),
            lines: Vec::new(),
            scales: Vec::new(),
            errors: Vec::new(),
            rests: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, copy: &Copy) {
        self.lines.extend_from_slice(&copy.lines);
        self.scales.push(copy.scale);
        self.errors.push(copy.error);
        self.rests.push(copy.rest());
    }

    /// Put another copy in the place of one.
    pub(super) fn set(&mut self, row: usize, copy: &Copy) {
        self.lines[row * self.width..(row + 1) * self.width].copy_from_slice(&copy.lines);
        (self.scales[row], self.errors[row], self.rests[row]) = (copy.scale, copy.error, copy.rest());
    }

    pub(super) fn save<W: Write>(&self, out: &mut BlockWriter<W>) -> io::Result<()> {
        out.write("v.lines", &self.lines)?;
        out.write("v.scales", &self.scales)?;
        out.write("v.errors", &self.errors)?;
        out.write("v.rests", &self.rests)
    }

    pub(super) fn load(dim: usize, from: &BlockReader) -> Result<Self, Fault> {
        let (lines, scales, errors) = (from.read("v.lines")?, from.read("v.scales")?, from.read("v.errors")?);
        Ok(Self { lines, scales, errors, rests: from.read("v.rests")?, ..Self::new(dim) })
    }

    /// Return whether it holds a copy for each of so many vectors.
    pub(super) fn has_rows(&self, rows: usize) -> bool {
        let measures = [&self.scales, &self.errors, &self.rests];
        self.lines.len() == rows * self.width && measures.iter().all(|measure| measure.len() == rows)
    }

    /// Keep the rows that pass, in order.
    pub(super) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let mut kept = 0;
        for row in (0..self.scales.len()).filter(|&row| keep(row)) {
            self.lines.copy_within(row * self.width..(row + 1) * self.width, kept * self.width);
            self.scales[kept] = self.scales[row];
            self.errors[kept] = self.errors[row];
            self.rests[kept] = self.rests[row];
            kept += 1;
        }
        self.lines.truncate(kept * self.width);
        self.scales.truncate(kept);
        self.errors.truncate(kept);
        self.rests.truncate(kept);
    }

    /// Return the cosine between the copies of two rows.
    pub(super) fn likeness(&self, a: usize, b: usize) -> f64 {
        let row = |row: usize| &self.lines[row * self.width..(row + 1) * self.width];
        let mut product = [0];
        self.kernel.products(row(a), row(b), &mut product);
        f64::from(product[0] as f32 * (self.scales[a] * self.scales[b]))
    }

    /// Return the vector that a copy stands for, of this length.
    pub(super) fn values(&self, row: usize, dim: usize, norm: f64) -> Vec<f32> {
        let step = self.scales[row] * norm as f32;
        let lines = &self.lines[row * self.width..(row + 1) * self.width];
        lines.iter().flat_map(|line| line.0).take(dim).map(|quantum| f32::from(quantum) * step).collect()
    }

    /// Return the lower bound of the cosine between the query and each of some rows.
    pub(super) fn lows(&self, query: &Copy, rows: &[u32]) -> Vec<f32> {
        let bound = |row: usize, product| Bounds::new(product, query, self.scales[row], self.errors[row]).low;
        self.measured(&query.lines, rows, bound)
    }

    /// Return the upper bound of the cosine between the query and each of some rows.
    pub(super) fn highs(&self, query: &Copy, rows: &[u32]) -> Vec<f32> {
        let bound = |row: usize, product| Bounds::new(product, query, self.scales[row], self.errors[row]).high;
        self.measured(&query.lines, rows, bound)
    }

    /// Return looser upper bounds from the front of each copy, which is less to read.
    pub(super) fn highs_by_front(&self, query: &Copy, rows: &[u32]) -> Vec<f32> {
        let rest = query.rest();
        let bound = |row: usize, product| {
            let of_front = Bounds::new(product, query, self.scales[row], self.errors[row]).high;
            // Two vectors have no larger product than that of their lengths.
            of_front + rest * self.rests[row]
        };
        self.measured(&query.lines[..front(self.width)], rows, bound)
    }

    /// Combine the products of some lines of a query with as many of each of some rows.
    fn measured<T>(&self, query: &[Line], rows: &[u32], bound: impl Fn(usize, i32) -> T) -> Vec<T> {
        /// Rows that are prefetched while as many others are read, since they are scattered.
        const TOGETHER: usize = 16;
        let start = |row: &u32| *row as usize * self.width;
        let approach = |rows: &[u32]| {
            rows.iter()
                .map(start)
                .flat_map(|start| &self.lines[start..][..query.len()])
                .for_each(|line| prefetch(line));
        };
        let mut measured = Vec::with_capacity(rows.len());
        approach(&rows[..rows.len().min(TOGETHER)]);
        let mut rest = rows;
        while !rest.is_empty() {
            let (here, behind) = rest.split_at(rest.len().min(TOGETHER));
            approach(&behind[..behind.len().min(TOGETHER)]);
            let (mut starts, mut products) = ([0; TOGETHER], [0; TOGETHER]);
            starts.iter_mut().zip(here).for_each(|(slot, row)| *slot = start(row));
            self.kernel.some_products(query, &self.lines, &starts[..here.len()], &mut products[..here.len()]);
            measured.extend(here.iter().zip(products).map(|(&row, product)| bound(row as usize, product)));
            rest = behind;
        }
        measured
    }

    /// Bounds of the cosine between the query and each of the rows `from..from + out.len()`.
    pub(super) fn bound(&self, query: &Copy, from: usize, out: &mut [Bounds]) {
        let mut products = [0; Self::BATCH];
        let products = &mut products[..out.len()];
        let rows = from..from + out.len();
        self.kernel.products(&query.lines, &self.lines[rows.start * self.width..rows.end * self.width], products);
        let measures = self.scales[rows.clone()].iter().zip(&self.errors[rows]);
        for ((bounds, &mut product), (&scale, &error)) in out.iter_mut().zip(products).zip(measures) {
            *bounds = Bounds::new(product, query, scale, error);
        }
    }
}

impl Bounds {
    fn new(product: i32, query: &Copy, scale: f32, error: f32) -> Self {
        let about = product as f32 * (scale * query.scale);
        // |x·y − x'·y'| ≤ |x − x'|·|y| + |x'|·|y − y'|, and |y| ≤ 1, |x'| ≤ 1 + |x − x'|.
        let slack = error + (1.0 + error) * query.error + ROUNDING;
        Self { low: about - slack, high: about + slack }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::cosine;
    use proptest::prelude::*;

    /// Return vectors of one length: of any values, or of whole numbers as hashing gives them.
    fn vectors() -> impl Strategy<Value = Vec<Vec<f32>>> {
        (1..400_usize).prop_flat_map(|dim| {
            let value = prop_oneof![-1.0..1.0_f32, (-3..4_i8).prop_map(f32::from)];
            prop::collection::vec(prop::collection::vec(value, dim), 2..40)
        })
    }

    proptest! {
        #[test]
        fn no_cosine_is_above_its_bounds(vectors in vectors()) {
            let norm = |vector: &[f32]| vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
            let mut copies = Copies::new(vectors[0].len());
            for vector in &vectors {
                copies.push(&Copy::new(vector, norm(vector)));
            }
            let rows: Vec<u32> = (0..vectors.len() as u32).rev().collect();
            for query in &vectors {
                let copy = Copy::new(query, norm(query));
                let (highs, by_front) = (copies.highs(&copy, &rows), copies.highs_by_front(&copy, &rows));
                for ((&row, high), front) in rows.iter().zip(highs).zip(by_front) {
                    let exact = cosine(query, &vectors[row as usize]);
                    prop_assert!(exact <= f64::from(high), "{} above {}", exact, high);
                    prop_assert!(exact <= f64::from(front), "{} above {}", exact, front);
                }
            }
        }
    }
}
