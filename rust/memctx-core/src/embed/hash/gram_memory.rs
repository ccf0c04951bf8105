//! Cache of the buckets of grams.

use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Zeroable;
use bytemuck::allocation::zeroed_slice_box;

use crate::prefetch;

/// Grams whose place is remembered, in eight megabytes at most: memory that no gram came to takes nothing.
const REMEMBERED: usize = 1 << 20;
/// Grams of which any may be remembered in the same places: a quarter of the sets means fewer that push each other out.
const WAYS: usize = 4;

/// A gram: its three units in the upper 48 bits.
pub(super) type Gram = u64;

/// Places of grams seen before, in the lowest 16 bits of the gram's word. Each is one word, so threads may write over
/// each other and still read a whole one; at worst a gram is forgotten, or there twice.
pub(super) struct GramMemory(Box<[Set]>);

/// In the order of their worth: a new gram takes a free place or that of the last one, and goes from there to the front
/// when it comes up again. So grams that come up once push no one else out, and hardly anything is written but for
/// them.
#[derive(Zeroable)]
#[repr(align(32))] // part of one line of the processor's cache
struct Set([AtomicU64; WAYS]);

impl GramMemory {
    pub(super) fn new() -> Self {
        Self(zeroed_slice_box(REMEMBERED / WAYS))
    }

    /// Get ready to find a gram.
    #[inline]
    pub(super) fn prepare(&self, gram: Gram) {
        prefetch(self.set(gram));
    }

    /// Return the bucket of a gram, or a number beyond 16 bits if it is not there.
    ///
    /// Nothing branches on what cannot be foretold, and the caller should not either.
    #[inline]
    pub(super) fn find(&self, gram: Gram) -> u64 {
        let set = self.set(gram);
        // Where the gram is, nothing but the place is left. No gram is three NULs, so an empty word matches none.
        let [a, b, c, last] = set.0.each_ref().map(|word| word.load(Ordering::Relaxed) ^ gram);
        if u16::try_from(last).is_ok() {
            set.promote();
        }
        a.min(b).min(c.min(last))
    }

    /// Remember the place of a gram that is not there.
    #[inline]
    pub(super) fn keep(&self, gram: Gram, bucket: u16) {
        let [others @ .., last] = &self.set(gram).0;
        let free = others.iter().find(|word| word.load(Ordering::Relaxed) == 0).unwrap_or(last);
        free.store(gram | u64::from(bucket), Ordering::Relaxed);
    }

    #[inline]
    fn set(&self, gram: Gram) -> &Set {
        const SETS: usize = REMEMBERED / WAYS;
        // Only the highest bits depend on all units.
        let spread = gram.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - SETS.ilog2());
        &self.0[spread as usize % SETS]
    }
}

impl Set {
    /// Move the last one to the front.
    #[cold]
    fn promote(&self) {
        let mut words = self.0.each_ref().map(|word| word.load(Ordering::Relaxed));
        words.rotate_right(1);
        for (word, value) in self.0.iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn the_cache_returns_only_its_own_values(
            grams in prop::collection::vec((prop_oneof![1..50_u64, 1..1_u64 << 48], any::<u16>()), 1..300),
        ) {
            let memory = GramMemory::new();
            let mut known = HashMap::new();
            for (gram, bucket) in grams {
                let gram = gram << 16;
                if let Ok(found) = u16::try_from(memory.find(gram)) {
                    prop_assert_eq!(Some(&found), known.get(&gram));
                } else {
                    memory.keep(gram, bucket);
                    known.insert(gram, bucket);
                    prop_assert_eq!(memory.find(gram), u64::from(bucket));
                }
            }
        }
    }

    #[test]
    fn a_gram_that_came_again_outlives_those_that_did_not() {
        let memory = GramMemory::new();
        let same_set = |gram: &Gram| std::ptr::eq(memory.set(*gram), memory.set(1 << 16));
        let mut grams = (1..).map(|gram: Gram| gram << 16).filter(same_set);
        let often = grams.next().expect("the first");
        memory.keep(often, 7);
        assert_eq!(memory.find(often), 7);
        for gram in grams.take(20) {
            memory.keep(gram, 9);
        }
        assert_eq!(memory.find(often), 7);
    }
}
