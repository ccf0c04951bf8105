//! Multi-pattern search for short strings in one pass.
//!
//! Of each up to three bytes that texts seldom hold, its window, are looked for. A filter compares a whole block of
//! text with all windows at once and says yes too often; of what it lets through a hash of the bytes leaves little more
//! than the windows, and these are then compared in full. Unlike an automaton this needs hardly any memory, so it is as
//! quick in the midst of other work as it is in a loop.

mod filter;
mod hashes;
mod holders;
mod kernel;
mod window;

use std::fmt;
use std::ops::Range;

use filter::Filter;
use hashes::Hashes;
use holders::Holders;
use window::{LONGEST, Window};

/// A string to be found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Literal<'a> {
    pub(super) text: &'a str,
    /// True if ASCII letters match in either case.
    pub(super) any_case: bool,
}

/// Strings that are looked for together.
#[derive(Clone)]
pub(super) struct Literals {
    count: usize,
    filter: Filter,
    /// True for each length of window, one to three bytes, that occurs.
    has_length: [bool; LONGEST],
    hashes: Hashes,
    holders: Holders,
}

impl fmt::Debug for Literals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Literals").field("count", &self.count).finish_non_exhaustive()
    }
}

impl Literals {
    /// Strings, none of them empty, with the numbers 0, 1, 2 … in their order.
    pub(super) fn new<'a>(literals: impl IntoIterator<Item = Literal<'a>>) -> Self {
        let literals: Vec<(Literal<'a>, Window)> =
            literals.into_iter().map(|literal| (literal, Window::of(literal))).collect();
        let mut has_length = [false; LONGEST];
        let mut hashes = Hashes::default();
        for (_, window) in &literals {
            has_length[window.length - 1] = true;
            hashes.add(key(window.bytes()));
        }
        let holders = literals.iter().map(|(literal, window)| (*literal, key(window.bytes()), window.at));
        Self {
            count: literals.len(),
            holders: Holders::new(holders),
            filter: Filter::new(literals.iter().map(|(_, window)| *window).collect()),
            has_length,
            hashes,
        }
    }

    /// Visit every range where one of them occurs, with its number. The places come in the order of their windows.
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
            self.holders.for_each(text, at, key, visit);
        }
    }

    /// Return every place where one of them stands, with its number: what ends first comes first, the longest first of
    /// those that end together, and the lowest number first of those that are the same.
    pub(super) fn by_end(&self, text: &[u8]) -> Vec<(usize, Range<usize>)> {
        let mut found = Vec::new();
        self.for_each(text, |number, range| found.push((number, range)));
        found.sort_unstable_by_key(|(number, range)| (range.end, range.start, *number));
        found
    }
}

fn key(window: &[u8]) -> u32 {
    // Capitals become small letters; what else becomes the same is distinguished when it is compared in full.
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
        found.sort_by_key(|(number, range)| (range.end, range.start, *number));
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

        /// Up to eight bytes are compared as one number, the rest one by one.
        #[test]
        fn strings_are_compared_to_their_last_byte(
            literals in prop::collection::vec(("[ab_]{6,11}", any::<bool>()), 1..6),
            choices in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), "[ab_]{0,2}"), 0..12),
        ) {
            let pieces = choices.iter().map(|(choice, is_upper, rest)| {
                let literal = &choice.get(&literals).0;
                let literal = if *is_upper { literal.to_uppercase() } else { literal.clone() };
                literal[..literal.len() - rest.len()].to_owned() + rest
            });
            let text: String = pieces.collect();
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
