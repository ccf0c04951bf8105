//! Credentials in HTTP headers: `Authorization`, `Bearer`, `Basic`, cookies.

use super::key;
use super::pem::decode;
use super::span::{Rank, Span};
use super::tables::{SCHEMES, holds};
use super::value::{Proof, is_placeholder, is_secret};
use super::wordy::looks_random;

/// A header's value is looked at so far.
const LONGEST: usize = 4096;

/// Parameters of longer schemes that hold a secret.
const PARAMETERS: &[&str] = &["response=", "signature=", "mac=", "oauth_token=", "oauth_signature=", "sig=", "token="];

fn span(start: usize, end: usize, kind: &'static str) -> Span<'static> {
    Span { start, end, kind, rank: Rank::Structure }
}

fn in_credential(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=:%|!$*@#&^".contains(&byte)
}

fn word_len(text: &[u8], in_word: impl Fn(u8) -> bool) -> usize {
    text.iter().take(LONGEST).take_while(|byte| in_word(**byte)).count()
}

/// Find credentials of `Authorization` and `Proxy-Authorization`. The anchor is the word `authorization`.
pub(super) fn authorization(text: &[u8], anchor_end: usize, spans: &mut Vec<Span<'_>>) {
    let Some(mut at) = separator(text, anchor_end) else { return };
    let line = line_end(text, at);
    let scheme = word_len(&text[at..line], |byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    let word = &text[at..at + scheme];
    let spaced = text.get(at + scheme) == Some(&b' ');
    let has_parameters =
        word.to_ascii_lowercase().starts_with(b"aws4-hmac") || is_any(word, &["digest", "hawk", "signature"]);
    if spaced && has_parameters {
        let rest = &text[at..text.len().min(at + LONGEST)];
        let end = at + rest.iter().position(|byte| b"\n\r".contains(byte)).unwrap_or(rest.len());
        return parameters(&text[..end], at + scheme, spans);
    }
    if spaced && holds(SCHEMES, word) {
        at += scheme + word_len(&text[at + scheme..line], |byte| byte == b' ');
        let id = word_len(&text[at..line], |byte| byte.is_ascii_alphanumeric());
        if is_any(word, &["basic"]) && text.get(at + id) == Some(&b' ') {
            return;
        }
        // `SharedKey account:signature`
        let is_account = id > 0 && text.get(at + id) == Some(&b':') && !looks_random(&text[at..at + id]);
        at += if is_account { id + 1 } else { 0 };
    } else if spaced && scheme < 12 && !looks_random(word) && !text[at..line].starts_with(b"ey") {
        return;
    }
    let end = at + trimmed(&text[at..at + word_len(&text[at..line], in_credential)]).len();
    let value = &text[at..end];
    let is_short = value.len() < 6 || (value.len() < 16 && !looks_random(value));
    if !is_short && !is_placeholder(value) && (looks_random(value) || is_any(word, &["basic"])) {
        spans.push(span(at, end, "authorization"));
    }
}

fn parameters(line: &[u8], from: usize, spans: &mut Vec<Span<'_>>) {
    let lower = line[from..].to_ascii_lowercase();
    for name in PARAMETERS {
        let Some(found) = memchr::memmem::find(&lower, name.as_bytes()) else { continue };
        let start = from + found + name.len();
        let start = start + usize::from(line.get(start) == Some(&b'"'));
        let end = start + word_len(&line[start..], |byte| in_credential(byte) && byte != b',');
        if end - start >= 8 && !is_placeholder(&line[start..end]) {
            spans.push(span(start, end, "authorization"));
        }
    }
}

/// Find the token after `Bearer`, in any case and context.
pub(super) fn bearer(text: &[u8], anchor_end: usize) -> Option<Span<'static>> {
    let start = anchor_end + gap(&text[anchor_end..])?;
    let end = start + trimmed(&text[start..start + word_len(&text[start..], in_credential)]).len();
    let value = &text[start..end];
    let enough = value.len() >= 16 && looks_random(value) && !is_placeholder(value);
    enough.then(|| span(start, end, "bearer_token"))
}

/// Find the credentials after `Basic`, if they are `user:password` in base64.
pub(super) fn basic(text: &[u8], anchor_end: usize) -> Option<Span<'static>> {
    let start = anchor_end + gap(&text[anchor_end..])?;
    let len = word_len(&text[start..], |byte| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte));
    if len < 12 {
        return None;
    }
    let plain = decode(&text[start..start + len]);
    let shown = plain.iter().all(|byte| (0x20..0x7F).contains(byte)) && plain.contains(&b':');
    (shown && !is_placeholder(&text[start..start + len])).then(|| span(start, start + len, "basic_auth"))
}

/// White space, or `%20` or `+`, between a scheme and its credential.
fn gap(rest: &[u8]) -> Option<usize> {
    let blank = rest.iter().take(4).take_while(|byte| b" \t+:=".contains(byte)).count();
    let blank = if rest.starts_with(b"%20") { 3 } else { blank };
    let quote = rest.get(blank).is_some_and(|byte| b"\"'`".contains(byte));
    (blank > 0).then_some(blank + usize::from(quote))
}

/// Find the cookies of a `Cookie` or `Set-Cookie` header. Return the end of the header.
pub(super) fn cookies(text: &[u8], anchor_end: usize, spans: &mut Vec<Span<'_>>) -> usize {
    let Some(start) = separator(text, anchor_end) else { return anchor_end };
    let mut at = start;
    let end = line_end(text, start);
    while at < end {
        let pair_end = at + text[at..end].iter().position(|byte| *byte == b';').unwrap_or(end - at);
        let pair = &text[at..pair_end];
        if let Some(equals) = memchr::memchr(b'=', pair) {
            let lead = word_len(pair, |byte| byte == b' ');
            let name = &pair[lead.min(equals)..equals];
            let value = trimmed(&pair[equals + 1..]);
            if is_session(name, value) {
                spans.push(span(at + equals + 1, at + equals + 1 + value.len(), "cookie"));
            }
        }
        at = pair_end + 1;
    }
    end
}

fn is_session(name: &[u8], value: &[u8]) -> bool {
    const ATTRIBUTES: [&str; 7] = ["expires", "path", "domain", "max-age", "samesite", "priority", "httponly"];
    if is_any(name, &ATTRIBUTES) || is_placeholder(value) || value.len() < 6 || name.contains(&b' ') {
        return false;
    }
    let lower = name.to_ascii_lowercase();
    let telling = ["sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember", "login", "key", "secret", "user"]
        .iter()
        .any(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some());
    let named = key::named(name).is_some_and(|named| is_secret(value, named.proof));
    named || (telling && is_secret(value, Proof::Password)) || (value.len() >= 16 && looks_random(value))
}

/// Return the start of a header's value, after `:`, `=`, quotes and brackets around the name.
fn separator(text: &[u8], name_end: usize) -> Option<usize> {
    let rest = &text[name_end..];
    let closing = rest.iter().take(6).take_while(|byte| b"\"'`]\\ ".contains(byte)).count();
    let sign = rest.get(closing).filter(|byte| b":=,".contains(byte))?;
    let is_call = *sign == b',' && closing == 0;
    let after = &rest[closing + 1..];
    let lead = after.iter().take(12).take_while(|byte| b" \t\"'`\\>".contains(byte)).count();
    let lead = if after[lead..].starts_with(b"f\"") || after[lead..].starts_with(b"f'") { lead + 2 } else { lead };
    (!is_call).then_some(name_end + closing + 1 + lead)
}

fn line_end(text: &[u8], start: usize) -> usize {
    let limit = text.len().min(start + LONGEST);
    let stop = |at: &usize| b"\n\r\"'`<".contains(&text[*at]) || text[*at] == b'\\' || text[*at] >= 0x80;
    (start..limit).find(stop).unwrap_or(limit)
}

/// Without the punctuation that ends a sentence or a clause.
fn trimmed(value: &[u8]) -> &[u8] {
    let tail = value.iter().rev().take_while(|byte| b".,;:!*&".contains(byte)).count();
    &value[..value.len() - tail]
}

fn is_any(word: &[u8], list: &[&str]) -> bool {
    list.iter().any(|entry| word.eq_ignore_ascii_case(entry.as_bytes()))
}
