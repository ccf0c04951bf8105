//! One layer of attention and its feed-forward part, over all pieces of a text.

use super::attention::{Buffers, attend};
use super::matrix::{Matrix, Rounded};

/// Base of the angles by which places turn queries and keys.
const BASE: f32 = 1000.0;
const EPSILON: f32 = 1e-5;
/// Independent sums, so that the compiler uses vector registers.
pub(super) const SUMS: usize = 16;

/// Brings a vector to mean 0 and variance 1, then weighs its values.
#[derive(Debug)]
pub(super) struct Norm {
    pub(super) weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

impl Norm {
    #[inline(always)]
    pub(super) fn apply(&self, vector: &[f32], into: &mut [f32]) {
        let count = vector.len() as f32;
        let mean = sum(vector, |value| value) / count;
        let variance = sum(vector, |value| (value - mean) * (value - mean)) / count;
        let factor = 1.0 / (variance + EPSILON).sqrt();
        for (((into, &value), &weight), &bias) in into.iter_mut().zip(vector).zip(&self.weight).zip(&self.bias) {
            *into = (value - mean) * factor * weight + bias;
        }
    }
}

impl Norm {
    #[inline(always)]
    fn apply_all(&self, vectors: &[f32], into: &mut [f32]) {
        let dim = self.weight.len();
        for (vector, into) in vectors.chunks_exact(dim).zip(into.chunks_exact_mut(dim)) {
            self.apply(vector, into);
        }
    }
}

/// The weights of a layer.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) before_attention: Norm,
    /// Queries, keys and values, one below the other.
    pub(super) attention: Matrix,
    pub(super) attended: Matrix,
    pub(super) before_feed: Norm,
    pub(super) feed: Matrix,
    pub(super) fed: Matrix,
    pub(super) heads: usize,
}

/// Buffers that a layer works in, kept from one to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    attention: Vec<f32>,
    normed: Vec<f32>,
    wide: Vec<f32>,
    buffers: Buffers,
    added: Vec<f32>,
    rounded: Rounded,
}

/// Cosine and sine of the angle by which each place turns each pair of values, by place and pair.
#[derive(Debug)]
pub(super) struct Turns {
    cosines: Vec<f32>,
    sines: Vec<f32>,
    pairs: usize,
}

impl Turns {
    /// Make those of the first places, for heads of a size.
    pub(super) fn new(places: usize, head: usize) -> Self {
        let pairs = head / 2;
        let angle = |place: usize, pair: usize| place as f32 / BASE.powf(2.0 * pair as f32 / head as f32);
        let all = || (0..places).flat_map(|place| (0..pairs).map(move |pair| angle(place, pair)));
        Self { cosines: all().map(f32::cos).collect(), sines: all().map(f32::sin).collect(), pairs }
    }

    /// Turn the values of one head, whose second half goes with the first.
    #[inline(always)]
    fn apply(&self, place: usize, head: &mut [f32]) {
        let (first, second) = head.split_at_mut(self.pairs);
        let start = place * self.pairs;
        let angles = self.cosines[start..][..self.pairs].iter().zip(&self.sines[start..][..self.pairs]);
        for ((a, b), (cos, sin)) in first.iter_mut().zip(second).zip(angles) {
            (*a, *b) = (*a * cos - *b * sin, *a * sin + *b * cos);
        }
    }
}

impl Layer {
    /// Change the vectors of a text's pieces, one after the other in `vectors`.
    #[inline(always)]
    pub(super) fn run(&self, vectors: &mut [f32], turns: &Turns, scratch: &mut Scratch) {
        let dim = self.attended.rows();
        let pieces = vectors.len() / dim;
        let Scratch { attention, normed, wide, buffers, added, rounded } = scratch;
        normed.resize(vectors.len(), 0.0);
        added.resize(vectors.len(), 0.0);
        attention.resize(vectors.len() * 3, 0.0);
        wide.resize(pieces * self.feed.rows(), 0.0);
        self.before_attention.apply_all(vectors, normed);
        rounded.take(normed, dim);
        self.attention.multiply(rounded, attention);
        for (place, all) in attention.chunks_exact_mut(3 * dim).enumerate() {
            for head in all[..2 * dim].chunks_exact_mut(dim / self.heads) {
                turns.apply(place, head);
            }
        }
        attend(attention, dim, self.heads, buffers, normed);
        rounded.take(normed, dim);
        self.attended.multiply(rounded, added);
        add(vectors, added);
        self.before_feed.apply_all(vectors, normed);
        rounded.take(normed, dim);
        self.feed.multiply(rounded, wide);
        for value in wide.iter_mut() {
            *value = value.max(0.0);
        }
        rounded.take(wide, self.feed.rows());
        self.fed.multiply(rounded, added);
        add(vectors, added);
    }
}

#[inline(always)]
fn add(into: &mut [f32], values: &[f32]) {
    for (into, value) in into.iter_mut().zip(values) {
        *into += value;
    }
}

/// Return the product of two vectors whose length is a multiple of 16.
#[inline(always)]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; SUMS];
    for (a, b) in a.chunks_exact(SUMS).zip(b.chunks_exact(SUMS)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

/// Return the sum of what is made of the values, whose number is a multiple of 16.
#[inline(always)]
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0; SUMS];
    for values in values.chunks_exact(SUMS) {
        for (sum, &value) in sums.iter_mut().zip(values) {
            *sum += of(value);
        }
    }
    sums.iter().sum()
}
