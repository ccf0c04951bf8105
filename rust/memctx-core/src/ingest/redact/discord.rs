//! Discord's bot tokens: three parts between dots, the middle one of six characters.

use super::rule::{begins_token, behind_escape};
use super::span::{Rank, Span};
use super::wordy::looks_random;

const MIDDLE: usize = 6;

fn in_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-".contains(&byte)
}

/// Every such token. They have no fixed letters, so the dots are looked for.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span<'_>>) {
    for dot in memchr::memchr_iter(b'.', text) {
        if text.get(dot + MIDDLE + 1) == Some(&b'.') {
            spans.extend(around(text, dot));
        }
    }
}

fn around(text: &[u8], dot: usize) -> Option<Span<'static>> {
    let first = text[..dot].iter().rev().take(31).take_while(|byte| in_part(**byte)).count();
    let middle = text[dot + 1..].iter().take(MIDDLE).take_while(|byte| in_part(**byte)).count();
    let last_start = dot + MIDDLE + 2;
    let last = text.get(last_start..)?.iter().take(49).take_while(|byte| in_part(**byte)).count();
    let (start, end) = (behind_escape(text, dot - first), last_start + last);
    let is_token = (23..=30).contains(&(dot - start))
        && b"MNO".contains(&text[start])
        && middle == MIDDLE
        && (25..=48).contains(&last)
        && begins_token(text, start)
        && looks_random(&text[start..end]);
    is_token.then_some(Span { start, end, kind: "discord_token", rank: Rank::Token })
}
