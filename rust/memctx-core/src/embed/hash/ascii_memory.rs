//! Cache of the buckets of ASCII grams.

use std::sync::atomic::{AtomicU16, Ordering};

use bytemuck::allocation::zeroed_slice_box;

/// Bits to a unit: of ASCII only small letters, digits, the space and `@ . + -` are ever in a gram.
const SYMBOL: u32 = 6;
const SPELLINGS: usize = 1 << (3 * SYMBOL);

/// A gram of ASCII in 18 bits.
#[derive(Clone, Copy, Default)]
pub(super) struct Spelling(usize);

/// The place of every gram of ASCII that was seen, in half a megabyte. It is found without comparing anything, and
/// most text is ASCII.
///
/// The places are stored inverted, so that memory no gram has touched is all zeros, which the system hands out for
/// nothing. The one place that inverts to zero is worked out every time.
pub(super) struct AsciiMemory(Box<[AtomicU16]>);

impl Spelling {
    /// Return the spelling of the last two units of this one and the next unit, which is one of hash form and ASCII.
    #[inline]
    pub(super) fn then(self, unit: u16) -> Self {
        // What is below `@` and what is above differ in the bit of 64, and neither differs in that of 32.
        let symbol = unit & 0x1F | unit >> 1 & 0x20;
        Self((self.0 << SYMBOL | usize::from(symbol)) % SPELLINGS)
    }
}

impl AsciiMemory {
    pub(super) fn new() -> Self {
        Self(zeroed_slice_box(SPELLINGS))
    }

    /// Return the bucket of a gram, if it is known.
    #[inline]
    pub(super) fn find(&self, spelling: Spelling) -> Option<u16> {
        let inverted = self.0[spelling.0].load(Ordering::Relaxed);
        (inverted != 0).then_some(!inverted)
    }

    #[inline]
    pub(super) fn keep(&self, spelling: Spelling, bucket: u16) {
        self.0[spelling.0].store(!bucket, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::hash_form;
    use std::collections::BTreeSet;

    fn spelling(units: &[u16]) -> usize {
        units.iter().fold(Spelling::default(), |spelling, &unit| spelling.then(unit)).0
    }

    #[test]
    fn no_two_grams_are_spelled_alike() {
        let units: BTreeSet<u16> =
            (0..0x80).flat_map(|byte: u8| hash_form(&format!("a{}a", char::from(byte)))).collect();
        assert_eq!(units.len(), 26 + 10 + 5);
        let symbols: BTreeSet<usize> = units.iter().map(|&unit| spelling(&[unit])).collect();
        assert_eq!(symbols.len(), units.len());
        assert_eq!(spelling(&[u16::from(b'x'), 0x61, 0x2B, 0x39]), spelling(&[0x61, 0x2B, 0x39]));
        assert_ne!(spelling(&[0x61, 0x2B, 0x39]), spelling(&[0x2B, 0x61, 0x39]));
    }

    #[test]
    fn the_place_kept_is_found() {
        let memory = AsciiMemory::new();
        let abc = Spelling(spelling(&[0x61, 0x62, 0x63]));
        assert_eq!(memory.find(abc), None);
        for bucket in [0, 7, u16::MAX - 1] {
            memory.keep(abc, bucket);
            assert_eq!(memory.find(abc), Some(bucket));
        }
    }
}
