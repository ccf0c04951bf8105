//! Exact nearest neighbours.

use super::coarse::{Bounds, Copies, Copy};
use crate::vmem::MAX_DIM;
use crate::{Error, Explanation, Filter, Result, Roster, Scored, TopK};

/// Exact cosine search over vectors in memory.
///
/// The answer is that of a scan of all vectors in double precision. An 8-bit copy of each gives bounds of its cosine
/// first, and only vectors that can be among the best by these bounds are read in full.
///
/// ```
/// use memctx_core::{Filter, vector::FlatIndex};
///
/// let mut index = FlatIndex::new(2)?;
/// index.add_many(&["east", "north"], &[1.0, 0.0, 0.0, 1.0], "")?;
/// let best = index.search(&[0.9, 0.1], 1, Filter::default())?;
/// assert_eq!(index.roster().id(best[0].number), "east");
/// # Ok::<(), memctx_core::Error>(())
/// ```
#[derive(Debug)]
pub struct FlatIndex {
    dim: usize,
    roster: Roster,
    values: Vec<f32>,
    norms: Vec<f64>,
    copies: Copies,
}

/// Queries that are answered in one pass over the copies. Each needs a bound for every vector, so not too many.
const TOGETHER: usize = 16;

/// A query that has been checked and measured.
struct Query<'a> {
    vector: &'a [f32],
    norm: f64,
    copy: Copy,
}

impl FlatIndex {
    /// An empty index for vectors of this length.
    pub fn new(dim: usize) -> Result<Self> {
        if dim == 0 || dim > MAX_DIM {
            return Err(Error::argument("dim", "between 1 and 65536", dim.to_string()));
        }
        Ok(Self { dim, roster: Roster::default(), values: Vec::new(), norms: Vec::new(), copies: Copies::new(dim) })
    }

    /// The length every vector must have.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The vectors present.
    #[must_use]
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Add vectors, one behind the other in `values`; those with the same id are replaced. On an error none is added.
    pub fn add_many(&mut self, ids: &[&str], values: &[f32], group: &str) -> Result<()> {
        if values.len() != ids.len() * self.dim {
            return Err(Error::Dimension { expected: ids.len() * self.dim, found: values.len() });
        }
        check_finite(values, self.dim)?;
        if self.roster.span() + ids.len() > u32::MAX as usize {
            return Err(Error::Full { what: "the index", limit: u32::MAX as usize });
        }
        for (id, vector) in ids.iter().zip(values.chunks_exact(self.dim)) {
            self.remove(id);
            self.roster.insert(id, group, u32::MAX as usize)?;
            let norm = norm(vector);
            self.values.extend_from_slice(vector);
            self.norms.push(norm);
            self.copies.push(&Copy::new(vector, norm));
        }
        Ok(())
    }

    /// Take a vector out; false if there is none of that id.
    pub fn remove(&mut self, id: &str) -> bool {
        let is_present = self.roster.remove(id).is_some();
        if is_present && self.roster.is_sparse() {
            self.compact();
        }
        is_present
    }

    /// The vector of an id, as it was added.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&[f32]> {
        self.roster.number(id).map(|number| self.row(number))
    }

    /// The `k` vectors with the highest cosine, best first, older first among equals. A zero vector has cosine 0 to
    /// every other.
    pub fn search(&self, vector: &[f32], k: usize, filter: Filter<'_>) -> Result<Vec<Scored>> {
        if vector.len() != self.dim {
            return Err(Error::Dimension { expected: self.dim, found: vector.len() });
        }
        Ok(self.search_many(vector, k, filter)?.pop().unwrap_or_default())
    }

    /// [`FlatIndex::search`] for several vectors, one behind the other in `vectors`.
    pub fn search_many(&self, vectors: &[f32], k: usize, filter: Filter<'_>) -> Result<Vec<Vec<Scored>>> {
        self.search_where(vectors, k, self.roster.admit(filter))
    }

    /// [`FlatIndex::search_many`] over the vectors whose numbers pass a test.
    pub fn search_where(&self, vectors: &[f32], k: usize, admit: impl Fn(u32) -> bool) -> Result<Vec<Vec<Scored>>> {
        if !vectors.len().is_multiple_of(self.dim) {
            return Err(Error::Dimension { expected: self.dim, found: vectors.len() });
        }
        check_finite(vectors, self.dim)?;
        let queries: Vec<Query<'_>> = vectors.chunks_exact(self.dim).map(Query::new).collect();
        Ok(queries.chunks(TOGETHER).flat_map(|queries| self.scan(queries, k, &admit)).collect())
    }

    /// The cosine to one vector, with the numbers behind it; none if there is no vector of that id.
    pub fn explain(&self, vector: &[f32], id: &str) -> Result<Option<Explanation>> {
        if vector.len() != self.dim {
            return Err(Error::Dimension { expected: self.dim, found: vector.len() });
        }
        check_finite(vector, self.dim)?;
        Ok(self.roster.number(id).map(|number| {
            let query = Query::new(vector);
            let parts = vec![
                Explanation::leaf("dot product", dot(vector, self.row(number))),
                Explanation::leaf("length of the query", query.norm),
                Explanation::leaf("length of the vector", self.norms[number as usize]),
            ];
            Explanation::of("cosine", self.cosine(&query, number), parts)
        }))
    }

    fn row(&self, number: u32) -> &[f32] {
        &self.values[number as usize * self.dim..][..self.dim]
    }

    fn cosine(&self, query: &Query<'_>, number: u32) -> f64 {
        quotient(dot(query.vector, self.row(number)), query.norm * self.norms[number as usize])
    }

    /// Read the copies once for all queries, then the candidates of each in full.
    fn scan(&self, queries: &[Query<'_>], k: usize, admit: &impl Fn(u32) -> bool) -> Vec<Vec<Scored>> {
        let span = self.roster.span();
        let mut races: Vec<Race> = queries.iter().map(|_| Race::new(k, span)).collect();
        let mut bounds = [Bounds { low: 0.0, high: 0.0 }; Copies::BATCH];
        for from in (0..span).step_by(Copies::BATCH) {
            let bounds = &mut bounds[..Copies::BATCH.min(span - from)];
            for (query, race) in queries.iter().zip(&mut races) {
                self.copies.bound(&query.copy, from, bounds);
                race.enter(from, bounds, admit);
            }
        }
        let finish = |(query, race): (&Query<'_>, Race)| race.finish(k, |number| self.cosine(query, number), admit);
        queries.iter().zip(races).map(finish).collect()
    }

    fn compact(&mut self) {
        let renumbered = self.roster.renumber();
        let is_kept = |row: usize| renumbered[row].is_some();
        self.copies.retain(is_kept);
        let mut row = 0..;
        self.norms.retain(|_| row.next().is_some_and(is_kept));
        let mut kept = 0;
        for row in (0..renumbered.len()).filter(|&row| is_kept(row)) {
            self.values.copy_within(row * self.dim..(row + 1) * self.dim, kept * self.dim);
            kept += 1;
        }
        self.values.truncate(kept * self.dim);
    }
}

impl<'a> Query<'a> {
    fn new(vector: &'a [f32]) -> Self {
        let norm = norm(vector);
        Self { vector, norm, copy: Copy::new(vector, norm) }
    }
}

/// Which vectors can still be among the best `k`.
struct Race {
    /// The best by their lower bounds; no vector whose upper bound is below the least of them can win.
    sure: TopK,
    highs: Vec<f32>,
}

impl Race {
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

/// The cosine of two vectors of the same length; 0 if one of them is zero.
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    quotient(dot(a, b), norm(a) * norm(b))
}

fn quotient(product: f64, norms: f64) -> f64 {
    // Adding zero makes minus zero plain, so that the two tie.
    if norms == 0.0 { 0.0 } else { product / norms + 0.0 }
}

/// The product of two vectors of the same length, in double precision.
fn dot(a: &[f32], b: &[f32]) -> f64 {
    // Independent sums let the compiler use vector registers.
    const SUMS: usize = 16;
    let mut sums = [0.0; SUMS];
    let (whole, rest) = (a.chunks_exact(SUMS).zip(b.chunks_exact(SUMS)), a.len() - a.len() % SUMS);
    for (a, b) in whole {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += f64::from(a) * f64::from(b);
        }
    }
    let tail: f64 = a[rest..].iter().zip(&b[rest..]).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
    sums.iter().sum::<f64>() + tail
}

fn norm(vector: &[f32]) -> f64 {
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
