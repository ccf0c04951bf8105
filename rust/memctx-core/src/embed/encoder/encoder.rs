//! `Encoder`: from a text to a vector.

use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::cover::PieceQuestion;
use super::file::File;
use super::lanes;
use super::layer::{Layer, Norm, Scratch, Turns, dot};
use super::normalize::{Fold, words};
use super::unigram::Unigram;
use crate::{Error, Result};

/// Power of the length with which a text says more.
const STEEPNESS: i32 = 3;

/// A small transformer over word pieces.
///
/// ```no_run
/// use memctx_core::embed::Encoder;
///
/// let encoder = Encoder::load("encoder.safetensors".as_ref())?;
/// let mut vector = vec![0.0; encoder.dim()];
/// assert!(encoder.embed("where is the parcel?", &mut vector) > 0.5);
/// # Ok::<(), memctx_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Encoder {
    name: String,
    revision: String,
    fold: Fold,
    pieces: Unigram,
    /// The file, which is not copied: most of it is the table.
    bytes: Vec<u8>,
    /// The place of the table in it: rows of 8-bit values, one for each piece.
    table: Range<usize>,
    /// The scales of the rows.
    scales: Vec<f32>,
    /// The logarithms of how often the pieces are used.
    log_probabilities: Vec<f32>,
    dim: usize,
    layers: Vec<Layer>,
    gate_norm: Norm,
    gate: Vec<f32>,
    gate_bias: f32,
    turns: Turns,
    /// Characters of a text that count, from the first.
    max_chars: usize,
    /// Pieces that attend to each other; a longer text is cut into parts.
    max_pieces: usize,
    /// Length of the sum of a text that says something; that of small talk is shorter.
    full_norm: f32,
}

impl Encoder {
    /// Load an encoder from its file.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(Error::io(path))?;
        Self::read(bytes).map_err(|fault| Error::model(path, fault))
    }

    fn read(bytes: Vec<u8>) -> std::result::Result<Self, String> {
        let file = File::new(&bytes)?;
        let (table, rows, dim) = file.rows("table")?;
        let heads = file.number("heads")?;
        if !dim.is_multiple_of(heads * 32) {
            return Err(format!(
                "the heads of a vector of {dim} values must have a multiple of 32 each, not {heads} heads"
            ));
        }
        let scores = file.floats("scores", rows)?;
        let names: Vec<&str> = file.string("pieces")?.split('\n').collect();
        if names.len() != rows {
            return Err(format!("it has {} pieces and a table of {rows} rows", names.len()));
        }
        let max_pieces = file.number("max_pieces")?;
        let start = table.as_ptr().addr() - bytes.as_ptr().addr();
        Ok(Self {
            name: file.text("name")?.to_owned(),
            revision: format!("{:016x}", xxh3_64(&bytes)),
            fold: Fold::new(file.string("fold")?),
            pieces: Unigram::new(names.into_iter().zip(scores.iter().copied())),
            log_probabilities: scores,
            table: start..start + table.len(),
            scales: file.floats("table.scale", rows)?,
            dim,
            layers: (0..file.layers()?).map(|at| file.layer(at, dim, heads)).collect::<std::result::Result<_, _>>()?,
            gate_norm: file.norm("gate.norm", dim)?,
            gate: file.floats("gate.weight", dim)?,
            gate_bias: file.floats("gate.bias", 1)?[0],
            turns: Turns::new(max_pieces, dim / heads),
            max_chars: file.number("max_chars")?,
            max_pieces,
            full_norm: file.decimal("full_norm")?,
            bytes,
        })
    }

    /// Return the name stored beside vectors made with it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Return a number that changes with the file.
    #[must_use]
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// Return the length of its vectors.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Return the numbers of the pieces that a text is cut into.
    #[must_use]
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        self.tokens_within(text, self.max_chars)
    }

    /// Return the numbers of the pieces that so many characters of a text are cut into.
    pub(super) fn tokens_within(&self, text: &str, chars: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        for word in words(text, chars, &self.fold) {
            self.pieces.cut(&word, &mut ids);
        }
        ids
    }

    /// Write the vector of a text: length 1, or all zeros if nothing in the text counts. Return how much the text says,
    /// from 0 to 1: words that could be said of anything have short vectors, or vectors that cancel each other.
    ///
    /// # Panics
    /// If `into` has another length than [`Encoder::dim`].
    pub fn embed(&self, text: &str, into: &mut [f32]) -> f32 {
        let ids = self.tokens(text);
        let parts = ids.len().div_ceil(self.max_pieces).max(1);
        self.sum(ids.chunks(ids.len().div_ceil(parts).max(1)), into)
    }

    /// Write the vector of a query as [`Encoder::embed`] does, but of a long one only the start and the end count: what is
    /// asked stands before or after what was pasted.
    ///
    /// # Panics
    /// If `into` has another length than [`Encoder::dim`].
    pub fn embed_query(&self, text: &str, into: &mut [f32]) -> f32 {
        let ids = self.tokens_of_query(text);
        if ids.len() <= self.max_pieces {
            return self.sum([&ids[..]].into_iter(), into);
        }
        let half = self.max_pieces.div_ceil(2);
        self.sum([&ids[..half], &ids[ids.len() - half..]].into_iter(), into)
    }

    /// Return a question to compare texts with, piece by piece.
    #[must_use]
    pub fn question(&self, text: &str) -> PieceQuestion<'_> {
        PieceQuestion::new(self, text)
    }

    /// Return the numbers of the pieces of a query; of a long one those of the start and the end.
    pub(super) fn tokens_of_query(&self, text: &str) -> Vec<u32> {
        if text.chars().nth(self.max_chars).is_some() {
            let mut from_start = text.char_indices().skip(self.max_chars.div_ceil(2));
            let mut from_end = text.char_indices().rev().skip(self.max_chars.div_ceil(2) - 1);
            let (end, start) = (from_start.next().map_or(0, |(at, _)| at), from_end.next().map_or(0, |(at, _)| at));
            [self.tokens(&text[..end]), self.tokens(&text[start..])].concat()
        } else {
            self.tokens(text)
        }
    }

    /// Return the values of a piece in the table.
    pub(super) fn row(&self, id: u32) -> &[i8] {
        let table: &[i8] = bytemuck::cast_slice(&self.bytes[self.table.clone()]);
        &table[id as usize * self.dim..][..self.dim]
    }

    /// Return the length of a row of the table.
    pub(super) fn length(&self, id: u32) -> f32 {
        let squares = self.row(id).iter().map(|&value| i32::from(value) * i32::from(value));
        (squares.sum::<i32>() as f32).sqrt()
    }

    /// Return the logarithm of how often a piece is used.
    pub(super) fn log_probability(&self, id: u32) -> f32 {
        self.log_probabilities[id as usize]
    }

    fn sum<'a>(&self, parts: impl Iterator<Item = &'a [u32]>, into: &mut [f32]) -> f32 {
        assert_eq!(into.len(), self.dim, "room for one vector");
        into.fill(0.0);
        let mut scratch = Scratch::default();
        for ids in parts {
            lanes::add(self, ids, into, &mut scratch);
        }
        let norm = dot(into, into).sqrt();
        let counts = norm > 0.0 && norm.is_finite();
        for value in into {
            *value = if counts { *value / norm } else { 0.0 };
        }
        if counts { (norm / self.full_norm).min(1.0).powi(STEEPNESS) } else { 0.0 }
    }

    /// Add the weighed vectors of pieces that attend to each other.
    #[inline(always)]
    pub(super) fn add(&self, ids: &[u32], into: &mut [f32], scratch: &mut Scratch) {
        let table: &[i8] = bytemuck::cast_slice(&self.bytes[self.table.clone()]);
        let mut vectors = vec![0.0; ids.len() * self.dim];
        for (vector, &id) in vectors.chunks_exact_mut(self.dim).zip(ids) {
            let scale = self.scales[id as usize];
            for (into, &value) in vector.iter_mut().zip(&table[id as usize * self.dim..]) {
                *into = f32::from(value) * scale;
            }
        }
        for layer in &self.layers {
            layer.run(&mut vectors, &self.turns, scratch);
        }
        let mut normed = vec![0.0; self.dim];
        for vector in vectors.chunks_exact(self.dim) {
            self.gate_norm.apply(vector, &mut normed);
            let weight = 2.0 / (1.0 + (-(dot(&normed, &self.gate) + self.gate_bias)).exp());
            for (into, value) in into.iter_mut().zip(vector) {
                *into += weight * value;
            }
        }
    }
}
