//! SIMD comparison of sixty-four bytes.
#![allow(unsafe_code, clippy::inline_always)]

/// Bytes that are compared in one go, one to a bit of a word.
pub(super) const BLOCK: usize = u64::BITS as usize;

/// Bytes to a register.
const LANES: usize = 16;

/// A block of bytes.
pub(super) trait Lanes: Copy {
    fn load(bytes: &[u8; BLOCK]) -> Self;

    /// Return the bytes in the range: a bit for each, the first one the lowest.
    fn within(self, least: u8, most: u8) -> u64;

    /// Return the bytes in any of the ranges.
    fn within_any<const COUNT: usize>(self, ranges: [(u8, u8); COUNT]) -> u64;
}

/// In the registers that every processor of a kind has.
#[derive(Clone, Copy)]
pub(super) struct Common([native::Lane; BLOCK / LANES]);

impl Lanes for Common {
    #[inline(always)]
    fn load(bytes: &[u8; BLOCK]) -> Self {
        Self(std::array::from_fn(|number| {
            let (lanes, _) = bytes.as_chunks::<LANES>();
            native::load(&lanes[number])
        }))
    }

    #[inline(always)]
    fn within(self, least: u8, most: u8) -> u64 {
        native::bits(self.0.map(|lane| native::within(lane, least, most)))
    }

    #[inline(always)]
    fn within_any<const COUNT: usize>(self, ranges: [(u8, u8); COUNT]) -> u64 {
        native::bits(self.0.map(|lane| {
            let found = ranges.map(|(least, most)| native::within(lane, least, most));
            found.into_iter().reduce(native::or).unwrap_or(lane)
        }))
    }
}

/// In one register, which only processors with AVX-512 BW have: nowhere else may it be loaded.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Whole(std::arch::x86_64::__m512i);

#[cfg(target_arch = "x86_64")]
impl Lanes for Whole {
    #[allow(clippy::cast_ptr_alignment)] // the load needs none
    #[inline(always)]
    fn load(bytes: &[u8; BLOCK]) -> Self {
        // SAFETY: there are so many bytes, and the processor has what this needs, here and below.
        Self(unsafe { std::arch::x86_64::_mm512_loadu_si512(bytes.as_ptr().cast()) })
    }

    #[inline(always)]
    fn within(self, least: u8, most: u8) -> u64 {
        use std::arch::x86_64::{_mm512_cmple_epu8_mask, _mm512_set1_epi8, _mm512_sub_epi8};
        let [least, width] = [least, most - least].map(u8::cast_signed);
        // SAFETY: as above.
        unsafe { _mm512_cmple_epu8_mask(_mm512_sub_epi8(self.0, _mm512_set1_epi8(least)), _mm512_set1_epi8(width)) }
    }

    #[inline(always)]
    fn within_any<const COUNT: usize>(self, ranges: [(u8, u8); COUNT]) -> u64 {
        ranges.into_iter().fold(0, |found, (least, most)| found | self.within(least, most))
    }
}

#[cfg(target_arch = "x86_64")]
mod native {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi8, _mm_cmplt_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };

    use super::LANES;

    pub(super) type Lane = __m128i;

    #[allow(clippy::cast_ptr_alignment)] // the load needs none
    #[inline]
    pub(super) fn load(bytes: &[u8; LANES]) -> Lane {
        // SAFETY: there are so many bytes. Every processor of this kind has SSE2, here and below.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    #[inline]
    pub(super) fn within(lane: Lane, least: u8, most: u8) -> Lane {
        // The range is moved to where signed numbers begin, so that one comparison does.
        let shift = 0x80_u8.wrapping_sub(least).cast_signed();
        let end = i8::MIN.wrapping_add((most - least + 1).cast_signed());
        // SAFETY: as above.
        unsafe { _mm_cmplt_epi8(_mm_add_epi8(lane, _mm_set1_epi8(shift)), _mm_set1_epi8(end)) }
    }

    #[inline]
    pub(super) fn or(one: Lane, other: Lane) -> Lane {
        // SAFETY: as above.
        unsafe { _mm_or_si128(one, other) }
    }

    #[inline]
    pub(super) fn bits<const COUNT: usize>(lanes: [Lane; COUNT]) -> u64 {
        lanes.into_iter().rev().fold(0, |bits, lane| {
            // SAFETY: as above.
            bits << LANES | u64::from(unsafe { _mm_movemask_epi8(lane) }.cast_unsigned())
        })
    }
}

#[cfg(target_arch = "aarch64")]
mod native {
    use std::arch::aarch64::{
        uint8x16_t, vandq_u8, vcleq_u8, vdupq_n_u8, vgetq_lane_u64, vld1q_u8, vorrq_u8, vpaddq_u8,
        vreinterpretq_u64_u8, vsubq_u8,
    };

    use super::LANES;

    pub(super) type Lane = uint8x16_t;

    /// The bit of each lane in its byte of bits.
    const WEIGHTS: [u8; LANES] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

    #[inline]
    pub(super) fn load(bytes: &[u8; LANES]) -> Lane {
        // SAFETY: there are so many bytes. Every processor of this kind has NEON, here and below.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }

    #[inline]
    pub(super) fn within(lane: Lane, least: u8, most: u8) -> Lane {
        // SAFETY: as above.
        unsafe { vcleq_u8(vsubq_u8(lane, vdupq_n_u8(least)), vdupq_n_u8(most - least)) }
    }

    #[inline]
    pub(super) fn or(one: Lane, other: Lane) -> Lane {
        // SAFETY: as above.
        unsafe { vorrq_u8(one, other) }
    }

    #[inline]
    pub(super) fn bits([first, second, third, fourth]: [Lane; 4]) -> u64 {
        // SAFETY: as above.
        unsafe {
            let weights = vld1q_u8(WEIGHTS.as_ptr());
            let add = |one, other| vpaddq_u8(vandq_u8(one, weights), vandq_u8(other, weights));
            // Each step adds neighbors: two, four and at last all eight bits of a byte.
            let fours = vpaddq_u8(add(first, second), add(third, fourth));
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(fours, fours)))
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod native {
    use super::LANES;

    pub(super) type Lane = [u8; LANES];

    pub(super) fn load(bytes: &[u8; LANES]) -> Lane {
        *bytes
    }

    pub(super) fn within(lane: Lane, least: u8, most: u8) -> Lane {
        lane.map(|byte| u8::from((least..=most).contains(&byte)))
    }

    pub(super) fn or(one: Lane, other: Lane) -> Lane {
        std::array::from_fn(|at| one[at] | other[at])
    }

    pub(super) fn bits<const COUNT: usize>(lanes: [Lane; COUNT]) -> u64 {
        lanes.as_flattened().iter().rev().fold(0, |bits, &lane| bits << 1 | u64::from(lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[inline(always)]
    fn all<L: Lanes>(bytes: &[u8; BLOCK], (least, most): (u8, u8)) -> [u64; 2] {
        let lanes = L::load(bytes);
        [lanes.within(least, most), lanes.within_any([(b'\n', b'\n'), (least, most)])]
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512bw")]
    fn all_at_once(bytes: &[u8; BLOCK], range: (u8, u8)) -> [u64; 2] {
        all::<Whole>(bytes, range)
    }

    proptest! {
        #[test]
        fn bits_tell_which_bytes_lie_within(
            bytes in prop::array::uniform32(any::<[u8; 2]>()),
            (least, width) in (any::<u8>(), any::<u8>()),
        ) {
            let bytes: &[u8; BLOCK] = bytes.as_flattened().try_into().expect("a block");
            let most = least.saturating_add(width);
            let bits = |is_in: &dyn Fn(u8) -> bool| (0..BLOCK).fold(0, |bits, at| bits | u64::from(is_in(bytes[at])) << at);
            let is_within = |byte| (least..=most).contains(&byte);
            let expected = [bits(&is_within), bits(&|byte| byte == b'\n' || is_within(byte))];
            prop_assert_eq!(all::<Common>(bytes, (least, most)), expected);
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx512bw") {
                // SAFETY: the processor has what the function needs.
                prop_assert_eq!(unsafe { all_at_once(bytes, (least, most)) }, expected);
            }
        }
    }
}
