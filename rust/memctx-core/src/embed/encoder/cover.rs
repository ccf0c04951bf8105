//! The share of what a question is about that a text has, in the same words or in related ones.
//!
//! Each piece of the question looks for the piece of the text that is nearest to it in the table. How rare a piece is in
//! its language says how much it tells, whatever a memory holds: small talk tells little, and an accidental word is one
//! piece and not three.

use std::cell::LazyCell;

use super::encoder::Encoder;

/// Log probability of a piece that tells nothing; each unit below it tells one more,
const COMMON: f32 = -5.5;
/// up to so many.
const MOST: f32 = 8.0;
/// The cosine of two pieces that have nothing in common, or seldom more.
const UNRELATED: f32 = 0.4;
/// Pieces of a question that are enough to know what it is about.
const BEST: usize = 3;

/// A question to compare texts with.
#[derive(Debug)]
pub struct PieceQuestion<'a> {
    encoder: &'a Encoder,
    pieces: Vec<QuestionPiece>,
}

/// A piece of a question.
#[derive(Debug)]
struct QuestionPiece {
    id: u32,
    /// The weight of what it tells.
    weight: f32,
    row: Vec<i16>,
    length: f32,
}

impl<'a> PieceQuestion<'a> {
    pub(super) fn new(encoder: &'a Encoder, text: &str) -> Self {
        let piece = |id: u32| {
            let row: Vec<i16> = encoder.row(id).iter().map(|&value| i16::from(value)).collect();
            let length = encoder.length(id);
            QuestionPiece { id, weight: (COMMON - encoder.log_probability(id)).clamp(0.0, MOST), row, length }
        };
        let pieces = unique(encoder.tokens_of_query(text)).into_iter().map(piece);
        // What tells nothing need not be looked for.
        Self { encoder, pieces: pieces.filter(|piece| piece.weight > 0.0).collect() }
    }

    /// Return what its three most telling pieces tell, which is all that a text can have of it.
    #[must_use]
    pub fn tells(&self) -> f64 {
        sum_of_best(self.pieces.iter().map(|piece| f64::from(piece.weight)).collect())
    }

    /// Return what those three pieces tell that a text has best.
    #[must_use]
    pub fn told_by(&self, text: &str) -> f64 {
        // All of it: what answers may stand at the end.
        let ids = unique(self.encoder.tokens_within(text, usize::MAX));
        let lengths = LazyCell::new(|| ids.iter().map(|&id| self.encoder.length(id)).collect::<Vec<f32>>());
        let cosine = |piece: &QuestionPiece| {
            // Most are there as they are.
            if ids.binary_search(&piece.id).is_ok() { 1.0 } else { self.nearest(piece, &ids, &lengths) }
        };
        let told = |piece: &QuestionPiece| {
            f64::from(piece.weight * ((cosine(piece) - UNRELATED) / (1.0 - UNRELATED)).clamp(0.0, 1.0))
        };
        sum_of_best(self.pieces.iter().map(told).collect())
    }

    /// Return the cosine of the nearest piece.
    fn nearest(&self, piece: &QuestionPiece, ids: &[u32], lengths: &[f32]) -> f32 {
        let products = ids.iter().map(|&id| product(&piece.row, self.encoder.row(id)) as f32);
        let cosines = products.zip(lengths).map(|(product, length)| product / (piece.length * length));
        // A row of zeros is like nothing.
        cosines.filter(|cosine| cosine.is_finite()).fold(0.0, f32::max)
    }
}

fn sum_of_best(mut told: Vec<f64>) -> f64 {
    told.sort_by(|a, b| b.total_cmp(a));
    told.iter().take(BEST).sum()
}

fn product(a: &[i16], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

fn unique(mut ids: Vec<u32>) -> Vec<u32> {
    ids.sort_unstable();
    ids.dedup();
    ids
}
