//! Private keys in their armor: PEM, OpenSSH, PGP, `PuTTY`, and JSON web keys.

use memchr::memmem;

use super::rule::begins_token;
use super::span::{MARK, Rank, Span};

const KIND: &str = "private_key";

/// A line of armor is no longer than this.
const LONGEST_ARMOR: usize = 80;

/// A line of base64 shorter than this only ends a body.
const SHORTEST_LINE: usize = 16;

fn span(start: usize, end: usize) -> Span<'static> {
    Span { start, end, kind: KIND, rank: Rank::Structure }
}

/// Find the body behind `PRIVATE KEY`, up to the armor that closes it or, in a block cut short, as far as it looks
/// like one.
pub(super) fn armored(text: &[u8], anchor: usize) -> Option<Span<'static>> {
    let before = &text[anchor.saturating_sub(LONGEST_ARMOR)..anchor];
    let opening = memmem::rfind(before, b"BEGIN")?;
    if before[opening..].iter().any(|&byte| !byte.is_ascii_uppercase() && !byte.is_ascii_digit() && byte != b' ') {
        return None;
    }
    let after = anchor + b"PRIVATE KEY".len();
    let rest = &text[after..];
    let rest = rest.strip_prefix(b" BLOCK").unwrap_or(rest);
    let trimmed = rest.strip_prefix(b" ").unwrap_or(rest);
    let dashes = trimmed.iter().take_while(|&&byte| byte == b'-').count();
    if dashes < 4 {
        return None;
    }
    let start = text.len() - trimmed.len() + dashes;
    let end = start + body_len(&text[start..]);
    let lead = text[start..end].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let body = &text[start..end];
    let is_masked = memmem::find(body, MARK.as_bytes()).is_some();
    if is_masked || longest_run(body) < SHORTEST_LINE {
        return None;
    }
    Some(span(start + lead, trim_end(text, start + lead, end)))
}

fn body_len(body: &[u8]) -> usize {
    let closing = memmem::find(body, b"----");
    match closing {
        Some(at) if body[at..].iter().find(|&&byte| byte != b'-' && byte != b' ') == Some(&b'E') => at,
        _ => cut_body_len(&body[..closing.unwrap_or(body.len())]),
    }
}

/// Return the length of base64 words, with the characters that join lines in code.
fn cut_body_len(body: &[u8]) -> usize {
    let mut end = 0;
    let mut at = 0;
    let mut short = 0;
    while at < body.len() {
        let joint = joint_len(&body[at..]);
        let word = body[at + joint..].iter().take_while(|byte| is_base64(**byte)).count();
        if word == 0 {
            break;
        }
        let word_end = at + joint + word;
        let is_header = body.get(word_end) == Some(&b':') || body.get(word_end) == Some(&b'-');
        if is_header {
            let line = body[word_end..].iter().position(|&byte| byte == b'\n' || byte == b'\\');
            at = word_end + line.unwrap_or(body.len() - word_end);
            continue;
        }
        short = if word < SHORTEST_LINE { short + 1 } else { 0 };
        if short > 1 {
            break;
        }
        at = word_end;
        end = word_end;
    }
    end
}

/// White space, escapes of it, quotes and signs between two lines of a key in a program or a listing.
fn joint_len(rest: &[u8]) -> usize {
    let mut at = 0;
    while at < rest.len().min(64) {
        match rest[at] {
            b'\\' if rest.get(at + 1).is_some_and(|byte| b"nrt\\".contains(byte)) => at += 2,
            byte if byte.is_ascii_whitespace() || b"\"'+,|>#*\\.".contains(&byte) => at += 1,
            _ => break,
        }
    }
    at
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

fn longest_run(body: &[u8]) -> usize {
    body.split(|byte| !is_base64(*byte)).map(<[u8]>::len).max().unwrap_or(0)
}

fn trim_end(text: &[u8], start: usize, end: usize) -> usize {
    let body = &text[start..end];
    let blank = body.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    let body = &body[..body.len() - blank];
    start + body.strip_suffix(b"\\n").unwrap_or(body).len()
}

/// Find the lines behind `Private-Lines: n` of a `PuTTY` key.
pub(super) fn putty(text: &[u8], anchor: usize) -> Option<Span<'static>> {
    let after = anchor + b"Private-Lines:".len();
    let count = text[after..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b' ').count();
    let start = after + count + joint_len(&text[after + count..]);
    let end = start + cut_body_len(&text[start..]);
    (end > start + SHORTEST_LINE).then(|| span(start, end))
}

/// PEM in base64, as in Kubernetes files, if it holds a private key.
pub(super) fn encoded(text: &[u8], anchor: usize) -> Option<Span<'static>> {
    let head = decode(&text[anchor..text.len().min(anchor + 64)]);
    if !begins_token(text, anchor) || memmem::find(&head, b"PRIVATE").is_none() {
        return None;
    }
    Some(span(anchor, anchor + text[anchor..].iter().take_while(|byte| is_base64(**byte)).count()))
}

/// Base64 without its padding; what is no base64 ends it.
pub(super) fn decode(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut bits, mut held) = (0u32, 0);
    for &byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xFF) as u8);
        }
    }
    bytes
}

/// Longest distance of the parts of a JSON web key from `"kty"`.
const KEY_SPAN: usize = 4096;

/// Find the secret parts of the JSON web key around a `"kty"`. Return the end of the key.
pub(super) fn web_key(text: &[u8], anchor: usize, spans: &mut Vec<Span<'_>>) -> usize {
    let before = &text[anchor.saturating_sub(KEY_SPAN)..anchor];
    let start = anchor - before.iter().rev().position(|byte| *byte == b'{').unwrap_or(before.len());
    let after = &text[anchor..text.len().min(anchor + KEY_SPAN)];
    let end = anchor + after.iter().position(|byte| *byte == b'}').unwrap_or(after.len());
    for part in ["d", "p", "q", "dp", "dq", "qi", "k"] {
        let name = format!("\"{part}\"");
        let Some(at) = memmem::find(&text[start..end], name.as_bytes()) else { continue };
        let value = start + at + name.len();
        let lead = text[value..end].iter().take_while(|byte| b" :\"\t".contains(byte)).count();
        let len =
            text[value + lead..end].iter().take_while(|b| b.is_ascii_alphanumeric() || b"-_+/=".contains(b)).count();
        if len >= SHORTEST_LINE {
            spans.push(span(value + lead, value + lead + len));
        }
    }
    end
}
