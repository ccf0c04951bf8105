//! Many short strings, found in one pass over a text.
//!
//! Of each up to three bytes that texts seldom hold, its window, are looked for. A filter compares a whole block of text
//! with all windows at once and says yes too often; of what it lets through a hash of the bytes leaves little more than the
//! windows, and these are then compared in full. Unlike an automaton this needs hardly any memory, so it is as quick in the
//! midst of other work as it is in a loop.

mod filter;
mod hashes;
mod kernel;
mod window;

use std::fmt;
use std::ops::Range;

use filter::Filter;
use hashes::Hashes;
use rustc_hash::FxHashMap;
use window::{LONGEST, Window};

/// A string to be found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Literal<'a> {
    pub(super) text: &'a str,
    /// Whether ASCII letters count in either case.
    pub(super) any_case: bool,
}

/// Strings that are looked for together.
#[derive(Clone)]
pub(super) struct Literals {
    filter: Filter,
    sought: Vec<Sought>,
    /// Whether there are windows of one byte, of two, of three.
    has_length: [bool; LONGEST],
    hashes: Hashes,
    /// Which strings have a window, by its key.
    holders: FxHashMap<u32, Vec<u32>>,
}

#[derive(Clone)]
struct Sought {
    bytes: Box<[u8]>,
    any_case: bool,
    /// How many bytes before the window belong to it.
    before: usize,
}

impl fmt::Debug for Literals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Literals").field("sought", &self.sought.len()).finish_non_exhaustive()
    }
}

impl Literals {
    /// Strings, none of them empty, with the numbers 0, 1, 2 … in their order.
    pub(super) fn new<'a>(literals: impl IntoIterator<Item = Literal<'a>>) -> Self {
        let mut sought = Vec::new();
        let mut windows = Vec::new();
        let mut has_length = [false; LONGEST];
        let mut hashes = Hashes::default();
        let mut holders: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (number, literal) in (0..).zip(literals) {
            let window = Window::of(literal);
            let key = key(window.bytes());
            has_length[window.length - 1] = true;
            hashes.add(key);
            holders.entry(key).or_default().push(number);
            let Literal { text, any_case } = literal;
            sought.push(Sought { bytes: text.as_bytes().into(), any_case, before: window.at });
            windows.push(window);
        }
        Self { filter: Filter::new(windows), sought, has_length, hashes, holders }
    }

    /// Every place where one of them stands, with its number. The places come in the order of their windows.
    pub(super) fn for_each(&self, text: &[u8], mut visit: impl FnMut(usize, Range<usize>)) {
        self.filter.for_each(text, |at| {
            self.look::<1>(text, at, &mut visit);
            self.look::<2>(text, at, &mut visit);
            self.look::<3>(text, at, &mut visit);
        });
    }

    /// Visit what has a window of this length here.
    #[inline]
    fn look<const LENGTH: usize>(&self, text: &[u8], at: usize, visit: &mut impl FnMut(usize, Range<usize>)) {
        if !self.has_length[LENGTH - 1] {
            return;
        }
        let Some(window) = text.get(at..).and_then(|rest| rest.first_chunk::<LENGTH>()) else { return };
        let key = key(window);
        if self.hashes.may_hold(key) {
            self.compare(text, at, key, visit);
        }
    }

    /// Visit what has the window of this key if it stands around it.
    fn compare(&self, text: &[u8], at: usize, key: u32, visit: &mut impl FnMut(usize, Range<usize>)) {
        for &number in self.holders.get(&key).into_iter().flatten() {
            if let Some(place) = self.sought[number as usize].around(text, at) {
                visit(number as usize, place);
            }
        }
    }

    /// Every place where one of them stands, with its number: what ends first comes first, the longest first of those that
    /// end together, and the lowest number first of those that are the same.
    pub(super) fn by_end(&self, text: &[u8]) -> Vec<(usize, Range<usize>)> {
        let mut found = Vec::new();
        self.for_each(text, |number, place| found.push((number, place)));
        found.sort_unstable_by_key(|(number, place)| (place.end, place.start, *number));
        found
    }
}

impl Sought {
    /// Where it stands if its window is here.
    fn around(&self, text: &[u8], window: usize) -> Option<Range<usize>> {
        let start = window.checked_sub(self.before)?;
        let found = text.get(start..start + self.bytes.len())?;
        let is_same = if self.any_case { found.eq_ignore_ascii_case(&self.bytes) } else { *found == *self.bytes };
        is_same.then_some(start..start + self.bytes.len())
    }
}

fn key(window: &[u8]) -> u32 {
    // Capitals become small letters; what else becomes the same is told apart when it is compared in full.
    window.iter().fold(window.len() as u32, |key, byte| key << 8 | u32::from(byte | 0x20))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naively(literals: &[(String, bool)], text: &str) -> Vec<(usize, Range<usize>)> {
        let mut found = Vec::new();
        for (number, (literal, any_case)) in literals.iter().enumerate() {
            for (start, window) in text.as_bytes().windows(literal.len()).enumerate() {
                if window == literal.as_bytes() || *any_case && window.eq_ignore_ascii_case(literal.as_bytes()) {
                    found.push((number, start..start + literal.len()));
                }
            }
        }
        found.sort_by_key(|(number, place)| (place.end, place.start, *number));
        found
    }

    proptest! {
        #[test]
        fn every_place_is_found(
            literals in prop::collection::vec(("[a-cA-C_ é密码]{1,5}", any::<bool>()), 0..40),
            pieces in prop::collection::vec("[a-dA-D_ é密码x]{0,40}", 0..12),
        ) {
            let text = pieces.concat();
            let sought = literals.iter().map(|(text, any_case)| Literal { text, any_case: *any_case });
            prop_assert_eq!(Literals::new(sought).by_end(text.as_bytes()), naively(&literals, &text));
        }
    }

    #[test]
    fn the_ends_of_a_text_are_looked_at() {
        let literals = Literals::new([Literal { text: "ab", any_case: true }]);
        for length in 0..400 {
            let text = format!("aB{}Ab", "x".repeat(length));
            assert_eq!(literals.by_end(text.as_bytes()), [(0, 0..2), (0, length + 2..length + 4)]);
        }
    }
}
