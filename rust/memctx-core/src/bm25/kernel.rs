//! The inner loops of text search: adding one term's worth to the scores of the documents that hold it, and finding the
//! highest of many scores.
//!
//! Like its sibling for vectors this file has `unsafe` code: working on eight documents at a time takes instructions
//! that not every processor has. Both ways do the same operations in the same order, so the scores are the same to the
//! last bit.
#![allow(unsafe_code)]

use super::postings::Posting;
use super::score::Norm;

/// Contribution of a term to a score.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contribution {
    pub(super) weight: f64,
    pub(super) norm: Norm,
}

impl Contribution {
    #[inline]
    pub(super) fn part(self, tf: u32, length: u32) -> f64 {
        self.weight * self.norm.saturate(f64::from(tf), f64::from(length))
    }
}

/// Add what the term is worth to the score of every document of the block. `lengths` and `scores` hold a value for
/// each document, and `tf` tells how often a document holds the term.
#[inline]
pub(super) fn accumulate(
    contribution: Contribution,
    block: &[Posting],
    lengths: &[u32],
    scores: &mut [f64],
    tf: impl Fn(Posting) -> u32,
) {
    #[cfg(target_arch = "x86_64")]
    if block.len() >= x86::GROUP && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions.
        unsafe { x86::accumulate(contribution, block, lengths, scores, tf) };
        return;
    }
    add_each(contribution, block, lengths, scores, &tf);
}

#[inline]
fn add_each(
    contribution: Contribution,
    postings: &[Posting],
    lengths: &[u32],
    scores: &mut [f64],
    tf: &impl Fn(Posting) -> u32,
) {
    for &posting in postings {
        let document = posting.document() as usize;
        scores[document] += contribution.part(tf(posting), lengths[document]);
    }
}

/// Return the highest of the scores of each stride, none of which is below 0.
pub(super) fn heights<const STRIDE: usize>(strides: &[[f64; STRIDE]]) -> Vec<f64> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the instructions.
        return unsafe { x86::heights(strides) };
    }
    strides.iter().map(highest).collect()
}

/// Return the highest of the scores, found in several lanes so that the compiler uses vector registers.
#[allow(clippy::inline_always)] // so that it is compiled for the instructions that its caller may use
#[inline(always)]
fn highest<const STRIDE: usize>(stride: &[f64; STRIDE]) -> f64 {
    const LANES: usize = 16;
    const { assert!(STRIDE.is_multiple_of(LANES)) };
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let mut high = [0.0; LANES];
    for lanes in stride.as_chunks::<LANES>().0 {
        for (high, &score) in high.iter_mut().zip(lanes) {
            *high = larger(*high, score);
        }
    }
    high.into_iter().fold(0.0, larger)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::super::postings::{MAX_DOCUMENTS, Posting, TF_BITS, TF_MANY};
    use super::super::score::Norm;
    use super::{Contribution, add_each, highest};
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, _mm256_i32gather_epi32,
        _mm256_loadu_si256, _mm256_movemask_ps, _mm256_set1_epi32, _mm256_srli_epi32, _mm512_add_pd,
        _mm512_cvtepi32_pd, _mm512_cvtepu32_pd, _mm512_div_pd, _mm512_i32gather_pd, _mm512_i32scatter_pd,
        _mm512_mul_pd, _mm512_set1_pd,
    };

    /// Postings that are worked on together.
    pub(super) const GROUP: usize = 8;

    #[target_feature(enable = "avx512f,avx2")]
    pub(super) fn accumulate(
        contribution: Contribution,
        block: &[Posting],
        lengths: &[u32],
        scores: &mut [f64],
        tf: impl Fn(Posting) -> u32,
    ) {
        let (groups, rest) = block.as_chunks::<GROUP>();
        for group in groups {
            if !add_group(contribution, group, lengths, scores) {
                add_each(contribution, group, lengths, scores, &tf);
            }
        }
        add_each(contribution, rest, lengths, scores, &tf);
    }

    /// Add nothing and return false if a document lies outside the scores or a frequency does not fit its posting.
    #[target_feature(enable = "avx512f,avx2")]
    fn add_group(contribution: Contribution, group: &[Posting; GROUP], lengths: &[u32], scores: &mut [f64]) -> bool {
        let Norm { base, slope } = contribution.norm;
        let many = _mm256_set1_epi32(TF_MANY.cast_signed());
        let count = lengths.len().min(scores.len()).min(MAX_DOCUMENTS) as u32;
        let count = _mm256_set1_epi32(count.cast_signed());
        // SAFETY: a group is eight words of 32 bits.
        let words = unsafe { _mm256_loadu_si256(group.as_ptr().cast()) };
        let documents = _mm256_srli_epi32::<{ TF_BITS.cast_signed() }>(words);
        let tfs = _mm256_and_si256(words, many);
        if any(_mm256_cmpeq_epi32(tfs, many)) || !all(_mm256_cmpgt_epi32(count, documents)) {
            return false;
        }
        // SAFETY: every document is below the length of the slice, as just seen.
        let lengths = unsafe { _mm256_i32gather_epi32::<4>(lengths.as_ptr().cast(), documents) };
        let tfs = _mm512_cvtepi32_pd(tfs);
        let tempered = _mm512_mul_pd(_mm512_set1_pd(slope), _mm512_cvtepu32_pd(lengths));
        let norms = _mm512_add_pd(tfs, _mm512_add_pd(_mm512_set1_pd(base), tempered));
        let parts = _mm512_mul_pd(_mm512_set1_pd(contribution.weight), _mm512_div_pd(tfs, norms));
        // SAFETY: likewise; and the documents of a list differ, so no sum is lost.
        unsafe {
            let sums = _mm512_add_pd(_mm512_i32gather_pd::<8>(documents, scores.as_ptr()), parts);
            _mm512_i32scatter_pd::<8>(scores.as_mut_ptr(), documents, sums);
        }
        true
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn heights<const STRIDE: usize>(strides: &[[f64; STRIDE]]) -> Vec<f64> {
        let mut heights = vec![0.0; strides.len()];
        for (height, stride) in heights.iter_mut().zip(strides) {
            *height = highest(stride);
        }
        heights
    }

    #[target_feature(enable = "avx2")]
    fn any(mask: __m256i) -> bool {
        _mm256_movemask_ps(_mm256_castsi256_ps(mask)) != 0
    }

    #[target_feature(enable = "avx2")]
    fn all(mask: __m256i) -> bool {
        _mm256_movemask_ps(_mm256_castsi256_ps(mask)) == 0xFF
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bm25::Statistics;
    use proptest::prelude::*;

    proptest! {
        /// Bit for bit, or else documents with the same words would not tie.
        #[test]
        fn groups_equal_one_by_one(
            entries in prop::collection::vec((1..9_u32, 1..400_u32), 0..60), weight in 0.01..30.0_f64,
            average_length in 1.0..900.0_f64, seed in prop::collection::vec(1..100_000_u32, 700),
        ) {
            let norm = Statistics { documents: 9, average_length }.norm();
            let contribution = Contribution { weight, norm };
            let mut document = 0;
            let block: Vec<Posting> = entries.iter().map(|&(gap, tf)| {
                document += gap;
                Posting::new(document, tf)
            }).collect();
            let tf = |posting: Posting| if posting.tf() == 255 { 300 } else { posting.tf() };
            let scores: Vec<f64> = seed.iter().map(|&value| f64::from(value) / 7.0).collect();
            let (mut fast, mut plain) = (scores.clone(), scores);
            accumulate(contribution, &block, &seed, &mut fast, tf);
            add_each(contribution, &block, &seed, &mut plain, &tf);
            prop_assert_eq!(fast, plain);
        }

        #[test]
        fn heights_are_the_highest(scores in prop::collection::vec(0.0..9.0_f64, 0..500)) {
            let strides = scores.as_chunks::<32>().0;
            let expected: Vec<f64> = strides.iter().map(|stride| stride.iter().copied().fold(0.0, f64::max)).collect();
            prop_assert_eq!(heights(strides), expected);
        }
    }
}
