//! Bloom filter of indexed segments.

/// A filter that knows every key it was given, and now and then one that it was not.
#[derive(Debug)]
pub(super) struct Seen {
    words: Vec<u64>,
    keys: usize,
}

/// Bits to a key: about one key in ten thousand is mistaken for another.
const BITS: usize = 24;
const PROBES: u32 = 8;
const LEAST: usize = 1 << 12;

impl Seen {
    /// With room for twice as many keys as it is given.
    pub(super) fn of(keys: impl ExactSizeIterator<Item = u64>) -> Self {
        let words = (keys.len().max(LEAST) * 2 * BITS / 64).next_power_of_two();
        let mut seen = Self { words: vec![0; words], keys: 0 };
        for key in keys {
            seen.insert(key);
        }
        seen
    }

    /// Return whether it has to be rebuilt with more room.
    pub(super) fn is_full(&self) -> bool {
        self.keys * BITS >= self.words.len() * 64
    }

    /// Take a key in; false if it certainly was not there before.
    pub(super) fn insert(&mut self, key: u64) -> bool {
        let mut was_there = true;
        for probe in 0..PROBES {
            let bit = key.rotate_left(probe * 7).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
            let (word, mask) = ((bit as usize / 64) & (self.words.len() - 1), 1 << (bit % 64));
            was_there &= self.words[word] & mask != 0;
            self.words[word] |= mask;
        }
        self.keys += usize::from(!was_there);
        was_there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_has_no_false_negatives_and_few_false_positives() {
        let key = |number: u64| xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes());
        let keys: Vec<u64> = (0..20_000).map(key).collect();
        let mut seen = Seen::of(keys.iter().copied());
        assert!(!seen.is_full() && keys.iter().all(|&key| seen.insert(key)));
        let mistaken = (20_000..40_000).filter(|&number| seen.insert(key(number))).count();
        assert!(mistaken < 20, "{mistaken} of 20,000");
    }
}
