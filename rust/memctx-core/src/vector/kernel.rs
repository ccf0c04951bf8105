//! The inner loops of vector search: products of 8-bit rows with an 8-bit query, and of two vectors in full.
//!
//! Most `unsafe` code of vectors is in this file: each kernel uses instructions that not every processor has.
//! [`Kernel::pick`] hands out a kernel only after asking the processor for them, and the portable implementation is
//! what tests compare with.
#![allow(unsafe_code)]

/// Values to a line.
pub(crate) const LANES: usize = 64;

/// Part of a row: as many values as a cache line has bytes, aligned to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [i8; LANES]);

impl Line {
    pub(crate) const ZERO: Self = Self([0; LANES]);
}

/// A way to multiply rows with a query.
///
/// `rows` holds one row of `query.len()` lines for each value of `out`, which receives the products. No sum of
/// 1024 lines overflows, since a value is at most 127 in size.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    name: &'static str,
    /// SAFETY: to be called only on a processor that has what the kernel needs.
    run: unsafe fn(query: &[Line], rows: &[Line], out: &mut [i32]),
    /// The same for rows that begin at some of the lines. SAFETY: likewise.
    run_some: RunSome,
}

type RunSome = unsafe fn(query: &[Line], lines: &[Line], starts: &[usize], out: &mut [i32]);

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Kernel").field(&self.name).finish()
    }
}

impl Kernel {
    /// Return the fastest that this processor can run.
    pub(crate) fn pick() -> Self {
        Self::available()[0]
    }

    /// Return all that this processor can run, the fastest first.
    pub(crate) fn available() -> Vec<Self> {
        let mut kernels = native();
        kernels.push(Self { name: "portable", run: portable, run_some: portable_some });
        kernels
    }

    /// Products of the query with each row.
    pub(crate) fn products(self, query: &[Line], rows: &[Line], out: &mut [i32]) {
        assert_eq!(rows.len(), query.len() * out.len(), "one row of the query's length for each product");
        // SAFETY: `available` lists a kernel only if the processor has its instructions.
        unsafe { (self.run)(query, rows, out) }
    }

    /// Products of the query with as many lines from each of the places on.
    pub(crate) fn some_products(self, query: &[Line], lines: &[Line], starts: &[usize], out: &mut [i32]) {
        assert_eq!(starts.len(), out.len(), "one place for each product");
        // SAFETY: likewise.
        unsafe { (self.run_some)(query, lines, starts, out) }
    }
}

/// Return `count` lines from each of the starts.
fn picked<'a>(lines: &'a [Line], starts: &'a [usize], count: usize) -> impl Iterator<Item = &'a [Line]> {
    starts.iter().map(move |&start| &lines[start..][..count])
}

fn portable(query: &[Line], rows: &[Line], out: &mut [i32]) {
    portable_each(query, rows.chunks_exact(query.len()), out);
}

fn portable_some(query: &[Line], lines: &[Line], starts: &[usize], out: &mut [i32]) {
    portable_each(query, picked(lines, starts, query.len()), out);
}

fn portable_each<'a>(query: &[Line], rows: impl Iterator<Item = &'a [Line]>, out: &mut [i32]) {
    for (row, product) in rows.zip(out) {
        *product = row.iter().zip(query).map(|(a, b)| line_product(a, b)).sum();
    }
}

/// Return the product of two vectors of the same length, in double precision: the same bits on every processor.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has been asked.
            return unsafe { x86::dot_avx512(a, b) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has been asked.
            return unsafe { x86::dot_avx2(a, b) };
        }
    }
    dot_portable(a, b)
}

/// Compiled once for every set of instructions; the sums and their order are those of the source.
#[inline(always)]
fn dot_portable(a: &[f32], b: &[f32]) -> f64 {
    // Independent sums let the compiler use vector registers.
    const SUMS: usize = 32;
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

fn line_product(a: &Line, b: &Line) -> i32 {
    a.0.iter().zip(&b.0).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn native() -> Vec<Kernel> {
    Vec::new()
}

#[cfg(target_arch = "x86_64")]
use x86::native;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Kernel, Line, picked};
    use std::arch::x86_64::{
        __m128i, __m512i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_load_si128, _mm_shuffle_epi32, _mm_unpackhi_epi64,
        _mm256_add_epi32, _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_madd_epi16,
        _mm256_setzero_si256, _mm512_dpbusd_epi32, _mm512_load_si512, _mm512_reduce_add_epi32, _mm512_set1_epi8,
        _mm512_setzero_si512, _mm512_xor_si512,
    };

    pub(super) fn native() -> Vec<Kernel> {
        let mut kernels = Vec::new();
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vnni")
        {
            kernels.push(Kernel { name: "avx512-vnni", run: avx512_vnni, run_some: avx512_vnni_some });
        }
        if is_x86_feature_detected!("avx2") {
            kernels.push(Kernel { name: "avx2", run: avx2, run_some: avx2_some });
        }
        kernels
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn dot_avx512(a: &[f32], b: &[f32]) -> f64 {
        super::dot_portable(a, b)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn dot_avx2(a: &[f32], b: &[f32]) -> f64 {
        super::dot_portable(a, b)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn avx512_vnni(query: &[Line], rows: &[Line], out: &mut [i32]) {
        avx512_vnni_each(query, rows.chunks_exact(query.len()), out);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn avx512_vnni_some(query: &[Line], lines: &[Line], starts: &[usize], out: &mut [i32]) {
        avx512_vnni_each(query, picked(lines, starts, query.len()), out);
    }

    /// The instruction multiplies unsigned with signed bytes. Flipping the sign bit of a row's values adds 128 to each,
    /// and 128 times the sum of the query is taken off at the end.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    #[inline]
    fn avx512_vnni_each<'a>(query: &[Line], rows: impl Iterator<Item = &'a [Line]>, out: &mut [i32]) {
        let flip = _mm512_set1_epi8(i8::MIN);
        // The flipped bit by itself is 128.
        let excess = query.iter().fold(_mm512_setzero_si512(), |sum, line| _mm512_dpbusd_epi32(sum, flip, load(line)));
        let excess = _mm512_reduce_add_epi32(excess);
        for (row, product) in rows.zip(out) {
            let mut even = _mm512_setzero_si512();
            let mut odd = _mm512_setzero_si512();
            let mut lines = row.chunks_exact(2).zip(query.chunks_exact(2));
            for (pair, factors) in &mut lines {
                even = _mm512_dpbusd_epi32(even, _mm512_xor_si512(load(&pair[0]), flip), load(&factors[0]));
                odd = _mm512_dpbusd_epi32(odd, _mm512_xor_si512(load(&pair[1]), flip), load(&factors[1]));
            }
            if let (Some(last), Some(factor), true) = (row.last(), query.last(), query.len() % 2 == 1) {
                even = _mm512_dpbusd_epi32(even, _mm512_xor_si512(load(last), flip), load(factor));
            }
            *product = _mm512_reduce_add_epi32(even).wrapping_add(_mm512_reduce_add_epi32(odd)).wrapping_sub(excess);
        }
    }

    #[target_feature(enable = "avx512f")]
    fn load(line: &Line) -> __m512i {
        // SAFETY: a line is 64 bytes long and aligned to 64.
        unsafe { _mm512_load_si512(std::ptr::from_ref(line).cast()) }
    }

    #[target_feature(enable = "avx2")]
    fn avx2(query: &[Line], rows: &[Line], out: &mut [i32]) {
        avx2_each(query, rows.chunks_exact(query.len()), out);
    }

    #[target_feature(enable = "avx2")]
    fn avx2_some(query: &[Line], lines: &[Line], starts: &[usize], out: &mut [i32]) {
        avx2_each(query, picked(lines, starts, query.len()), out);
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn avx2_each<'a>(query: &[Line], rows: impl Iterator<Item = &'a [Line]>, out: &mut [i32]) {
        for (row, product) in rows.zip(out) {
            let mut sum = _mm256_setzero_si256();
            for (a, b) in row.iter().zip(query) {
                for quarter in 0..4 {
                    let a = _mm256_cvtepi8_epi16(load_quarter(a, quarter));
                    let b = _mm256_cvtepi8_epi16(load_quarter(b, quarter));
                    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
                }
            }
            let half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
            let quarter = _mm_add_epi32(half, _mm_unpackhi_epi64(half, half));
            *product = _mm_cvtsi128_si32(_mm_add_epi32(quarter, _mm_shuffle_epi32::<1>(quarter)));
        }
    }

    #[target_feature(enable = "avx2")]
    fn load_quarter(line: &Line, quarter: usize) -> __m128i {
        // SAFETY: the slice has 16 bytes, at a multiple of 16 within a line aligned to 64.
        unsafe { _mm_load_si128(line.0[16 * quarter..][..16].as_ptr().cast()) }
    }
}

#[cfg(target_arch = "aarch64")]
use arm::native;

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::{Kernel, Line, picked};
    use std::arch::aarch64::{
        int8x16_t, int32x4_t, vaddq_s32, vaddvq_s32, vdupq_n_s32, vget_high_s8, vget_low_s8, vld1q_s8, vmull_s8,
        vpadalq_s16,
    };
    use std::arch::asm;

    pub(super) fn native() -> Vec<Kernel> {
        let mut kernels = Vec::new();
        if std::arch::is_aarch64_feature_detected!("dotprod") {
            kernels.push(Kernel { name: "neon-dotprod", run: dotprod, run_some: dotprod_some });
        }
        kernels.push(Kernel { name: "neon", run: neon, run_some: neon_some });
        kernels
    }

    #[target_feature(enable = "neon,dotprod")]
    fn dotprod(query: &[Line], rows: &[Line], out: &mut [i32]) {
        dotprod_each(query, rows.chunks_exact(query.len()), out);
    }

    #[target_feature(enable = "neon,dotprod")]
    fn dotprod_some(query: &[Line], lines: &[Line], starts: &[usize], out: &mut [i32]) {
        dotprod_each(query, picked(lines, starts, query.len()), out);
    }

    #[target_feature(enable = "neon,dotprod")]
    #[inline]
    fn dotprod_each<'a>(query: &[Line], rows: impl Iterator<Item = &'a [Line]>, out: &mut [i32]) {
        for (row, product) in rows.zip(out) {
            let mut sums = [vdupq_n_s32(0); 4];
            for (a, b) in row.iter().zip(query) {
                for (quarter, sum) in sums.iter_mut().enumerate() {
                    *sum = sdot(*sum, load_quarter(a, quarter), load_quarter(b, quarter));
                }
            }
            let [a, b, c, d] = sums;
            *product = vaddvq_s32(vaddq_s32(vaddq_s32(a, b), vaddq_s32(c, d)));
        }
    }

    /// Adds the products of four neighboring values to each lane. The compiler's own name for the instruction is not
    /// stable yet.
    #[target_feature(enable = "neon,dotprod")]
    fn sdot(mut sum: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
        // SAFETY: reads and writes the named registers only.
        unsafe {
            asm!("sdot {sum:v}.4s, {a:v}.16b, {b:v}.16b", sum = inout(vreg) sum, a = in(vreg) a, b = in(vreg) b,
                options(pure, nomem, nostack, preserves_flags));
        }
        sum
    }

    #[target_feature(enable = "neon")]
    fn neon(query: &[Line], rows: &[Line], out: &mut [i32]) {
        neon_each(query, rows.chunks_exact(query.len()), out);
    }

    #[target_feature(enable = "neon")]
    fn neon_some(query: &[Line], lines: &[Line], starts: &[usize], out: &mut [i32]) {
        neon_each(query, picked(lines, starts, query.len()), out);
    }

    #[target_feature(enable = "neon")]
    #[inline]
    fn neon_each<'a>(query: &[Line], rows: impl Iterator<Item = &'a [Line]>, out: &mut [i32]) {
        for (row, product) in rows.zip(out) {
            let mut sum = vdupq_n_s32(0);
            for (a, b) in row.iter().zip(query) {
                for quarter in 0..4 {
                    let (a, b) = (load_quarter(a, quarter), load_quarter(b, quarter));
                    sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
                    sum = vpadalq_s16(sum, vmull_s8(vget_high_s8(a), vget_high_s8(b)));
                }
            }
            *product = vaddvq_s32(sum);
        }
    }

    #[target_feature(enable = "neon")]
    fn load_quarter(line: &Line, quarter: usize) -> int8x16_t {
        // SAFETY: the slice has 16 bytes.
        unsafe { vld1q_s8(line.0[16 * quarter..][..16].as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(values: &[i8]) -> Vec<Line> {
        values.chunks_exact(LANES).map(|chunk| Line(chunk.try_into().expect("a whole line"))).collect()
    }

    #[test]
    fn extreme_values_do_not_overflow() {
        for (a, b) in [(127, 127), (-127, 127), (-127, -127)] {
            let (row, query) = (vec![Line([a; LANES]); 1024], vec![Line([b; LANES]); 1024]);
            for kernel in Kernel::available() {
                let mut out = [0];
                kernel.products(&query, &row, &mut out);
                assert_eq!(out[0], i32::from(a) * i32::from(b) * 65_536, "{kernel:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_product_has_the_same_bits(values in prop::collection::vec(-1e3..1e3_f32, 0..200)) {
            let (a, b) = values.split_at(values.len() / 2);
            let b = &b[..a.len()];
            prop_assert_eq!(dot(a, b).to_bits(), dot_portable(a, b).to_bits());
        }

        #[test]
        fn every_kernel_equals_the_portable_one(
            width in 1..8_usize, rows in 0..5_usize, seed in prop::collection::vec(-127..=127_i8, 5 * 8 * LANES),
        ) {
            let query = lines(&seed[seed.len() - width * LANES..]);
            let rows_lines = lines(&seed[..rows * width * LANES]);
            let mut expected = vec![0; rows];
            portable(&query, &rows_lines, &mut expected);
            for kernel in Kernel::available() {
                let mut out = vec![1; rows];
                kernel.products(&query, &rows_lines, &mut out);
                prop_assert_eq!(&out, &expected, "{:?}", kernel);
                let starts: Vec<usize> = (0..rows).rev().map(|row| row * width).collect();
                kernel.some_products(&query, &rows_lines, &starts, &mut out);
                prop_assert!(out.iter().eq(expected.iter().rev()), "{:?}", kernel);
            }
        }
    }
}
