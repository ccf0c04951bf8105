//! Vectors from character trigrams, without a model.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest as _, Sha256};

use crate::text::hash_form;
use crate::{Error, Result};

/// UTF-16 units to a gram.
const GRAM: usize = 3;
/// The longest vector: a place and its sign fit 16 bits.
const MAX_DIM: usize = 1 << 15;
/// Grams whose place is remembered.
const REMEMBERED: usize = 1 << 17;

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

    /// An embedder for vectors of this length.
    pub fn new(dim: usize) -> Result<Self> {
        if dim == 0 || dim > MAX_DIM {
            return Err(Error::argument("dim", "between 1 and 32768", dim.to_string()));
        }
        Ok(Self { dim, memory: (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect() })
    }

    /// The length of its vectors.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Write the vector of a text: length 1, or all zeros if the text holds no letter or digit.
    ///
    /// # Panics
    /// If `vector` has another length than [`HashEmbedder::dim`].
    pub fn embed(&self, text: &str, vector: &mut [f32]) {
        assert_eq!(vector.len(), self.dim, "room for one vector");
        let units = hash_form(text);
        let mut counts = vec![0_i32; self.dim];
        match units.len() {
            0 => {}
            1..=GRAM => self.count(&units, &mut counts),
            _ => {
                let space = [u16::from(b' ')];
                let padded = [&space, units.as_slice(), &space].concat();
                padded.windows(GRAM).for_each(|gram| self.count(gram, &mut counts));
            }
        }
        let square: f64 = counts.iter().map(|&count| f64::from(count).powi(2)).sum();
        let norm = if square > 0.0 { square.sqrt() } else { 1.0 };
        for (value, &count) in vector.iter_mut().zip(&counts) {
            *value = (f64::from(count) / norm) as f32;
        }
    }

    #[inline]
    fn count(&self, gram: &[u16], counts: &mut [i32]) {
        let place = match *gram {
            [a, b, c] => self.recall(a, b, c),
            _ => place(gram, self.dim),
        };
        counts[usize::from(place >> 1)] += if place & 1 == 0 { 1 } else { -1 };
    }

    #[inline]
    fn recall(&self, a: u16, b: u16, c: u16) -> u16 {
        let key = u64::from(a) << 48 | u64::from(b) << 32 | u64::from(c) << 16;
        let slot = &self.memory[(key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 47) as usize % REMEMBERED];
        let entry = slot.load(Ordering::Relaxed);
        // No gram is three NULs, so an empty slot matches none.
        if entry & !0xFFFF == key {
            return entry as u16;
        }
        let place = place(&[a, b, c], self.dim);
        slot.store(key | u64::from(place), Ordering::Relaxed);
        place
    }
}

/// Where a gram counts, times two, plus one if it counts downwards.
fn place(gram: &[u16], dim: usize) -> u16 {
    // Half of a surrogate pair becomes U+FFFD, as in JavaScript.
    let digest = Sha256::digest(String::from_utf16_lossy(gram).as_bytes());
    let index = u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]]) as usize % dim;
    (index << 1) as u16 | u16::from(digest[4] & 1)
}
