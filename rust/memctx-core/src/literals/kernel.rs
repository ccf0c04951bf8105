//! Inner loop of the filter: all positions of a block at once.
//!
//! The `unsafe` code here uses instructions that not every processor has. [`Kernel::pick`] hands out a kernel only
//! after asking the processor for them, and the portable implementation is what tests compare with.
#![allow(unsafe_code)]

use super::window::LONGEST;

/// Places that become one word of bits.
pub(super) const BLOCK: usize = 64;

/// Tables that are looked up one after the other.
pub(super) const SETS: usize = 4;

/// For each byte of a window, by its lower and by its upper half, the groups that admit it.
#[derive(Clone, Copy, Default)]
pub(super) struct Tables(pub(super) [([u8; 16], [u8; 16]); LONGEST]);

/// A way to look at blocks.
#[derive(Clone, Copy)]
pub(super) struct Kernel {
    /// Adds the bits of its tables. SAFETY: to be called only on a processor that has what the kernel needs, with as
    /// much text as it reads.
    run: unsafe fn(tables: &Tables, text: &[u8], found: &mut [u64]),
}

impl Kernel {
    /// Return the fastest that this processor can run.
    pub(super) fn pick() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            return Self { run: x86::avx2 };
        }
        #[cfg(target_arch = "aarch64")]
        return Self { run: arm::neon };
        #[cfg(not(target_arch = "aarch64"))]
        Self { run: portable }
    }

    /// Compute for each block of the text a word whose bits mark the positions at which some group admits all bytes.
    pub(super) fn run(self, sets: &[Tables; SETS], text: &[u8], found: &mut [u64]) {
        assert!(text.len() >= found.len() * BLOCK + LONGEST - 1, "each block and the bytes behind it");
        found.fill(0);
        for tables in sets {
            // SAFETY: `pick` gives a kernel only if the processor has its instructions, and there is text enough.
            unsafe { (self.run)(tables, text, found) }
        }
    }
}

#[cfg(any(test, not(target_arch = "aarch64")))]
fn portable(tables: &Tables, text: &[u8], found: &mut [u64]) {
    let whole = tables.0.map(|(low, high)| std::array::from_fn::<u8, 256, _>(|byte| low[byte & 0xF] & high[byte >> 4]));
    let [first, second, third] = &whole;
    for (block, bits) in found.iter_mut().enumerate() {
        let text = &text[block * BLOCK..][..BLOCK + LONGEST - 1];
        *bits |= (0..BLOCK).fold(0, |bits, at| {
            let groups = first[text[at] as usize] & second[text[at + 1] as usize] & third[text[at + 2] as usize];
            bits | u64::from(groups != 0) << at
        });
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_loadu_si128, _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
        _mm256_srli_epi16,
    };

    use super::{BLOCK, LONGEST, Tables};

    const LANES: usize = 32;

    #[allow(clippy::cast_ptr_alignment)] // the loads need no alignment
    /// SAFETY: needs AVX2, and `LONGEST - 1` bytes of text behind the last block.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn avx2(tables: &Tables, text: &[u8], found: &mut [u64]) {
        let half = _mm256_set1_epi8(0xF);
        let tables = tables.0.map(|(low, high)| (twice(&low), twice(&high)));
        for (block, bits) in found.iter_mut().enumerate() {
            for part in 0..BLOCK / LANES {
                let start = block * BLOCK + part * LANES;
                let mut groups = _mm256_set1_epi8(-1);
                for (position, (low, high)) in tables.iter().enumerate() {
                    debug_assert!(start + position + LANES <= text.len() && position < LONGEST);
                    // SAFETY: the caller has so much text.
                    let bytes = unsafe { _mm256_loadu_si256(text.as_ptr().add(start + position).cast::<__m256i>()) };
                    let lower = _mm256_and_si256(bytes, half);
                    let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), half);
                    groups = _mm256_and_si256(groups, _mm256_shuffle_epi8(*low, lower));
                    groups = _mm256_and_si256(groups, _mm256_shuffle_epi8(*high, upper));
                }
                let none = _mm256_movemask_epi8(_mm256_cmpeq_epi8(groups, _mm256_setzero_si256()));
                *bits |= u64::from(!none.cast_unsigned()) << (part * LANES);
            }
        }
    }

    #[allow(clippy::cast_ptr_alignment)] // nor does this one
    #[target_feature(enable = "avx2")]
    fn twice(table: &[u8; 16]) -> __m256i {
        // SAFETY: the table has 16 bytes.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().cast::<__m128i>()) })
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::aarch64::{
        vaddv_u8, vand_u8, vandq_u8, vdupq_n_u8, vget_high_u8, vget_low_u8, vld1_u8, vld1q_u8, vqtbl1q_u8, vshrq_n_u8,
        vtstq_u8,
    };

    use super::{BLOCK, LONGEST, Tables};

    const LANES: usize = 16;
    const BITS: [u8; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

    /// SAFETY: needs `LONGEST - 1` bytes of text behind the last block. Every processor of this kind has NEON.
    pub(super) unsafe fn neon(tables: &Tables, text: &[u8], found: &mut [u64]) {
        // SAFETY: the tables have 16 bytes each, and there are eight bits.
        let (tables, weights) = unsafe {
            (tables.0.map(|(low, high)| (vld1q_u8(low.as_ptr()), vld1q_u8(high.as_ptr()))), vld1_u8(BITS.as_ptr()))
        };
        for (block, bits) in found.iter_mut().enumerate() {
            for part in 0..BLOCK / LANES {
                let start = block * BLOCK + part * LANES;
                debug_assert!(start + LONGEST - 1 + LANES <= text.len());
                // SAFETY: the caller has so much text.
                let some = unsafe {
                    let mut groups = vdupq_n_u8(u8::MAX);
                    for (position, (low, high)) in tables.iter().enumerate() {
                        let bytes = vld1q_u8(text.as_ptr().add(start + position));
                        groups = vandq_u8(groups, vqtbl1q_u8(*low, vandq_u8(bytes, vdupq_n_u8(0xF))));
                        groups = vandq_u8(groups, vqtbl1q_u8(*high, vshrq_n_u8::<4>(bytes)));
                    }
                    let some = vtstq_u8(groups, groups);
                    let lower = vaddv_u8(vand_u8(vget_low_u8(some), weights));
                    let upper = vaddv_u8(vand_u8(vget_high_u8(some), weights));
                    u64::from(lower) | u64::from(upper) << 8
                };
                *bits |= some << (part * LANES);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn kernels_agree(
            bytes in prop::collection::vec(any::<u8>(), 32 * LONGEST * SETS),
            sparse in any::<bool>(),
            text in prop::collection::vec(any::<u8>(), 3 * BLOCK + LONGEST - 1..5 * BLOCK),
        ) {
            let mut sets = [Tables::default(); SETS];
            for ((low, high), bytes) in sets.iter_mut().flat_map(|set| &mut set.0).zip(bytes.chunks_exact(32)) {
                low.copy_from_slice(&bytes[..16]);
                high.copy_from_slice(&bytes[16..]);
                if sparse {
                    low.iter_mut().zip(&bytes[1..]).for_each(|(group, byte)| *group &= byte);
                }
            }
            let (mut wanted, mut found) = ([0; 3], [0; 3]);
            Kernel { run: portable }.run(&sets, &text, &mut wanted);
            Kernel::pick().run(&sets, &text, &mut found);
            prop_assert_eq!(found, wanted);
        }
    }
}
