//! Inner loop of the static embedder: adds rows, converted to floats.
//!
//! The one `unsafe` call here is to a copy of the loop that needs instructions which not every processor has; it is
//! made only after asking the processor for them. Every number is added by itself, so the copies give the same bits.
#![allow(unsafe_code)]
// Each copy of the loop must be compiled with the instructions of its caller.
#![allow(clippy::inline_always)]

use super::cells::Number;

/// Write the sum of rows, each times its weight, into a slice as long as each row has numbers.
pub(super) fn sum<'a>(number: Number, rows: impl Iterator<Item = (&'a [u8], f32)>, into: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has been asked.
        return unsafe { sum_avx2(number, rows, into) };
    }
    sum_portable(number, rows, into);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2<'a>(number: Number, rows: impl Iterator<Item = (&'a [u8], f32)>, into: &mut [f32]) {
    sum_portable(number, rows, into);
}

/// Compiled once for every set of instructions.
#[inline(always)]
fn sum_portable<'a>(number: Number, rows: impl Iterator<Item = (&'a [u8], f32)>, into: &mut [f32]) {
    into.fill(0.0);
    // Loops one by one, as the compiler would not carry the instructions into a closure.
    match number {
        Number::F32 => {
            for (row, weight) in rows {
                add(row, weight, into, f32::from_le_bytes);
            }
        }
        Number::F16 => {
            for (row, weight) in rows {
                add(row, weight, into, |bytes| widen(u16::from_le_bytes(bytes)));
            }
        }
        Number::Bf16 => {
            for (row, weight) in rows {
                add(row, weight, into, |[low, high]| f32::from_le_bytes([0, 0, low, high]));
            }
        }
        Number::I8 => {
            for (row, weight) in rows {
                add(row, weight, into, |bytes| f32::from(i8::from_le_bytes(bytes)));
            }
        }
    }
}

#[inline(always)]
fn add<const N: usize>(row: &[u8], weight: f32, into: &mut [f32], read: impl Fn([u8; N]) -> f32) {
    for (sum, &bytes) in into.iter_mut().zip(row.as_chunks().0) {
        *sum += weight * read(bytes);
    }
}

/// Return a half as a float. Infinities come out wrong, but no table has any.
#[inline(always)]
fn widen(half: u16) -> f32 {
    let bits = u32::from(half & 0x7FFF) << 13;
    // The exponents are counted from 15 and from 127. Where a half's is 0 there is no hidden one to its fraction.
    let usual = f32::from_bits(bits + (112 << 23));
    let small = f32::from_bits(bits + (113 << 23)) - f32::from_bits(113 << 23);
    let size = if half & 0x7C00 == 0 { small } else { usual };
    f32::from_bits(size.to_bits() | u32::from(half & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return the value of a half-precision number by the standard's formula.
    fn half(bits: u16) -> f64 {
        let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3FF) / 1024.0);
        let size =
            if exponent == 0 { fraction * 2_f64.powi(-14) } else { (1.0 + fraction) * 2_f64.powi(exponent - 15) };
        if bits & 0x8000 == 0 { size } else { -size }
    }

    #[test]
    fn every_finite_half_is_widened_exactly() {
        for bits in (0..=u16::MAX).filter(|bits| bits & 0x7C00 != 0x7C00) {
            assert_eq!(f64::from(widen(bits)).to_bits(), half(bits).to_bits(), "{bits:#06x}");
        }
    }

    #[test]
    fn the_fast_loop_equals_the_portable_one() {
        let bytes: Vec<u8> = (0..4000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8 & 0x3F).collect();
        for number in [Number::F32, Number::F16, Number::Bf16, Number::I8] {
            for dim in [1, 3, 8, 61, 100] {
                let rows = || bytes.chunks_exact(dim * number.bytes()).zip([1.0, 0.5, -2.25, 0.1, 3.0]);
                let (mut fast, mut portable) = (vec![f32::NAN; dim], vec![f32::NAN; dim]);
                sum(number, rows(), &mut fast);
                sum_portable(number, rows(), &mut portable);
                assert_eq!(fast, portable, "{number:?} {dim}");
            }
        }
    }
}
