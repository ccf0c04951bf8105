//! The inner loop of a scan of sign codes: sums of table entries for 64 rows at a time.
//!
//! Like the other kernels of vectors: each uses instructions that not every processor has, and is handed out only after
//! asking the processor for them. The portable implementation is what tests compare with.
#![allow(unsafe_code)]

/// Rows whose codes lie together.
pub(crate) const GROUP: usize = 64;
/// Bytes of the tables that a byte of a code is looked up in: 16 entries for each half of it.
pub(super) const TABLES: usize = 32;
/// Highest entry of a table, so that the entries of [`TOGETHER`] bytes fit a byte.
pub(super) const HIGHEST: u8 = 15;
/// Bytes of a code whose entries are added before the sum is widened.
const TOGETHER: usize = 8;
/// Bytes by which codes are fetched ahead. The processor itself looks no further than the end of a page.
const AHEAD: usize = 2048;

/// Fetch what is scored next. Behind the last code it may be anything.
#[allow(clippy::inline_always)] // one instruction
#[inline(always)]
fn fetch_ahead(codes: &[u8]) {
    crate::prefetch(codes.as_ptr().wrapping_add(AHEAD));
}

/// Sums to scores: `base + factor * (step * sum + least)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Affine {
    pub(super) base: f32,
    pub(super) step: f32,
    pub(super) least: f32,
}

/// A way to score the rows of a group.
#[derive(Clone, Copy)]
pub(super) struct Kernel {
    name: &'static str,
    /// SAFETY: to be called only on a processor that has what the kernel needs, with a group for each table.
    run: unsafe fn(codes: &[u8], tables: &[u8], sums: &mut Finish<'_>) -> bool,
}

/// Treatment of the sums of a group.
pub(super) struct Finish<'a> {
    pub(super) line: Affine,
    pub(super) factors: &'a [f32; GROUP],
    pub(super) floor: f32,
    pub(super) scores: &'a mut [f32; GROUP],
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Kernel").field(&self.name).finish()
    }
}

impl Kernel {
    /// Return the fastest that this processor can run.
    pub(super) fn pick() -> Self {
        Self::available()[0]
    }

    /// Return all that this processor can run, the fastest first.
    pub(super) fn available() -> Vec<Self> {
        let mut kernels = native();
        kernels.push(Self { name: "portable", run: portable });
        kernels
    }

    /// Score the rows of a group; true if one of them is above the floor.
    ///
    /// `codes` has one byte of each row behind the other for every pair of tables. Byte `b` of them is of row `b / 2`, and of
    /// 32 rows further on if `b` is odd.
    pub(super) fn score(self, codes: &[u8], tables: &[u8], finish: &mut Finish<'_>) -> bool {
        assert_eq!(codes.len() * TABLES, tables.len() * GROUP, "a pair of tables for each byte of a code");
        // SAFETY: `available` lists a kernel only if the processor has its instructions.
        unsafe { (self.run)(codes, tables, finish) }
    }
}

impl Finish<'_> {
    /// Turn sums into scores. Compiled once for every set of instructions; the operations are those of the source.
    #[allow(clippy::inline_always)] // to be compiled for the instructions of its caller
    #[inline(always)]
    fn take(&mut self, sums: &[u16; GROUP]) -> bool {
        let Affine { base, step, least } = self.line;
        let mut is_above = false;
        for ((score, &sum), &factor) in self.scores.iter_mut().zip(sums).zip(self.factors) {
            *score = base + factor * (step * f32::from(sum) + least);
            is_above |= *score > self.floor;
        }
        is_above
    }
}

fn portable(codes: &[u8], tables: &[u8], finish: &mut Finish<'_>) -> bool {
    let mut sums = [0_u16; GROUP];
    for (bytes, tables) in codes.chunks_exact(GROUP).zip(tables.chunks_exact(TABLES)) {
        for (at, &byte) in bytes.iter().enumerate() {
            let (low, high) = (tables[usize::from(byte & 15)], tables[16 + usize::from(byte >> 4)]);
            sums[at / 2 + at % 2 * (GROUP / 2)] += u16::from(low) + u16::from(high);
        }
    }
    finish.take(&sums)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn native() -> Vec<Kernel> {
    Vec::new()
}

#[cfg(target_arch = "x86_64")]
use x86::native;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Finish, GROUP, Kernel, TABLES, TOGETHER, fetch_ahead};
    use std::arch::x86_64::{
        __m256i, __m512i, _mm_loadu_si128, _mm256_add_epi8, _mm256_add_epi16, _mm256_and_si256,
        _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_setzero_si256,
        _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_storeu_si256, _mm512_add_epi8, _mm512_add_epi16,
        _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_loadu_si512, _mm512_set1_epi8, _mm512_set1_epi16,
        _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_srli_epi16, _mm512_storeu_si512,
    };

    pub(super) fn native() -> Vec<Kernel> {
        let mut kernels = Vec::new();
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
            kernels.push(Kernel { name: "avx512", run: avx512 });
        }
        if is_x86_feature_detected!("avx2") {
            kernels.push(Kernel { name: "avx2", run: avx2 });
        }
        kernels
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    fn avx512(codes: &[u8], tables: &[u8], finish: &mut Finish<'_>) -> bool {
        let (low, even) = (_mm512_set1_epi8(15), _mm512_set1_epi16(255));
        let mut sums = [_mm512_setzero_si512(); 2];
        for (codes, tables) in codes.chunks(TOGETHER * GROUP).zip(tables.chunks(TOGETHER * TABLES)) {
            let mut bytes = _mm512_setzero_si512();
            for (codes, tables) in codes.chunks_exact(GROUP).zip(tables.chunks_exact(TABLES)) {
                fetch_ahead(codes);
                // SAFETY: the slice has 64 bytes.
                let code = unsafe { _mm512_loadu_si512(codes.as_ptr().cast()) };
                let here = _mm512_shuffle_epi8(table512(&tables[..16]), _mm512_and_si512(code, low));
                let there = _mm512_and_si512(_mm512_srli_epi16::<4>(code), low);
                let there = _mm512_shuffle_epi8(table512(&tables[16..]), there);
                bytes = _mm512_add_epi8(bytes, _mm512_add_epi8(here, there));
            }
            sums[0] = _mm512_add_epi16(sums[0], _mm512_and_si512(bytes, even));
            sums[1] = _mm512_add_epi16(sums[1], _mm512_srli_epi16::<8>(bytes));
        }
        let mut all = [0; GROUP];
        for (half, sum) in all.chunks_exact_mut(GROUP / 2).zip(sums) {
            // SAFETY: the slice has 32 numbers of two bytes.
            unsafe { _mm512_storeu_si512(half.as_mut_ptr().cast(), sum) };
        }
        finish.take(&all)
    }

    #[target_feature(enable = "avx512f")]
    fn table512(table: &[u8]) -> __m512i {
        // SAFETY: the slice has 16 bytes.
        _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(table[..16].as_ptr().cast()) })
    }

    #[target_feature(enable = "avx2")]
    fn avx2(codes: &[u8], tables: &[u8], finish: &mut Finish<'_>) -> bool {
        let (low, even) = (_mm256_set1_epi8(15), _mm256_set1_epi16(255));
        let mut sums = [_mm256_setzero_si256(); 4];
        for (codes, tables) in codes.chunks(TOGETHER * GROUP).zip(tables.chunks(TOGETHER * TABLES)) {
            let mut bytes = [_mm256_setzero_si256(); 2];
            for (codes, tables) in codes.chunks_exact(GROUP).zip(tables.chunks_exact(TABLES)) {
                fetch_ahead(codes);
                let (here, there) = (table256(&tables[..16]), table256(&tables[16..]));
                for (half, bytes) in codes.chunks_exact(32).zip(&mut bytes) {
                    // SAFETY: the slice has 32 bytes.
                    let code = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
                    let here = _mm256_shuffle_epi8(here, _mm256_and_si256(code, low));
                    let there = _mm256_shuffle_epi8(there, _mm256_and_si256(_mm256_srli_epi16::<4>(code), low));
                    *bytes = _mm256_add_epi8(*bytes, _mm256_add_epi8(here, there));
                }
            }
            for (half, bytes) in bytes.into_iter().enumerate() {
                sums[half] = _mm256_add_epi16(sums[half], _mm256_and_si256(bytes, even));
                sums[half + 2] = _mm256_add_epi16(sums[half + 2], _mm256_srli_epi16::<8>(bytes));
            }
        }
        let mut all = [0; GROUP];
        for (quarter, sum) in all.chunks_exact_mut(GROUP / 4).zip(sums) {
            // SAFETY: the slice has 16 numbers of two bytes.
            unsafe { _mm256_storeu_si256(quarter.as_mut_ptr().cast(), sum) };
        }
        finish.take(&all)
    }

    #[target_feature(enable = "avx2")]
    fn table256(table: &[u8]) -> __m256i {
        // SAFETY: the slice has 16 bytes.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table[..16].as_ptr().cast()) })
    }
}

#[cfg(target_arch = "aarch64")]
use arm::native;

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::{Finish, GROUP, Kernel, TABLES, TOGETHER, fetch_ahead};
    use std::arch::aarch64::{
        uint8x16_t, vaddq_u8, vaddq_u16, vandq_u8, vandq_u16, vdupq_n_u8, vdupq_n_u16, vld1q_u8, vqtbl1q_u8,
        vreinterpretq_u16_u8, vshrq_n_u8, vshrq_n_u16, vst1q_u16,
    };

    pub(super) fn native() -> Vec<Kernel> {
        vec![Kernel { name: "neon", run: neon }]
    }

    #[target_feature(enable = "neon")]
    fn neon(codes: &[u8], tables: &[u8], finish: &mut Finish<'_>) -> bool {
        let (low, even) = (vdupq_n_u8(15), vdupq_n_u16(255));
        let mut sums = [vdupq_n_u16(0); 8];
        for (codes, tables) in codes.chunks(TOGETHER * GROUP).zip(tables.chunks(TOGETHER * TABLES)) {
            let mut bytes = [vdupq_n_u8(0); 4];
            for (codes, tables) in codes.chunks_exact(GROUP).zip(tables.chunks_exact(TABLES)) {
                fetch_ahead(codes);
                let (here, there) = (load(&tables[..16]), load(&tables[16..]));
                for (quarter, bytes) in codes.chunks_exact(16).zip(&mut bytes) {
                    let code = load(quarter);
                    let here = vqtbl1q_u8(here, vandq_u8(code, low));
                    let there = vqtbl1q_u8(there, vshrq_n_u8::<4>(code));
                    *bytes = vaddq_u8(*bytes, vaddq_u8(here, there));
                }
            }
            for (quarter, bytes) in bytes.into_iter().enumerate() {
                let pairs = vreinterpretq_u16_u8(bytes);
                sums[quarter] = vaddq_u16(sums[quarter], vandq_u16(pairs, even));
                sums[quarter + 4] = vaddq_u16(sums[quarter + 4], vshrq_n_u16::<8>(pairs));
            }
        }
        let mut all = [0; GROUP];
        for (eighth, sum) in all.chunks_exact_mut(GROUP / 8).zip(sums) {
            // SAFETY: the slice has 8 numbers of two bytes.
            unsafe { vst1q_u16(eighth.as_mut_ptr(), sum) };
        }
        finish.take(&all)
    }

    #[target_feature(enable = "neon")]
    fn load(bytes: &[u8]) -> uint8x16_t {
        // SAFETY: the slice has 16 bytes.
        unsafe { vld1q_u8(bytes[..16].as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_kernel_equals_the_portable_one(
            width in 1..70_usize, seed in any::<u64>(), line in prop::array::uniform3(-2.0..2.0_f32), floor in -9.0..9.0_f32,
        ) {
            let mut state = seed | 1;
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            };
            let codes: Vec<u8> = (0..width * GROUP).map(|_| next()).collect();
            let tables: Vec<u8> = (0..width * TABLES).map(|_| if next() < 60 { HIGHEST } else { next() % 16 }).collect();
            let mut factors = [0.0; GROUP];
            for factor in &mut factors {
                *factor = if next() < 9 { f32::NAN } else { f32::from(next()) / 255.0 };
            }
            let line = Affine { base: line[0], step: line[1], least: line[2] };
            let run = |kernel: Kernel| {
                let mut scores = [0.0; GROUP];
                let finish = &mut Finish { line, factors: &factors, floor, scores: &mut scores };
                let is_above = kernel.score(&codes, &tables, finish);
                (is_above, scores.map(f32::to_bits))
            };
            let kernels = Kernel::available();
            let expected = run(kernels[kernels.len() - 1]);
            prop_assert_eq!(expected.0, expected.1.iter().any(|&score| f32::from_bits(score) > floor));
            for kernel in kernels {
                prop_assert_eq!(run(kernel), expected, "{:?}", kernel);
            }
        }
    }
}
