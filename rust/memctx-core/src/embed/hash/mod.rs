//! Hash embedder: vectors from character trigrams, without a model.

mod ascii_memory;
mod gram_memory;

use std::fmt;
use std::hint::select_unpredictable;

use sha2::block_api::compress256;

use crate::text::hash_form;
use crate::{Error, Result};
use ascii_memory::{AsciiMemory, Spelling};
use gram_memory::{Gram, GramMemory};

/// UTF-16 units to a gram.
const GRAM: usize = 3;
/// Grams that are looked for at once: enough for the first to be there when the last was asked for, and few enough to
/// stay in the processor's first cache.
const BATCH: usize = 256;

/// Turns a text into a vector by hashing every three neighboring UTF-16 units of its letters and digits.
///
/// The vectors equal those of OpenClaw's `memory-context`. They know spelling, not meaning.
///
/// ```
/// use memctx_core::embed::HashEmbedder;
///
/// let mut vector = [0.0; 384];
/// HashEmbedder::new(384)?.embed("abc", &mut vector);
/// assert_eq!(vector[186], -1.0);
/// # Ok::<(), memctx_core::Error>(())
/// ```
pub struct HashEmbedder {
    dim: usize,
    ascii: AsciiMemory,
    memory: GramMemory,
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

    /// Create an embedder for vectors of this length.
    pub fn new(dim: usize) -> Result<Self> {
        if dim == 0 || dim > Self::MAX_DIM {
            return Err(Error::argument("dim", "between 1 and 32768", dim.to_string()));
        }
        Ok(Self { dim, ascii: AsciiMemory::new(), memory: GramMemory::new() })
    }

    /// Return the length of its vectors.
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
        // A text of no more units than a gram is one gram, without the spaces around it.
        match &units[1..units.len() - 1] {
            [] => {}
            short if short.len() <= GRAM => count(bucket(short, self.dim), &mut counts),
            _ => self.count_all(&units, &mut counts),
        }
        let square: i64 = counts.iter().map(|&count| i64::from(count).pow(2)).sum();
        let norm = if square > 0 { (square as f64).sqrt() } else { 1.0 };
        for (value, &count) in vector.iter_mut().zip(&counts) {
            *value = (f64::from(count) / norm) as f32;
        }
    }

    /// Count every gram of more units than one gram has.
    fn count_all(&self, units: &[u16], counts: &mut [i32]) {
        let mut units = units;
        while units.len() >= GRAM {
            let batch = &units[..units.len().min(BATCH + GRAM - 1)];
            if batch.iter().fold(0, |seen, unit| seen | unit) < 0x80 {
                self.count_ascii(batch, counts);
            } else {
                self.count_any(batch, counts);
            }
            units = &units[batch.len() - (GRAM - 1)..];
        }
    }

    /// Count the grams of a batch of ASCII.
    fn count_ascii(&self, units: &[u16], counts: &mut [i32]) {
        let (first, rest) = units.split_at(GRAM - 1);
        let mut spelling = first.iter().fold(Spelling::default(), |spelling, &unit| spelling.then(unit));
        for (start, &unit) in rest.iter().enumerate() {
            spelling = spelling.then(unit);
            let bucket = self.ascii.find(spelling).unwrap_or_else(|| {
                let bucket = bucket(&units[start..start + GRAM], self.dim);
                self.ascii.keep(spelling, bucket);
                bucket
            });
            count(bucket, counts);
        }
    }

    /// Count the grams of any batch.
    fn count_any(&self, units: &[u16], counts: &mut [i32]) {
        let mut grams = [0; BATCH];
        let mut unknown = [0; BATCH];
        let (first, rest) = units.split_at(GRAM - 1);
        let mut gram = first.iter().fold(0, |gram, &unit| next_gram(gram, unit));
        for (bucket, &unit) in grams.iter_mut().zip(rest) {
            gram = next_gram(gram, unit);
            self.memory.prepare(gram);
            *bucket = gram;
        }
        let mut missing = 0;
        for &gram in &grams[..rest.len()] {
            let found = self.memory.find(gram);
            let is_known = u16::try_from(found).is_ok();
            let bucket = select_unpredictable(is_known, found as u16, 0);
            counts[usize::from(bucket >> 1)] += direction(bucket) * i32::from(is_known);
            unknown[missing % BATCH] = gram;
            missing += usize::from(!is_known);
        }
        // Nothing comes between the hashes, so that the processor works on several at a time.
        for &gram in &unknown[..missing] {
            let bucket = bucket(&[(gram >> 48) as u16, (gram >> 32) as u16, (gram >> 16) as u16], self.dim);
            self.memory.keep(gram, bucket);
            count(bucket, counts);
        }
    }
}

/// Return the gram of the last units of this one and the next unit.
#[inline]
fn next_gram(gram: Gram, unit: u16) -> Gram {
    (gram | u64::from(unit)) << 16
}

/// Return whether a gram counts up or down.
#[inline]
fn direction(bucket: u16) -> i32 {
    1 - 2 * i32::from(bucket & 1)
}

#[inline]
fn count(bucket: u16, counts: &mut [i32]) {
    counts[usize::from(bucket >> 1)] += direction(bucket);
}

/// Return the bucket of a gram, times two, plus one if it counts downwards.
fn bucket(gram: &[u16], dim: usize) -> u16 {
    let [first, second, ..] = sha256(gram);
    // The first four bytes of the digest as a little-endian number, and the lowest bit of the fifth.
    let index = first.swap_bytes() % dim as u32;
    (index << 1) as u16 | (second >> 24 & 1) as u16
}

/// Return the SHA-256 of a gram in UTF-8, as eight words. It always fits one block, which saves most of the usual work.
fn sha256(gram: &[u16]) -> [u32; 8] {
    const START: [u32; 8] =
        [0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19];
    let (bytes, bits) = utf8(gram);
    // A one behind the text, and at the end of the block how long the text is.
    let mut block = [0; 64];
    block[..16].copy_from_slice(&((bytes << 8 | 0x80) << (u128::BITS - 8 - bits)).to_be_bytes());
    block[63] = bits as u8;
    let mut state = START;
    compress256(&mut state, &[block]);
    state
}

/// Return a gram in UTF-8 as one number, and how many bits it takes; 96 at most.
fn utf8(gram: &[u16]) -> (u128, u32) {
    if gram.iter().any(|unit| matches!(unit, 0xD800..0xE000)) {
        return utf8_of_halves(gram);
    }
    gram.iter().fold((0, 0), |(bytes, bits), &unit| {
        let (low, middle, high) = (u32::from(unit & 0x3F), u32::from(unit >> 6 & 0x3F), u32::from(unit >> 12));
        let (encoded, length) = match unit {
            0..0x80 => (u32::from(unit), 8),
            0x80..0x800 => (0xC080 | u32::from(unit >> 6) << 8 | low, 16),
            _ => (0xE0_8080 | high << 16 | middle << 8 | low, 24),
        };
        (bytes << length | u128::from(encoded), bits + length)
    })
}

/// Return any gram in UTF-8. Half of a surrogate pair becomes U+FFFD, as in JavaScript.
#[cold]
fn utf8_of_halves(gram: &[u16]) -> (u128, u32) {
    char::decode_utf16(gram.iter().copied()).fold((0, 0), |number, c| {
        let mut room = [0; 4];
        let encoded = c.unwrap_or(char::REPLACEMENT_CHARACTER).encode_utf8(&mut room);
        encoded.bytes().fold(number, |(bytes, bits), byte| (bytes << 8 | u128::from(byte), bits + 8))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ways_to_encode_agree(
            gram in prop::collection::vec(prop_oneof![0..0x80_u16, 0x80..0x800_u16, 0x800..0xD800_u16, any::<u16>()], 1..=GRAM),
        ) {
            prop_assert_eq!(utf8(&gram), utf8_of_halves(&gram));
        }

        #[test]
        fn cached_grams_do_not_change_vectors(texts in prop::collection::vec("[a-zA-Z 飞书消息😀é.]{0,400}", 1..8)) {
            let embedder = HashEmbedder::new(97).expect("allowed");
            let mut vector = vec![0.0; 97];
            for text in texts.iter().chain(&texts) {
                embedder.embed(text, &mut vector);
                let mut counts = vec![0; 97];
                let units = hash_form(text);
                match &units[1..units.len() - 1] {
                    [] => {}
                    short if short.len() <= GRAM => count(bucket(short, 97), &mut counts),
                    _ => units.windows(GRAM).for_each(|gram| count(bucket(gram, 97), &mut counts)),
                }
                let norm = counts.iter().map(|&count| f64::from(count).powi(2)).sum::<f64>().sqrt().max(1.0);
                prop_assert_eq!(&vector, &counts.iter().map(|&count| (f64::from(count) / norm) as f32).collect::<Vec<_>>());
            }
        }
    }
}
