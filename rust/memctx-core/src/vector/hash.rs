//! Vectors from character trigrams, without a model.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::block_api::compress256;

use crate::text::hash_form;
use crate::{Error, Result};

/// UTF-16 units to a gram.
const GRAM: usize = 3;
const SPACE: u64 = b' ' as u64;
/// Grams whose place is remembered, in two megabytes.
const REMEMBERED: usize = 1 << 18;

/// Turns a text into a vector by hashing every three neighbouring UTF-16 units of its letters and digits.
///
/// The vectors equal those of the TypeScript original. They know spelling, not meaning.
///
/// ```
/// use memctx_core::vector::HashEmbedder;
///
/// let mut vector = [0.0; 384];
/// HashEmbedder::new(384)?.embed("abc", &mut vector);
/// assert_eq!(vector[186], -1.0);
/// # Ok::<(), memctx_core::Error>(())
/// ```
pub struct HashEmbedder {
    dim: usize,
    /// Places of grams seen before, by a hash of the gram: its three units above, place and sign in the lowest 16
    /// bits. Each entry is one word, so threads may write over each other and still read a whole one.
    memory: Box<[AtomicU64]>,
}

impl fmt::Debug for HashEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashEmbedder").field("dim", &self.dim).finish_non_exhaustive()
    }
}

impl HashEmbedder {
    /// The name stored beside vectors made with it.
    pub const NAME: &str = "hash";
    /// The longest vector: a place and its sign fit 16 bits.
    pub const MAX_DIM: usize = 1 << 15;

    /// An embedder for vectors of this length.
    pub fn new(dim: usize) -> Result<Self> {
        if dim == 0 || dim > Self::MAX_DIM {
            return Err(Error::argument("dim", "between 1 and 32768", dim.to_string()));
        }
        Ok(Self { dim, memory: (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect() })
    }

    /// The length of its vectors.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Write the vector of a text: length 1, or all zeros if nothing in the text counts.
    ///
    /// # Panics
    /// If `vector` has another length than [`HashEmbedder::dim`].
    pub fn embed(&self, text: &str, vector: &mut [f32]) {
        assert_eq!(vector.len(), self.dim, "room for one vector");
        let units = hash_form(text);
        let mut counts = vec![0_i32; self.dim];
        if units.len() <= GRAM {
            if !units.is_empty() {
                count(place(&units, self.dim), &mut counts);
            }
        } else {
            let mut gram = SPACE;
            for (at, unit) in units.iter().map(|&unit| u64::from(unit)).chain([SPACE]).enumerate() {
                gram = gram << 16 | unit;
                if at >= 1 {
                    count(self.recall(gram << 16), &mut counts);
                }
            }
        }
        let square: f64 = counts.iter().map(|&count| f64::from(count).powi(2)).sum();
        let norm = if square > 0.0 { square.sqrt() } else { 1.0 };
        for (value, &count) in vector.iter_mut().zip(&counts) {
            *value = (f64::from(count) / norm) as f32;
        }
    }

    /// The place of a gram whose three units are the upper 48 bits of the key.
    #[inline]
    fn recall(&self, key: u64) -> u16 {
        let slot = &self.memory[(key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 46) as usize % REMEMBERED];
        let entry = slot.load(Ordering::Relaxed);
        // No gram is three NULs, so an empty slot matches none.
        if entry & !0xFFFF == key {
            return entry as u16;
        }
        let place = place(&[(key >> 48) as u16, (key >> 32) as u16, (key >> 16) as u16], self.dim);
        slot.store(key | u64::from(place), Ordering::Relaxed);
        place
    }
}

#[inline]
fn count(place: u16, counts: &mut [i32]) {
    counts[usize::from(place >> 1)] += if place & 1 == 0 { 1 } else { -1 };
}

/// Where a gram counts, times two, plus one if it counts downwards.
fn place(gram: &[u16], dim: usize) -> u16 {
    let [first, second, ..] = sha256(gram);
    // The first four bytes of the digest as a little-endian number, and the lowest bit of the fifth.
    let index = first.swap_bytes() as usize % dim;
    (index << 1) as u16 | (second >> 24 & 1) as u16
}

/// The SHA-256 of a gram in UTF-8, as eight words. It always fits one block, which saves most of the usual work.
fn sha256(gram: &[u16]) -> [u32; 8] {
    const START: [u32; 8] =
        [0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19];
    let mut block = [0; 64];
    let mut length = 0;
    // Half of a surrogate pair becomes U+FFFD, as in JavaScript.
    for c in char::decode_utf16(gram.iter().copied()).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)) {
        length += c.encode_utf8(&mut block[length..]).len();
    }
    block[length] = 0x80;
    block[63] = 8 * length as u8;
    let mut state = START;
    compress256(&mut state, &[block]);
    state
}
