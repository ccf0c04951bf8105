//! 8-bit copies of all vectors, and their similarity to a query or to each other.

use std::ops::Range;

use super::column::{BLOCK, Column};
use crate::prefetch;
use crate::vector::{Copy, Kernel, LANES, Line, norm};
use crate::{Scored, TopK};

/// Rows multiplied at a time.
const BATCH: usize = 512;
/// Rows a test is tried on before it is known how many it admits.
const SAMPLE: usize = 128;

/// Test of the rows that a search may return.
pub(super) type Admit<'a> = &'a (dyn Fn(u32) -> bool + Sync);

/// A vector to be found.
pub(super) type Query = Copy;

/// Return the 8-bit copy of a vector.
pub(super) fn copy(vector: &[f32]) -> Copy {
    Copy::new(vector, norm(vector))
}

/// The copies, one behind the other, with what a step of each stands for: 0 where a vector is missing or zero, which is
/// near to nothing.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// Lines to a row.
    width: usize,
    kernel: Kernel,
    lines: Column<Line>,
    scales: Column<f32>,
}

impl Space {
    /// Create the space; none unless every row has a scale.
    pub(super) fn new(dim: usize, lines: Column<Line>, scales: Column<f32>) -> Option<Self> {
        (lines.len() == scales.len()).then(|| Self { width: width(dim), kernel: Kernel::pick(), lines, scales })
    }

    pub(super) fn len(&self) -> u32 {
        self.scales.len() as u32
    }

    pub(super) fn lines(&self) -> &Column<Line> {
        &self.lines
    }

    pub(super) fn scales(&self) -> &Column<f32> {
        &self.scales
    }

    /// Return the copy of a row.
    pub(super) fn row(&self, row: u32) -> &[Line] {
        self.lines.row(row as usize)
    }

    /// Return whether there is anything to find in a row.
    pub(super) fn has(&self, row: u32) -> bool {
        self.scales[row as usize] != 0.0
    }

    /// Ask for a row that is about to be compared.
    pub(super) fn fetch(&self, row: u32) {
        for line in self.row(row) {
            prefetch(line);
        }
    }

    /// Return approximately the cosine between two rows.
    pub(super) fn likeness(&self, a: u32, b: u32) -> f32 {
        let mut product = [0];
        self.kernel.products(self.row(a), self.row(b), &mut product);
        product[0] as f32 * (self.scales[a as usize] * self.scales[b as usize])
    }

    /// Return approximately the cosine between a query and a row.
    pub(super) fn score(&self, query: &Query, row: u32) -> f64 {
        let mut product = [0];
        self.kernel.products(&query.lines, self.row(row), &mut product);
        score(product[0], query, self.scales[row as usize])
    }

    /// Return the mean of some of a range's rows, scaled to length 1, and its length.
    pub(super) fn mean(&self, range: Range<u32>) -> (Query, f32) {
        const ROWS: usize = 4096;
        let rows = range.clone().step_by((range.len() / ROWS).max(1));
        let mut mean = vec![0.0; self.width * LANES];
        for row in rows.clone() {
            let scale = self.scales[row as usize] / rows.len() as f32;
            for (sum, &value) in mean.iter_mut().zip(self.row(row).iter().flat_map(|line| &line.0)) {
                *sum += scale * f32::from(value);
            }
        }
        (copy(&mean), norm(&mean) as f32)
    }

    /// Estimate the share of a range's rows that a test admits, from a sample.
    pub(super) fn admitted_share(range: &Range<u32>, admit: Admit<'_>) -> f64 {
        let step = (range.len() / SAMPLE).max(1);
        let sample = range.clone().step_by(step);
        sample.clone().filter(|&row| admit(row)).count() as f64 / sample.len().max(1) as f64
    }

    /// Offer all rows of a range.
    pub(super) fn scan(&self, query: &Query, range: Range<u32>, best: &mut TopK, admit: Admit<'_>) {
        // What few rows pass is tested first, so that the others need not be read.
        if Self::admitted_share(&range, admit) < 0.25 {
            let admitted = range.filter(|&row| admit(row) && self.has(row));
            return admitted.for_each(|number| best.offer(Scored { number, score: self.score(query, number) }));
        }
        let mut products = [0; BATCH];
        let mut floor = best.floor();
        let (mut from, end) = (range.start as usize, range.end as usize);
        while from < end {
            // Never across two blocks.
            let rows = from..(from + BATCH).min(end).min((from / BLOCK + 1) * BLOCK);
            let products = &mut products[..rows.len()];
            self.kernel.products(&query.lines, self.lines.rows(rows.clone()), products);
            from = rows.end;
            for ((number, &mut product), &scale) in (rows.start as u32..).zip(products).zip(self.scales.rows(rows)) {
                let score = score(product, query, scale);
                if score > floor && scale != 0.0 && admit(number) {
                    best.offer(Scored { number, score });
                    floor = best.floor();
                }
            }
        }
    }
}

/// Lines to a row of so many values.
pub(super) fn width(dim: usize) -> usize {
    dim.div_ceil(LANES)
}

fn score(product: i32, query: &Query, scale: f32) -> f64 {
    f64::from(product as f32 * (scale * query.scale))
}
