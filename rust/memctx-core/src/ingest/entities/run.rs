//! Runs of bytes of one class.

use std::ops::Range;

/// Return the end of the run that begins at `from`.
#[inline]
pub(super) fn run_after(bytes: &[u8], from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes.get(from..).map_or(from, |rest| from + rest.iter().take_while(|&&byte| belongs(byte)).count())
}

/// Return the start of the run that ends before `to`, not further back than `least`.
#[inline]
pub(super) fn run_before(bytes: &[u8], to: usize, least: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes.get(least..to).map_or(to, |front| to - front.iter().rev().take_while(|&&byte| belongs(byte)).count())
}

/// Return whether a byte is a letter, a digit or `_`, all in ASCII.
#[inline]
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Return whether a byte is an ASCII digit.
#[inline]
pub(super) fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

/// Return all runs of digits.
pub(super) fn digit_runs(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(start) = next_digit(bytes, at) {
        at = run_after(bytes, start, is_digit);
        runs.push(start..at);
    }
    runs
}

fn next_digit(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    // Most blocks have none; without branches the compiler compares all of a block at once.
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<32>()) {
        if block.iter().fold(false, |any, &byte| any | is_digit(byte)) {
            break;
        }
        at += block.len();
    }
    bytes.get(at..)?.iter().position(u8::is_ascii_digit).map(|found| at + found)
}
