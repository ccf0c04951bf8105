//! The forward pass with the widest registers of the processor.
//!
//! The same source is compiled for each set of instructions; no sum changes its order, so all give the same bits.
#![allow(unsafe_code)]

use super::Encoder;
use super::layer::Scratch;

/// Add the weighed vectors of pieces that attend to each other.
pub(super) fn add(encoder: &Encoder, ids: &[u32], into: &mut [f32], scratch: &mut Scratch) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has been asked.
            return unsafe { add_avx512(encoder, ids, into, scratch) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: likewise.
            return unsafe { add_avx2(encoder, ids, into, scratch) };
        }
    }
    encoder.add(ids, into, scratch);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn add_avx512(encoder: &Encoder, ids: &[u32], into: &mut [f32], scratch: &mut Scratch) {
    encoder.add(ids, into, scratch);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2(encoder: &Encoder, ids: &[u32], into: &mut [f32], scratch: &mut Scratch) {
    encoder.add(ids, into, scratch);
}
