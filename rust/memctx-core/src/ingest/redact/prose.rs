//! Secrets that a sentence names: "the password for staging is ...", "密码是 ...".

use super::key::Named;
use super::span::{Rank, Span};
use super::value::{Proof, is_secret, is_uuid};
use super::wordy::looks_random;

/// So many bytes behind the naming word belong to it.
const REACH: usize = 96;

/// So many words may stand between the naming word and the one that joins it to the value.
const MOST_WORDS: usize = 9;

/// Words that join a name to its value.
const JOINTS: &[&str] =
    &["is", "was", "are", "be", "as", "to", "with", "=", "->", "=>", ":", "-", "use", "using", "try", "equals", "it's"];

/// The secret behind a naming word in a sentence.
pub(super) fn after_name(text: &[u8], name_end: usize, named: Named) -> Option<Span<'static>> {
    let window = &text[name_end..text.len().min(name_end + REACH)];
    let line = &window[..memchr::memchr(b'\n', window).unwrap_or(window.len())];
    if let Some(span) = below(text, name_end, line, named) {
        return Some(span);
    }
    let mut joined = line.first().is_some_and(|byte| b":=".contains(byte));
    let mut at = usize::from(joined);
    for skipped in 0..MOST_WORDS {
        at += line[at..].iter().take_while(|byte| **byte == b' ').count();
        let len = line[at..].iter().take_while(|byte| **byte != b' ').count();
        if len == 0 {
            return None;
        }
        let (start, end) = bare(text, name_end + at);
        let has_pair = joined && named.kind == "credential" && named.proof < Proof::Long;
        if let Some(span) = has_pair.then(|| pair(text, name_end + at, named)).flatten() {
            return Some(span);
        }
        if joined && start < end && is_told(&text[start..end], named, skipped) {
            return Some(Span { start, end, kind: named.kind, rank: Rank::Context });
        }
        let word = &line[at..at + len];
        if !is_word(word) && !joins(word) {
            return None;
        }
        joined |= joins(word);
        at += len;
    }
    None
}

/// The word alone on the line below, when the line with the name ends in a colon.
fn below(text: &[u8], name_end: usize, line: &[u8], named: Named) -> Option<Span<'static>> {
    let bare_line =
        line.iter().rposition(|byte| !byte.is_ascii_whitespace() && *byte != b'*').map(|at| &line[..=at])?;
    if !bare_line.ends_with(b":") || !bare_line.iter().all(|byte| is_word(&[*byte]) || b" :".contains(byte)) {
        return None;
    }
    let rest = &text[name_end + line.len()..];
    let lead = rest.iter().take(40).take_while(|byte| byte.is_ascii_whitespace()).count();
    let fence = if rest[lead..].starts_with(b"```") {
        memchr::memchr(b'\n', &rest[lead..rest.len().min(lead + 20)])? + 1
    } else {
        0
    };
    let (start, end) = bare(text, name_end + line.len() + lead + fence);
    let alone = text[end..].iter().find(|byte| !b" \t`*".contains(byte)).is_none_or(|byte| b"\r\n".contains(byte));
    let enough = if named.proof == Proof::Password { 8 } else { 16 };
    let found = Span { start, end, kind: named.kind, rank: Rank::Context };
    (alone && end - start >= enough && is_told(&text[start..end], named, 0)).then_some(found)
}

/// `user:password` or `user / password`.
fn pair(text: &[u8], at: usize, named: Named) -> Option<Span<'static>> {
    let (start, end) = bare(text, at);
    let user = text[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.@-".contains(byte)).count();
    let blank = text[start + user..].iter().take(2).take_while(|byte| **byte == b' ').count();
    let sign = start + user + blank;
    if user == 0 || !text.get(sign).is_some_and(|byte| b":/".contains(byte)) {
        return None;
    }
    let (cut, end) = if blank == 0 {
        (sign + 1, end)
    } else {
        bare(text, sign + 1 + usize::from(text.get(sign + 1) == Some(&b' ')))
    };
    if cut >= end || text[cut..end].contains(&b'/') {
        return None;
    }
    is_secret(&text[cut..end], Proof::Password).then_some(Span {
        start: cut,
        end,
        kind: named.kind,
        rank: Rank::Context,
    })
}

fn joins(word: &[u8]) -> bool {
    word.ends_with(b":")
        || word.ends_with(b"=")
        || JOINTS.iter().any(|joint| word.eq_ignore_ascii_case(joint.as_bytes()))
}

fn is_word(word: &[u8]) -> bool {
    word.iter().all(|byte| byte.is_ascii_alphabetic() || b"'()/_-,\"`*".contains(byte) || *byte >= 0x80)
}

/// The word that begins here, without quotes, brackets, emphasis and punctuation around it.
fn bare(text: &[u8], at: usize) -> (usize, usize) {
    let opening = text[at..].iter().take(4).take_while(|byte| b"\"'`*(<[".contains(byte)).count();
    let curly = "\u{201C}".as_bytes();
    let start = at + opening + if text[at + opening..].starts_with(curly) { curly.len() } else { 0 };
    let in_value = |byte: &&u8| byte.is_ascii_graphic() && !b"\"'`<>".contains(byte);
    let mut end = start + text[start..].iter().take(512).take_while(in_value).count();
    while end > start
        && (b".,;:!?*".contains(&text[end - 1]) || (text[end - 1] == b')' && !text[start..end].contains(&b'(')))
    {
        end -= 1;
    }
    (start, end)
}

/// Whether a word that a sentence gives as a secret is one.
fn is_told(value: &[u8], named: Named, skipped: usize) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let signs = value.iter().filter(|byte| b"!@#$%^&*?~+=".contains(byte)).count();
    let is_hex = value.iter().all(u8::is_ascii_hexdigit);
    let is_hash = is_hex && (skipped > 1 && matches!(value.len(), 7..=12 | 32 | 40 | 64));
    let is_armour = memchr::memmem::find(value, b"----").is_some();
    if is_hash || is_armour || is_uuid(value) && skipped > 2 || !is_secret(value, named.proof) {
        return false;
    }
    match named.proof {
        Proof::Password => value.len() >= 6 && (digits > 0 || signs > 1 || looks_random(value)),
        _ => value.len() >= if skipped == 0 { 8 } else { 12 } && looks_random(value),
    }
}

/// Words of other scripts that name a secret, and whether it is a password.
pub(super) const FOREIGN: &[(&str, &str, Proof)] = &[
    ("密码", "password", Proof::Password),
    ("密碼", "password", Proof::Password),
    ("口令", "password", Proof::Password),
    ("パスワード", "password", Proof::Password),
    ("暗証番号", "password", Proof::Password),
    ("パスフレーズ", "password", Proof::Password),
    ("비밀번호", "password", Proof::Password),
    ("암호", "password", Proof::Password),
    ("패스워드", "password", Proof::Password),
    ("пароль", "password", Proof::Password),
    ("密钥", "api_key", Proof::Random),
    ("密鑰", "api_key", Proof::Random),
    ("秘钥", "api_key", Proof::Random),
    ("私钥", "api_key", Proof::Random),
    ("令牌", "token", Proof::Random),
    ("凭证", "credential", Proof::Random),
    ("凭据", "credential", Proof::Random),
    ("授权码", "token", Proof::Random),
    ("トークン", "token", Proof::Random),
    ("シークレット", "secret", Proof::Random),
    ("秘密鍵", "api_key", Proof::Random),
    ("キー", "api_key", Proof::Random),
    ("토큰", "token", Proof::Random),
    ("시크릿", "secret", Proof::Random),
    ("비밀키", "api_key", Proof::Random),
    ("키", "api_key", Proof::Random),
    ("токен", "token", Proof::Random),
];

/// The ASCII word that follows such a word in the same clause.
pub(super) fn after_foreign(text: &[u8], anchor_end: usize, named: Named) -> Option<Span<'static>> {
    let window = &text[anchor_end..text.len().min(anchor_end + REACH)];
    let mut at = 0;
    let mut words = 0;
    while at < window.len() {
        match window[at] {
            b'\n' => return None,
            0xE3 if window[at..].starts_with("\u{3002}".as_bytes()) => return None,
            byte if byte.is_ascii_alphanumeric() || b"$!@#%^&~+/".contains(&byte) => {
                let (start, end) = bare(text, anchor_end + at);
                if is_told(&text[start..end], named, 0) {
                    return Some(Span { start, end, kind: named.kind, rank: Rank::Context });
                }
                words += 1;
                if words > 3 || !is_word(&text[start..end]) {
                    return None;
                }
                at = end - anchor_end;
            }
            _ => {}
        }
        at += 1;
    }
    None
}
