//! Tokens recognized by their dots: Discord's bots (three parts, the middle one of six characters) and Zhipu's keys.

use super::rule::{begins_token, behind_escape};
use super::span::{Rank, Span};
use super::wordy::looks_random;

/// Characters between the two dots of a Discord token.
const MIDDLE: usize = 6;

/// Hexadecimal digits before the dot of a Zhipu key, and letters and digits behind it.
const ZHIPU: (usize, usize) = (32, 16);

fn in_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-".contains(&byte)
}

/// Find every such token. They have no fixed letters, so the dots are looked for.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span<'_>>) {
    for dot in memchr::memchr_iter(b'.', text) {
        if text.get(dot + MIDDLE + 1) == Some(&b'.') {
            spans.extend(discord(text, dot));
        } else if dot >= ZHIPU.0 && text[dot - 1].is_ascii_hexdigit() && text[dot - ZHIPU.0].is_ascii_hexdigit() {
            spans.extend(zhipu(text, dot));
        }
    }
}

fn discord(text: &[u8], dot: usize) -> Option<Span<'static>> {
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

fn zhipu(text: &[u8], dot: usize) -> Option<Span<'static>> {
    let start = dot - ZHIPU.0;
    let is_hex = text[start..dot].iter().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte));
    let rest = &text[dot + 1..];
    let len = rest.iter().take(ZHIPU.1 + 1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let is_key = is_hex && len == ZHIPU.1 && begins_token(text, start) && looks_random(&rest[..len]);
    is_key.then_some(Span { start, end: dot + 1 + len, kind: "zhipu_key", rank: Rank::Token })
}
