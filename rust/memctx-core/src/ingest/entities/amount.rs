//! Amounts of money.

use std::ops::Range;

use memchr::memchr_iter;

use super::mark::Mark;
use super::run::{is_digit, run_after, run_before};
use crate::text::is_js_space;

const MYRIADS: [char; 2] = ['万', '亿'];

/// Find amounts: a number behind `¥`, or before 元 or 块; in both cases 万 or 亿 may stand behind the number.
pub(super) fn yuan(text: &str, marks: &[Mark]) -> impl Iterator<Item = Range<usize>> {
    let mut done = 0;
    marks.iter().filter_map(move |&Mark { at, sign }| {
        let amount = match sign {
            '¥' => {
                let number = &text[at + sign.len_utf8()..];
                let length = number_length(number.as_bytes());
                let behind = &number[length..];
                let myriad = behind.len() - behind.strip_prefix(MYRIADS).unwrap_or(behind).len();
                (length > 0).then_some(at..at + sign.len_utf8() + length + myriad)
            }
            '元' | '块' => {
                let front = &text[done..at];
                let end = done + front.strip_suffix(MYRIADS).unwrap_or(front).len();
                let start = number_start(text.as_bytes(), end, done);
                (start < end).then_some(start..at + sign.len_utf8())
            }
            _ => None,
        }?;
        done = amount.end;
        Some(amount)
    })
}

/// `$` and a number, and one of `K M B` in either case behind it, with or without white space between.
pub(super) fn dollars(text: &str) -> impl Iterator<Item = Range<usize>> {
    memchr_iter(b'$', text.as_bytes()).filter_map(|sign| {
        let number = &text[sign + 1..];
        let length = number_length(number.as_bytes());
        let behind = &number[length..];
        let unit = behind.strip_prefix(is_js_space).unwrap_or(behind);
        let has_unit = unit.starts_with(|c: char| matches!(c.to_ascii_uppercase(), 'K' | 'M' | 'B'));
        let unit = if has_unit { behind.len() - unit.len() + 1 } else { 0 };
        (length > 0).then_some(sign..sign + 1 + length + unit)
    })
}

/// Return the length of the number at the start of the bytes: digits and commas, then perhaps a dot and digits.
fn number_length(bytes: &[u8]) -> usize {
    let whole = run_after(bytes, 0, is_digit_or_comma);
    if whole == 0 || bytes.get(whole) != Some(&b'.') {
        return whole;
    }
    let end = run_after(bytes, whole + 1, is_digit);
    if end > whole + 1 { end } else { whole }
}

/// Return the start of the longest number that ends before `end`, not further back than `least`.
fn number_start(bytes: &[u8], end: usize, least: usize) -> usize {
    let whole = run_before(bytes, end, least, is_digit_or_comma);
    let fraction = run_before(bytes, end, least, is_digit);
    if fraction == whole && fraction < end && fraction > least && bytes[fraction - 1] == b'.' {
        let start = run_before(bytes, fraction - 1, least, is_digit_or_comma);
        if start < fraction - 1 {
            return start;
        }
    }
    whole
}

fn is_digit_or_comma(byte: u8) -> bool {
    is_digit(byte) || byte == b','
}
