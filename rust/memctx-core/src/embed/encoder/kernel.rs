//! The inner loop of the encoder: 8-bit products of a matrix with the vectors of some pieces.
//!
//! Sixteen rows of the matrix lie together, four columns of each at a time, so that one instruction works on all of them
//! and no sum runs across a register. All kernels count in whole numbers and give the same.
#![allow(unsafe_code)]

use crate::vector::{LANES, Line};

/// Rows of a matrix that lie together.
pub(super) const ROWS: usize = 16;
/// Columns of each that lie together.
pub(super) const COLUMNS: usize = LANES / ROWS;
/// Vectors whose values lie together, four columns of each at a time.
pub(super) const TOGETHER: usize = 4;
/// Groups of such vectors that are multiplied at a time, at most.
pub(super) const GROUPS: usize = 2;

/// Values of four vectors for the columns of a line.
pub(super) type Factors = [[u8; COLUMNS]; TOGETHER];
/// Products of sixteen rows with up to eight vectors.
pub(super) type Products = [[i32; ROWS]; TOGETHER * GROUPS];

/// A way to multiply with one or two groups. Values of vectors come with their sign bits flipped, 128 more, which adds an
/// excess to the products with each row. SAFETY: to be called only on a processor that has what it needs.
pub(super) type Kernel = unsafe fn(rows: &[Line], excess: &[i32; ROWS], groups: &[&[Factors]], products: &mut Products);

/// Return 128 times the sum of each row.
pub(super) fn excess(rows: &[Line]) -> [i32; ROWS] {
    let mut excess = [0; ROWS];
    for line in rows {
        for (excess, values) in excess.iter_mut().zip(line.0.chunks_exact(COLUMNS)) {
            *excess += values.iter().map(|&value| 128 * i32::from(value)).sum::<i32>();
        }
    }
    excess
}

/// Return the fastest that this processor can run.
pub(super) fn pick() -> Kernel {
    available()[0].1
}

/// Return all that this processor can run, the fastest first.
fn available() -> Vec<(&'static str, Kernel)> {
    let mut kernels = native();
    kernels.push(("portable", portable as Kernel));
    kernels
}

fn portable(rows: &[Line], _: &[i32; ROWS], groups: &[&[Factors]], products: &mut Products) {
    for (group, products) in groups.iter().zip(products.as_chunks_mut::<TOGETHER>().0) {
        *products = [[0; ROWS]; TOGETHER];
        for (line, factors) in rows.iter().zip(*group) {
            for (factors, sums) in factors.iter().zip(&mut *products) {
                for (sum, values) in sums.iter_mut().zip(line.0.chunks_exact(COLUMNS)) {
                    for (&value, &factor) in values.iter().zip(factors) {
                        *sum += i32::from(value) * (i32::from(factor) - 128);
                    }
                }
            }
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn native() -> Vec<(&'static str, Kernel)> {
    Vec::new()
}

#[cfg(target_arch = "x86_64")]
use x86::native;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Factors, GROUPS, Kernel, Line, Products, ROWS, TOGETHER};
    use std::arch::x86_64::{
        __m128i, __m256i, __m512i, _mm_cvtsi64_si128, _mm_load_si128, _mm256_add_epi32, _mm256_broadcastq_epi64,
        _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_cvtepu8_epi16, _mm256_hadd_epi32, _mm256_madd_epi16,
        _mm256_permute4x64_epi64, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_storeu_si256, _mm256_sub_epi16,
        _mm512_dpbusd_epi32, _mm512_load_si512, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_setzero_si512,
        _mm512_storeu_si512, _mm512_sub_epi32,
    };

    pub(super) fn native() -> Vec<(&'static str, Kernel)> {
        let mut kernels: Vec<(&'static str, Kernel)> = Vec::new();
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vnni")
        {
            kernels.push(("avx512-vnni", avx512_vnni));
        }
        if is_x86_feature_detected!("avx2") {
            kernels.push(("avx2", avx2));
        }
        kernels
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn avx512_vnni(rows: &[Line], excess: &[i32; ROWS], groups: &[&[Factors]], products: &mut Products) {
        // SAFETY: it has sixteen numbers.
        let excess = unsafe { _mm512_loadu_si512(excess.as_ptr().cast()) };
        let start = [_mm512_sub_epi32(_mm512_setzero_si512(), excess); TOGETHER];
        let mut sums = [start; GROUPS];
        match *groups {
            [a, b] => {
                for ((line, a), b) in rows.iter().zip(a).zip(b) {
                    let line = load(line);
                    sums = [add(sums[0], a, line), add(sums[1], b, line)];
                }
            }
            [a] => {
                for (line, a) in rows.iter().zip(a) {
                    sums[0] = add(sums[0], a, load(line));
                }
            }
            _ => unreachable!("one or two groups"),
        }
        for (products, sum) in products.iter_mut().zip(sums.as_flattened()) {
            // SAFETY: there is room for sixteen numbers.
            unsafe { _mm512_storeu_si512(products.as_mut_ptr().cast(), *sum) }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    #[inline]
    fn add([a, b, c, d]: [__m512i; TOGETHER], factors: &Factors, line: __m512i) -> [__m512i; TOGETHER] {
        let factors = factors.map(i32::from_le_bytes);
        [
            _mm512_dpbusd_epi32(a, _mm512_set1_epi32(factors[0]), line),
            _mm512_dpbusd_epi32(b, _mm512_set1_epi32(factors[1]), line),
            _mm512_dpbusd_epi32(c, _mm512_set1_epi32(factors[2]), line),
            _mm512_dpbusd_epi32(d, _mm512_set1_epi32(factors[3]), line),
        ]
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn load(line: &Line) -> __m512i {
        // SAFETY: a line is 64 bytes long and aligned to 64.
        unsafe { _mm512_load_si512(std::ptr::from_ref(line).cast()) }
    }

    #[target_feature(enable = "avx2")]
    fn avx2(rows: &[Line], _: &[i32; ROWS], groups: &[&[Factors]], products: &mut Products) {
        let shift = _mm256_set1_epi16(128);
        let vectors = groups.iter().flat_map(|group| (0..TOGETHER).map(move |which| (group, which)));
        for ((group, which), products) in vectors.zip(products) {
            // Each quarter has two sums of each of four rows.
            let mut sums = [_mm256_setzero_si256(); 4];
            for (line, factors) in rows.iter().zip(*group) {
                let factors = _mm_cvtsi64_si128(i64::from(u32::from_le_bytes(factors[which])));
                let factors = _mm256_sub_epi16(_mm256_cvtepu8_epi16(factors), shift);
                let factors = _mm256_broadcastq_epi64(_mm256_castsi256_si128(factors));
                for (quarter, sum) in sums.iter_mut().enumerate() {
                    let values = _mm256_cvtepi8_epi16(load_quarter(line, quarter));
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(values, factors));
                }
            }
            for (pair, products) in sums.chunks_exact(2).zip(products.chunks_exact_mut(8)) {
                let rows: __m256i = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_hadd_epi32(pair[0], pair[1]));
                // SAFETY: there is room for eight numbers.
                unsafe { _mm256_storeu_si256(products.as_mut_ptr().cast(), rows) }
            }
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn load_quarter(line: &Line, quarter: usize) -> __m128i {
        // SAFETY: the slice has 16 bytes, at a multiple of 16 within a line aligned to 64.
        unsafe { _mm_load_si128(line.0[16 * quarter..][..16].as_ptr().cast()) }
    }
}

#[cfg(target_arch = "aarch64")]
use arm::native;

#[cfg(target_arch = "aarch64")]
mod arm {
    use super::{COLUMNS, Factors, Kernel, Line, Products, ROWS, TOGETHER};
    use std::arch::aarch64::{int8x16_t, int32x4_t, vdupq_n_s32, vld1q_s8, vreinterpretq_s8_s32, vst1q_s32};
    use std::arch::asm;

    pub(super) fn native() -> Vec<(&'static str, Kernel)> {
        let mut kernels: Vec<(&'static str, Kernel)> = Vec::new();
        if std::arch::is_aarch64_feature_detected!("dotprod") {
            kernels.push(("neon-dotprod", dotprod));
        }
        kernels
    }

    #[target_feature(enable = "neon,dotprod")]
    fn dotprod(rows: &[Line], _: &[i32; ROWS], groups: &[&[Factors]], products: &mut Products) {
        let vectors = groups.iter().flat_map(|group| (0..TOGETHER).map(move |which| (group, which)));
        for ((group, which), products) in vectors.zip(products) {
            let mut sums = [vdupq_n_s32(0); 4];
            for (line, factors) in rows.iter().zip(*group) {
                let factors = vreinterpretq_s8_s32(vdupq_n_s32(i32::from_le_bytes(factors[which]) ^ SIGNS));
                for (quarter, sum) in sums.iter_mut().enumerate() {
                    *sum = sdot(*sum, load_quarter(line, quarter), factors);
                }
            }
            for (sum, products) in sums.into_iter().zip(products.chunks_exact_mut(4)) {
                // SAFETY: there is room for four numbers.
                unsafe { vst1q_s32(products.as_mut_ptr(), sum) }
            }
        }
    }

    /// The sign bits of four values.
    const SIGNS: i32 = i32::from_le_bytes([0x80; COLUMNS]);

    /// Adds the products of four neighboring values to each lane. The compiler's own name for the instruction is not
    /// stable yet.
    #[target_feature(enable = "neon,dotprod")]
    #[inline]
    fn sdot(mut sum: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
        // SAFETY: reads and writes the named registers only.
        unsafe {
            asm!("sdot {sum:v}.4s, {a:v}.16b, {b:v}.16b", sum = inout(vreg) sum, a = in(vreg) a, b = in(vreg) b,
                options(pure, nomem, nostack, preserves_flags));
        }
        sum
    }

    #[target_feature(enable = "neon")]
    #[inline]
    fn load_quarter(line: &Line, quarter: usize) -> int8x16_t {
        // SAFETY: the slice has 16 bytes.
        unsafe { vld1q_s8(line.0[16 * quarter..][..16].as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_kernel_equals_the_portable_one(
            width in 1..5_usize, count in 1..=GROUPS,
            values in prop::collection::vec(-127..=127_i8, 5 * 16 * LANES),
            factors in prop::collection::vec(any::<u8>(), 5 * 16 * COLUMNS * TOGETHER * GROUPS),
        ) {
            let lines: Vec<Line> =
                values.chunks_exact(LANES).map(|part| Line(part.try_into().expect("a line"))).take(16 * width).collect();
            let factors: &[Factors] = factors.as_chunks().0.as_chunks().0;
            let groups: Vec<&[Factors]> = factors.chunks_exact(16 * width).take(count).collect();
            let mut expected = Products::default();
            let excess = excess(&lines);
            portable(&lines, &excess, &groups, &mut expected);
            for (name, kernel) in available() {
                let mut products = Products::default();
                // SAFETY: it is available.
                unsafe { kernel(&lines, &excess, &groups, &mut products) };
                prop_assert_eq!(&products[..count * TOGETHER], &expected[..count * TOGETHER], "{}", name);
            }
        }
    }
}
