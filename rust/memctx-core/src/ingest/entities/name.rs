//! People and projects.

use std::iter;
use std::ops::{Range, RangeInclusive};

use memchr::memchr_iter;

use super::run::{is_word, run_after, run_before};
use crate::text::is_js_space;

const NAME_CHARS: RangeInclusive<usize> = 2..=4;
const HUMPS: RangeInclusive<usize> = 2..=5;

/// Where a cue stands, and the two to four Chinese characters behind it.
pub(super) fn people(text: &str) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut at = 0;
    iter::from_fn(move || {
        while let Some(cue) = next_cue(text, at) {
            let behind = &text[cue.end..];
            let name = behind.trim_start_matches(is_js_space);
            let start = text.len() - name.len();
            let chars = name.chars().take(*NAME_CHARS.end()).take_while(|c| is_name_char(*c));
            let (count, length) = chars.fold((0, 0), |(count, length), c| (count + 1, length + c.len_utf8()));
            if NAME_CHARS.contains(&count) {
                at = start + length;
                return Some((cue.start, start..at));
            }
            // A cue may begin within one that no name follows.
            at = cue.start + text[cue.start..].chars().next().map_or(1, char::len_utf8);
        }
        None
    })
}

/// The first cue at `from` or behind it.
fn next_cue(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(&first) = bytes.get(at) {
        let length = match first {
            b'@' => 1,
            b'c' if bytes.get(at + 1) == Some(&b'c') => 2,
            // The bytes that Chinese cues begin with.
            0xE5..=0xE9 => chinese_cue(&text[at..]),
            _ => 0,
        };
        if length > 0 {
            return Some(at..at + length);
        }
        at += if first.is_ascii() { 1 } else { first.leading_ones() as usize };
    }
    None
}

/// Length of the cue that a text opens with, 0 when there is none.
fn chinese_cue(text: &str) -> usize {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some('找' | '问' | '跟' | '给' | '叫' | '是' | '让' | '请'), _) => 3,
        (Some('联'), Some('系'))
        | (Some('通'), Some('知'))
        | (Some('告'), Some('诉'))
        | (Some('转'), Some('告'))
        | (Some('抄'), Some('送')) => 6,
        _ => 0,
    }
}

fn is_name_char(c: char) -> bool {
    ('\u{4E00}'..='\u{9FA5}').contains(&c)
}

/// `owner/name`: letters, digits, `_` and `-` around a slash, and dots as well behind it.
pub(super) fn paths(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let is_owner = |byte| is_word(byte) || byte == b'-';
    let mut done = 0;
    memchr_iter(b'/', bytes).filter_map(move |slash| {
        let start = run_before(bytes, slash, done, is_owner);
        let end = run_after(bytes, slash + 1, |byte| is_owner(byte) || byte == b'.');
        if start == slash || end == slash + 1 {
            return None;
        }
        done = end;
        Some(start..end)
    })
}

/// Words of two to five humps, each a capital and small letters.
pub(super) fn camel_case(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    iter::from_fn(move || {
        while at < bytes.len() {
            let start = at + bytes[at..].iter().position(|&byte| is_word(byte))?;
            at = run_after(bytes, start, is_word);
            if HUMPS.contains(&humps(&bytes[start..at])) {
                return Some(start..at);
            }
        }
        None
    })
}

/// How many humps a word is made of; 0 when it holds anything else.
fn humps(word: &[u8]) -> usize {
    let mut count = 0;
    let mut at = 0;
    while at < word.len() {
        let end = run_after(word, at + 1, |byte| byte.is_ascii_lowercase());
        if !word[at].is_ascii_uppercase() || end == at + 1 {
            return 0;
        }
        count += 1;
        at = end;
    }
    count
}
