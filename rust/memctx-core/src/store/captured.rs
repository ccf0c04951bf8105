//! `Captured`: messages that are stored, and the segments they became, so that a search can leave out what is visible.

use rustc_hash::{FxHashMap, FxHashSet};

/// Messages that are in the store, by their keys.
///
/// ```
/// use memctx_core::store::Captured;
///
/// let mut captured = Captured::default();
/// captured.note(7, [70, 71]);
/// assert_eq!(captured.missing([5, 7, 9]), [0, 2]);
/// assert!(captured.segments_of([7, 9]).has(71));
/// ```
#[derive(Debug, Default)]
pub struct Captured {
    /// The digests of a message's segments.
    digests: FxHashMap<u64, Box<[u64]>>,
}

impl Captured {
    /// Note that a message is stored as segments of these digests.
    pub fn note(&mut self, message: u64, digests: impl IntoIterator<Item = u64>) {
        self.digests.insert(message, digests.into_iter().collect());
    }

    /// Return the indices of the messages that are not known to be stored.
    pub fn missing(&self, messages: impl IntoIterator<Item = u64>) -> Vec<u32> {
        let unknown = (0..).zip(messages).filter(|(_, message)| !self.digests.contains_key(message));
        unknown.map(|(index, _)| index).collect()
    }

    /// Return the segments of some messages.
    pub fn segments_of(&self, messages: impl IntoIterator<Item = u64>) -> Digests {
        let mut segments = Digests::default();
        segments.all.reserve(self.digests.len());
        for digests in messages.into_iter().filter_map(|message| self.digests.get(&message)) {
            digests.iter().for_each(|&digest| segments.add(digest));
        }
        segments
    }

    /// Return the number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.digests.len()
    }

    /// Return whether no message is known to be stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }
}

/// Digests of segments, made for a search.
#[derive(Clone, Debug, Default)]
pub struct Digests {
    all: FxHashSet<u64>,
    /// Of all digests, wrapping: with their number it identifies the set.
    sum: u64,
}

impl Digests {
    fn add(&mut self, digest: u64) {
        if self.all.insert(digest) {
            self.sum = self.sum.wrapping_add(digest);
        }
    }

    /// Return whether a digest is one of these.
    #[must_use]
    pub fn has(&self, digest: u64) -> bool {
        self.all.contains(&digest)
    }

    /// Return whether these are the digests of so many segments with this sum.
    pub(crate) fn are(&self, count: usize, sum: u64) -> bool {
        self.all.len() == count && self.sum == sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_segments_of_stored_messages_are_known_and_no_others(
            stored in prop::collection::hash_map(0..40_u64, prop::collection::vec(any::<u64>(), 0..4), 0..20),
            asked in prop::collection::vec(0..40_u64, 0..30),
            strangers in prop::collection::vec(any::<u64>(), 0..20),
        ) {
            let mut captured = Captured::default();
            for (message, digests) in &stored {
                captured.note(*message, digests.iter().copied());
            }
            let segments = captured.segments_of(asked.iter().copied());
            let expected: Vec<u64> = asked.iter().filter_map(|message| stored.get(message)).flatten().copied().collect();
            for digest in expected.iter().chain(&strangers) {
                prop_assert_eq!(segments.has(*digest), expected.contains(digest));
            }
            let missing: Vec<u32> =
                (0..).zip(&asked).filter(|(_, message)| !stored.contains_key(message)).map(|(index, _)| index).collect();
            prop_assert_eq!(captured.missing(asked.iter().copied()), missing);
        }
    }
}
