//! URLs and mail addresses.

use std::ops::Range;

use memchr::memchr_iter;

use super::run::{run_after, run_before};
use crate::text::is_js_space;

/// Find URLs: `http://` or `https://`, up to white space or one of `< > " ' ) ]`.
pub(super) fn urls(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut done = 0;
    memchr_iter(b':', bytes).filter_map(move |colon| {
        let body = colon + "://".len();
        if bytes.get(colon..body) != Some(b"://") {
            return None;
        }
        let start = ["https", "http"].iter().find_map(|scheme| {
            let start = colon.checked_sub(scheme.len()).filter(|&start| start >= done)?;
            bytes[start..colon].eq_ignore_ascii_case(scheme.as_bytes()).then_some(start)
        })?;
        let ends = |c| is_js_space(c) || matches!(c, '<' | '>' | '"' | '\'' | ')' | ']');
        let end = text[body..].find(ends).map_or(text.len(), |length| body + length);
        if end == body {
            return None;
        }
        done = end;
        Some(start..end)
    })
}

/// `local@host.domain`, where the domain is two letters or more.
pub(super) fn emails(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut done = 0;
    memchr_iter(b'@', bytes).filter_map(move |at| {
        let is_local = |byte: u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(&byte);
        let start = run_before(bytes, at, done, is_local);
        if start == at {
            return None;
        }
        let is_letter = |byte: u8| byte.is_ascii_alphabetic();
        let host = at + 1;
        let end = run_after(bytes, host, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
        // The last dot that has something before it and two letters behind it.
        let dot = (host + 1..end)
            .rev()
            .find(|&dot| bytes[dot] == b'.' && run_after(&bytes[..end.min(dot + 3)], dot + 1, is_letter) == dot + 3)?;
        done = run_after(bytes, dot + 1, is_letter);
        Some(start..done)
    })
}
