//! Lines of `.pgpass`: `host:port:database:user:password`.

use super::span::{Rank, Span};
use super::value::{Proof, is_secret};

/// Return the password of the line around an anchor, which is `:5432:` or another port between colons.
pub(super) fn line(text: &[u8], anchor: usize) -> Option<Span<'static>> {
    let before = &text[anchor.saturating_sub(256)..anchor];
    let start =
        before.iter().rposition(|byte| byte.is_ascii_whitespace() || b"\"'`\\".contains(byte)).map_or(0, |at| at + 1);
    let host = &before[start..];
    let is_host = !host.is_empty() && host.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-*".contains(byte));
    let rest = &text[anchor..text.len().min(anchor + 512)];
    let line = &rest
        [..rest.iter().position(|byte| byte.is_ascii_whitespace() || b"\"'`".contains(byte)).unwrap_or(rest.len())];
    let mut fields = line.splitn(5, |byte| *byte == b':');
    let (_, port, database, user, password) =
        (fields.next()?, fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let is_port = port == b"*" || (!port.is_empty() && port.iter().all(u8::is_ascii_digit));
    let is_line =
        is_host && is_port && !database.is_empty() && !user.is_empty() && is_secret(password, Proof::Password);
    let end = anchor + line.len();
    is_line.then_some(Span { start: end - password.len(), end, kind: "password", rank: Rank::Structure })
}
