//! Bit filter over windows.

const BITS: u32 = 14;
const WORD: u32 = u64::BITS;

/// Hashes of windows, one bit for each.
#[derive(Clone)]
pub(super) struct Hashes([u64; (1 << BITS) / WORD as usize]);

impl Default for Hashes {
    fn default() -> Self {
        Self([0; (1 << BITS) / WORD as usize])
    }
}

impl Hashes {
    /// Add the window of a key.
    pub(super) fn add(&mut self, key: u32) {
        let (word, bit) = slot(key);
        self.0[word] |= 1 << bit;
    }

    /// Return false if the window of a key was not added.
    #[inline]
    pub(super) fn may_hold(&self, key: u32) -> bool {
        let (word, bit) = slot(key);
        self.0[word] >> bit & 1 != 0
    }
}

#[inline]
fn slot(key: u32) -> (usize, u32) {
    let hash = hash::<BITS>(key);
    ((hash / WORD) as usize, hash % WORD)
}

/// So many bits that the window of a key leads to.
#[inline]
pub(super) fn hash<const BITS: u32>(key: u32) -> u32 {
    key.wrapping_mul(0x9E37_79B1) >> (u32::BITS - BITS)
}
