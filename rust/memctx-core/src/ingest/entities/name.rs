//! People and projects.

use std::iter;
use std::ops::{Range, RangeInclusive};

use memchr::memchr_iter;

use super::mark::Mark;
use super::run::{is_word, run_after, run_before};
use crate::text::is_js_space;

const NAME_CHARS: RangeInclusive<usize> = 2..=4;
const HUMPS: RangeInclusive<usize> = 2..=5;

/// Find people: the offset of a word that introduces a name, and the two to four Chinese characters after it.
pub(super) fn people(text: &str, marks: &[Mark]) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut done = 0;
    marks.iter().filter_map(move |mark| {
        if mark.at < done {
            return None;
        }
        let name = cue_removed(&text[mark.at..])?.trim_start_matches(is_js_space);
        let chars = name.chars().take(*NAME_CHARS.end()).take_while(|c| is_name_char(*c));
        let (count, length) = chars.fold((0, 0), |(count, length), c| (count + 1, length + c.len_utf8()));
        if !NAME_CHARS.contains(&count) {
            return None;
        }
        let start = text.len() - name.len();
        done = start + length;
        Some((mark.at, start..done))
    })
}

/// Return the text after the cue that it opens with.
fn cue_removed(text: &str) -> Option<&str> {
    let short = ['@', '找', '问', '跟', '给', '叫', '是', '让', '请'];
    let long = ["联系", "通知", "告诉", "转告", "抄送", "cc"];
    text.strip_prefix(short).or_else(|| long.iter().find_map(|cue| text.strip_prefix(cue)))
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

/// Find words of two to five humps, each a capital and small letters.
pub(super) fn camel_case(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    iter::from_fn(move || {
        while let Some(joint) = next_joint(bytes, at) {
            let start = run_before(bytes, joint, at, is_word);
            at = run_after(bytes, joint, is_word);
            if HUMPS.contains(&humps(&bytes[start..at])) {
                return Some(start..at);
            }
        }
        None
    })
}

/// Return the first small letter at `from` or behind it that a capital follows.
fn next_joint(bytes: &[u8], from: usize) -> Option<usize> {
    let is_joint = |(left, right): (&u8, &u8)| left.is_ascii_lowercase() & right.is_ascii_uppercase();
    let mut at = from;
    // Most blocks have none; without branches the compiler compares all of a block at once.
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<33>()) {
        if block.iter().zip(&block[1..]).fold(false, |any, pair| any | is_joint(pair)) {
            break;
        }
        at += block.len() - 1;
    }
    let rest = bytes.get(at..)?;
    rest.iter().zip(rest.get(1..)?).position(is_joint).map(|found| at + found)
}

/// Return the number of humps of a word; 0 if it contains anything else.
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
