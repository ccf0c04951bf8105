//! Stock codes and tickers.

use std::ops::Range;

use memchr::memchr_iter;

use super::run::{is_word, run_after};

const CODE_DIGITS: usize = 6;
const TICKER_LETTERS: std::ops::RangeInclusive<usize> = 1..=5;

/// Codes of six digits: the last of a run of digits, with a market such as `SH` right before them.
pub(super) fn codes(text: &str, digits: &[Range<usize>]) -> impl Iterator<Item = Range<usize>> {
    digits.iter().filter(|run| run.len() >= CODE_DIGITS).map(|run| {
        let code = run.end - CODE_DIGITS;
        let has_market = ["SH", "SZ", "sh", "sz"].iter().any(|market| text[..code].ends_with(market));
        if has_market { code - 2..run.end } else { code..run.end }
    })
}

/// `$` and one to five capitals that end a word.
pub(super) fn tickers(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    memchr_iter(b'$', bytes).filter_map(|sign| {
        let end = run_after(bytes, sign + 1, |byte| byte.is_ascii_uppercase());
        let ends_word = bytes.get(end).is_none_or(|&byte| !is_word(byte));
        (TICKER_LETTERS.contains(&(end - sign - 1)) && ends_word).then_some(sign..end)
    })
}
