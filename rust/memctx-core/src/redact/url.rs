//! Passwords in the authority of a URL of any scheme.

use super::span::{Rank, Span};
use super::tables::{URL_WORDS, holds};
use super::value::{Proof, is_placeholder, is_secret, is_uuid};
use super::wordy::looks_random;

const KIND: &str = "url_password";

/// Longer authorities are no authorities.
const LONGEST: usize = 1024;

/// Return whether a byte ends a URL in text.
fn ends_url(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte >= 0x80 || b"\"'`<>|\\".contains(&byte)
}

/// Return the secret between `://` and the host.
pub(super) fn user_info(text: &[u8], anchor: usize) -> Option<Span<'static>> {
    let start = anchor + b"://".len();
    let scheme = anchor.checked_sub(1).map(|at| text[at])?;
    if !scheme.is_ascii_alphanumeric() && scheme != b'+' {
        return None;
    }
    let window = &text[start..text.len().min(start + LONGEST)];
    let url = &window[..window.iter().position(|&byte| ends_url(byte)).unwrap_or(window.len())];
    let authority = &url[..url.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(url.len())];
    let info = match memchr::memrchr(b'@', authority) {
        Some(at) => &url[..at],
        None => &url[..stray_at(url, authority)?],
    };
    let Some(colon) = memchr::memchr(b':', info) else {
        return lone_token(info).then_some(Span { start, end: start + info.len(), kind: KIND, rank: Rank::Structure });
    };
    let password = &info[colon + 1..];
    let span = Span { start: start + colon + 1, end: start + info.len(), kind: KIND, rank: Rank::Structure };
    is_password(&info[..colon], password).then_some(span)
}

/// Return the offset of the `@` when the password contains a slash: then the text before the slash is not a port.
fn stray_at(url: &[u8], authority: &[u8]) -> Option<usize> {
    let colon = memchr::memchr(b':', authority)?;
    let port = &authority[colon + 1..];
    let at = memchr::memrchr(b'@', url)?;
    let host = url.get(at + 1).is_some_and(u8::is_ascii_alphanumeric);
    (!port.is_empty() && !port.iter().all(u8::is_ascii_digit) && host && port[0] != b']').then_some(at)
}

fn is_password(user: &[u8], password: &[u8]) -> bool {
    if password.is_empty() || is_placeholder(password) || password.eq_ignore_ascii_case(user) {
        return false;
    }
    let is_variable = [&b"{"[..], b"$", b"<", b"%s", b"["].iter().any(|start| password.starts_with(start));
    let plain = password.iter().all(|byte| byte.is_ascii_lowercase() || b"_-".contains(byte));
    let plain = plain && (password.len() < 6 || holds(URL_WORDS, password));
    let drawn = looks_random(password) || is_secret(password, Proof::Password);
    !is_variable && (drawn || !plain && password.len() >= 4)
}

/// Return whether the user is a token, as some hosts have it.
fn lone_token(user: &[u8]) -> bool {
    let plain = user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte));
    plain && user.len() >= 20 && looks_random(user) && !is_placeholder(user) && !is_uuid(user)
}

/// Return the password of a data source without a scheme, `user:password@tcp(host)/db`.
pub(super) fn data_source(text: &[u8], anchor: usize) -> Option<Span<'static>> {
    let before = &text[anchor.saturating_sub(256)..anchor];
    let start = before.iter().rposition(|&byte| ends_url(byte) || byte == b'=').map_or(0, |at| at + 1);
    let info = &before[start..];
    let colon = memchr::memchr(b':', info)?;
    let (user, password) = (&info[..colon], &info[colon + 1..]);
    let end = anchor;
    let span = Span { start: end - password.len(), end, kind: KIND, rank: Rank::Structure };
    (!user.is_empty() && is_password(user, password)).then_some(span)
}
