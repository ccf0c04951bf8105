//! Exact nearest neighbors among numbered vectors.

use std::borrow::Cow;
use std::fs::File;
use std::sync::Arc;

use super::coarse::{Bounds, Copies, Copy};
use super::kernel::dot;
use super::values::Values;
use crate::prefetch;
use crate::vmem::MAX_DIM;
use crate::{Error, Explanation, Result, Scored, TopK};

/// Vectors of one length under the numbers 0, 1, 2 … in the order they come, with exact cosine search.
///
/// The answer is that of a scan of all vectors in double precision. An 8-bit copy of each gives bounds of its cosine
/// first, and only vectors that can be among the best by these bounds are read in full. One whose file no longer has it
/// counts as its copy from then on.
///
/// It does not know which numbers are still in use: searches take a test of numbers. [`super::FlatIndex`] adds ids
/// and groups.
#[derive(Clone, Debug)]
pub struct Rows {
    dim: usize,
    pub(super) values: Values,
    pub(super) norms: Vec<f64>,
    pub(super) copies: Copies,
}

/// Vectors that can be numbered.
pub(super) const LIMIT: usize = u32::MAX as usize;

/// Queries that are answered in one pass over the copies. Each needs a bound for every vector, so not too many.
const TOGETHER: usize = 16;

/// A query that has been checked and measured.
struct Query<'a> {
    vector: &'a [f32],
    norm: f64,
    copy: Copy,
}

impl Rows {
    /// Create an empty set of vectors of this length.
    pub fn new(dim: usize) -> Result<Self> {
        if dim == 0 || dim > MAX_DIM {
            return Err(Error::argument("dim", "between 1 and 65536", dim.to_string()));
        }
        Ok(Self { dim, values: Values::new(dim), norms: Vec::new(), copies: Copies::new(dim) })
    }

    /// Return the length every vector must have.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Return the count of numbers given out so far, used or not.
    #[must_use]
    pub fn span(&self) -> usize {
        self.norms.len()
    }

    /// Add a vector and give its number.
    pub fn push(&mut self, vector: &[f32]) -> Result<u32> {
        self.check(vector)?;
        let number = u32::try_from(self.span()).map_err(|_| Error::Full { what: "the index", limit: LIMIT })?;
        let norm = norm(vector);
        self.values.push(vector);
        self.norms.push(norm);
        self.copies.push(&Copy::new(vector, norm));
        Ok(number)
    }

    /// Put another vector in the place of one.
    pub fn set(&mut self, number: u32, vector: &[f32]) -> Result<()> {
        self.check(vector)?;
        let (row, norm) = (number as usize, norm(vector));
        self.values.set(row, vector);
        self.norms[row] = norm;
        self.copies.set(row, &Copy::new(vector, norm));
        Ok(())
    }

    /// Refuse what is no vector of this length with finite values.
    pub fn check(&self, vector: &[f32]) -> Result<()> {
        if vector.len() != self.dim {
            return Err(Error::Dimension { expected: self.dim, found: vector.len() });
        }
        check_finite(vector, self.dim)
    }

    /// Return the vector of a number, as it was added; none if the file that holds it no longer does.
    #[must_use]
    pub fn exact(&self, number: u32) -> Option<&[f32]> {
        self.values.get(number as usize)
    }

    /// Return the vector of a number, or its copy.
    #[must_use]
    pub fn row(&self, number: u32) -> Cow<'_, [f32]> {
        let copy = || self.copies.values(number as usize, self.dim, self.norms[number as usize]);
        self.exact(number).map_or_else(|| copy().into(), Cow::Borrowed)
    }

    /// Take note that a file holds vectors, by their numbers, at these offsets; `is_new` says that it takes the place of
    /// the one before.
    pub(crate) fn locate(&mut self, file: Option<&Arc<File>>, is_new: bool, places: &[(u32, u64)]) {
        if is_new {
            self.values.move_to(file.cloned());
        }
        for &(number, offset) in places {
            self.values.locate(number as usize, offset);
        }
    }

    /// Return approximately the cosine between two of the vectors: that of their 8-bit copies, which is off by a
    /// hundredth at most for vectors whose values are of like size.
    #[must_use]
    pub fn likeness(&self, a: u32, b: u32) -> f64 {
        self.copies.likeness(a as usize, b as usize)
    }

    /// Return for each of the concatenated query vectors the `k` vectors with the highest cosine of those whose numbers
    /// pass the test; best first, older first among equals. A zero vector has cosine 0 to every other.
    pub fn search(&self, vectors: &[f32], k: usize, admit: impl Fn(u32) -> bool) -> Result<Vec<Vec<Scored>>> {
        if !vectors.len().is_multiple_of(self.dim) {
            return Err(Error::Dimension { expected: self.dim, found: vectors.len() });
        }
        check_finite(vectors, self.dim)?;
        let queries: Vec<Query<'_>> = vectors.chunks_exact(self.dim).map(Query::new).collect();
        Ok(queries.chunks(TOGETHER).flat_map(|queries| self.scan(queries, k, &admit)).collect())
    }

    /// Return the cosine between a query vector and the vector of any number.
    pub fn cosines<'a>(&'a self, vector: &'a [f32]) -> Result<impl Fn(u32) -> f64 + 'a> {
        self.check(vector)?;
        let norm = norm(vector);
        Ok(move |number| quotient(dot(vector, &self.row(number)), norm * self.norms[number as usize]))
    }

    /// Return a lower bound of the cosine between a query vector and that of each of the numbers: quickly, from the copies.
    pub fn lows(&self, vector: &[f32], numbers: &[u32]) -> Result<Vec<f32>> {
        self.check(vector)?;
        Ok(self.copies.lows(&Copy::new(vector, norm(vector)), numbers))
    }

    /// Keep those of the numbers whose vectors have a cosine to a query vector that can make `is_enough` true: quickly,
    /// from the copies. What it is true for must be true for every higher cosine, too.
    pub fn keep_hopeful(
        &self,
        vector: &[f32],
        items: &mut Vec<Scored>,
        is_enough: impl Fn(&Scored, f64) -> bool,
    ) -> Result<()> {
        self.check(vector)?;
        let copy = Copy::new(vector, norm(vector));
        for highs in [Copies::highs_by_front, Copies::highs] {
            let numbers: Vec<u32> = items.iter().map(|item| item.number).collect();
            let mut highs = highs(&self.copies, &copy, &numbers).into_iter();
            items.retain(|item| highs.next().is_none_or(|high| is_enough(item, f64::from(high))));
        }
        Ok(())
    }

    /// Ask for the vector of a number, if it is in memory.
    pub fn approach(&self, number: u32) {
        let values = self.values.at_hand(number as usize).unwrap_or_default();
        values.as_chunks::<16>().0.iter().for_each(|line| prefetch(line));
    }

    /// Return the cosine to one vector, with the numbers behind it.
    pub fn explain(&self, vector: &[f32], number: u32) -> Result<Explanation> {
        self.check(vector)?;
        let query = Query::new(vector);
        let parts = vec![
            Explanation::leaf("dot product", dot(vector, &self.row(number))),
            Explanation::leaf("length of the query", query.norm),
            Explanation::leaf("length of the vector", self.norms[number as usize]),
        ];
        Ok(Explanation::of("cosine", self.cosine(&query, number), parts))
    }

    /// Keep the vectors whose numbers pass the test, and renumber them in the same order.
    pub fn retain(&mut self, is_kept: impl Fn(usize) -> bool) {
        self.copies.retain(&is_kept);
        self.values.retain(&is_kept);
        let mut row = 0..;
        self.norms.retain(|_| row.next().is_some_and(&is_kept));
    }

    fn cosine(&self, query: &Query<'_>, number: u32) -> f64 {
        quotient(dot(query.vector, &self.row(number)), query.norm * self.norms[number as usize])
    }

    /// Read the copies once for all queries, then the candidates of each in full.
    fn scan(&self, queries: &[Query<'_>], k: usize, admit: &impl Fn(u32) -> bool) -> Vec<Vec<Scored>> {
        let span = self.span();
        let mut all_candidates: Vec<Candidates> = queries.iter().map(|_| Candidates::new(k, span)).collect();
        let mut bounds = [Bounds { low: 0.0, high: 0.0 }; Copies::BATCH];
        for from in (0..span).step_by(Copies::BATCH) {
            let bounds = &mut bounds[..Copies::BATCH.min(span - from)];
            for (query, candidates) in queries.iter().zip(&mut all_candidates) {
                self.copies.bound(&query.copy, from, bounds);
                candidates.enter(from, bounds, admit);
            }
        }
        let finish = |(query, candidates): (&Query<'_>, Candidates)| {
            candidates.finish(k, |number| self.cosine(query, number), admit)
        };
        queries.iter().zip(all_candidates).map(finish).collect()
    }
}

impl<'a> Query<'a> {
    fn new(vector: &'a [f32]) -> Self {
        let norm = norm(vector);
        Self { vector, norm, copy: Copy::new(vector, norm) }
    }
}

/// Vectors that can still be among the best `k`.
struct Candidates {
    /// The best by their lower bounds; no vector whose upper bound is below the least of them can win.
    sure: TopK,
    highs: Vec<f32>,
}

impl Candidates {
    fn new(k: usize, span: usize) -> Self {
        Self { sure: TopK::new(k), highs: Vec::with_capacity(span) }
    }

    fn enter(&mut self, from: usize, bounds: &[Bounds], admit: &impl Fn(u32) -> bool) {
        let mut floor = self.sure.floor();
        for (row, bound) in (from..).zip(bounds) {
            let number = row as u32;
            if f64::from(bound.low) > floor && admit(number) {
                self.sure.offer(Scored { number, score: f64::from(bound.low) });
                floor = self.sure.floor();
            }
        }
        self.highs.extend(bounds.iter().map(|bound| bound.high));
    }

    fn finish(self, k: usize, cosine: impl Fn(u32) -> f64, admit: &impl Fn(u32) -> bool) -> Vec<Scored> {
        let floor = self.sure.floor();
        let mut best = TopK::new(k);
        for (number, &high) in (0..).zip(&self.highs) {
            if f64::from(high) >= floor && admit(number) {
                best.offer(Scored { number, score: cosine(number) });
            }
        }
        best.into_sorted()
    }
}

/// Return the cosine of two vectors of the same length; 0 if one of them is zero.
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    quotient(dot(a, b), norm(a) * norm(b))
}

fn quotient(product: f64, norms: f64) -> f64 {
    // Adding zero makes minus zero plain, so that the two tie.
    if norms == 0.0 { 0.0 } else { product / norms + 0.0 }
}

/// Return the length of a vector.
pub(crate) fn norm(vector: &[f32]) -> f64 {
    dot(vector, vector).sqrt()
}

/// Refuse a matrix with a value that is NaN or infinite.
pub(crate) fn check_finite(values: &[f32], dim: usize) -> Result<()> {
    if values.iter().all(|value| value.is_finite()) {
        return Ok(());
    }
    let at = values.iter().position(|value| !value.is_finite()).unwrap_or_default();
    Err(Error::NotFinite { row: at / dim, column: at % dim, value: values[at] })
}
