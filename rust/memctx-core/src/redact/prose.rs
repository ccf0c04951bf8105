//! Secrets that a sentence names: "the password for staging is ...", "密码是 ...".

use super::key::Named;
use super::span::{Rank, Span};
use super::tables::{ABOUT_IN_PROSE, ADVERBS, JOINTS, NOT_AFTER, holds};
use super::value::{Proof, is_pin, is_secret, is_uuid};
use super::wordy::looks_random;

/// So many bytes behind the naming word belong to it.
const REACH: usize = 96;

/// So many words may stand between the naming word and the one that joins it to the value.
const MOST_WORDS: usize = 9;

/// Shorter naming words of other languages are found as whole words only; longer ones also end compounds.
const SHORT_WORD: usize = 6;

/// Return the secret behind a naming word in a sentence.
pub(super) fn after_name(text: &[u8], name_end: usize, named: Named) -> Option<Span<'static>> {
    let window = &text[name_end..text.len().min(name_end + REACH)];
    let line = &window[..memchr::memchr(b'\n', window).unwrap_or(window.len())];
    if let Some(span) = below(text, name_end, line, named) {
        return Some(span);
    }
    // Words since the last joint that are no adverbs.
    let mut since = line.first().is_some_and(|byte| b":=".contains(byte)).then_some(0);
    let mut at = usize::from(since.is_some());
    for skipped in 0..MOST_WORDS {
        at += line[at..].iter().take_while(|byte| **byte == b' ').count();
        let len = line[at..].iter().take_while(|byte| **byte != b' ').count();
        if len == 0 {
            return None;
        }
        if let Some(since) = since {
            let (start, end) = bare(text, name_end + at);
            let has_pair = named.kind == "credential" && named.proof < Proof::Long;
            if let Some(span) = has_pair.then(|| pair(text, name_end + at, named)).flatten() {
                return Some(span);
            }
            let context = Context { skipped, since };
            if start < end && is_given(&text[start..end], named, context) {
                return Some(Span { start, end, kind: named.kind, rank: Rank::Context });
            }
        }
        let word = &line[at..at + len];
        let plain = &word[..word.len() - word.iter().rev().take_while(|byte| b",;:".contains(byte)).count()];
        if !is_word(word) && !joins(word) || skipped == 0 && holds(ABOUT_IN_PROSE, plain) {
            return None;
        }
        if joins(word) {
            since = Some(0);
        } else if !holds(ADVERBS, plain) {
            since = since.map(|since| since + 1);
        }
        at += len;
    }
    None
}

/// Context of a value in its sentence.
#[derive(Clone, Copy)]
struct Context {
    /// Words between the naming word and the value.
    skipped: usize,
    /// Number of those after the last conjunction that are not adverbs.
    since: usize,
}

/// Return the word alone on the line below, when the line with the name ends in a colon.
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
    let enough = if named.proof <= Proof::Password { 8 } else { 16 };
    let found = Span { start, end, kind: named.kind, rank: Rank::Context };
    (alone && end - start >= enough && is_given(&text[start..end], named, AT_ONCE)).then_some(found)
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
    word.ends_with(b":") || word.ends_with(b"=") || holds(JOINTS, word)
}

fn is_word(word: &[u8]) -> bool {
    word.iter().all(|byte| byte.is_ascii_alphabetic() || b"'()/_-,\"`*".contains(byte) || *byte >= 0x80)
}

/// Return the word that begins here, without quotes, brackets, emphasis and punctuation around it.
fn bare(text: &[u8], at: usize) -> (usize, usize) {
    const QUOTES: [&str; 6] = ["\u{201C}", "\u{201E}", "\u{2018}", "\u{AB}", "\u{300C}", "\u{300E}"];
    let opening = text[at..].iter().take(4).take_while(|byte| b"\"'`*(<[".contains(byte)).count();
    let quote = QUOTES.iter().find(|quote| text[at + opening..].starts_with(quote.as_bytes()));
    let start = at + opening + quote.map_or(0, |quote| quote.len());
    let in_value = |byte: &&u8| byte.is_ascii_graphic() && !b"\"'`<>".contains(byte);
    let mut end = start + text[start..].iter().take(512).take_while(in_value).count();
    while end > start
        && (b".,;:!?*".contains(&text[end - 1]) || (text[end - 1] == b')' && !text[start..end].contains(&b'(')))
    {
        end -= 1;
    }
    (start, end)
}

/// The place of a value right behind the naming word.
const AT_ONCE: Context = Context { skipped: 0, since: 0 };

/// Return whether a word that a sentence gives as a secret is one.
fn is_given(value: &[u8], named: Named, context: Context) -> bool {
    if named.proof == Proof::Pin && (is_pin(value) || named.kind == "pin") {
        return is_pin(value) && context.since == 0;
    }
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let signs = value.iter().filter(|byte| b"!@#$%^&*?~+=".contains(byte)).count();
    let is_hex = value.iter().all(u8::is_ascii_hexdigit);
    let is_commit = value.len() == 40 && named.proof == Proof::Long;
    let is_hash = is_hex && (is_commit || context.skipped > 1 && matches!(value.len(), 7..=12 | 32 | 40 | 64));
    let is_armor = memchr::memmem::find(value, b"----").is_some();
    if is_hash || is_armor || is_uuid(value) && context.skipped > 2 || !is_secret(value, named.proof) {
        return false;
    }
    match named.proof {
        Proof::Pin | Proof::Password => {
            let is_random = looks_random(value);
            value.len() >= 6 && (is_random || (digits > 0 || signs > 1) && context.since == 0)
        }
        _ => value.len() >= if context.skipped == 0 { 8 } else { 12 } && looks_random(value),
    }
}

/// Return the secret behind a naming word of a language other than English.
pub(super) fn after_naming_word(text: &[u8], start: usize, end: usize, named: Named) -> Option<Span<'static>> {
    let word = &text[start..end];
    let before = start.checked_sub(1).map_or(b' ', |before| text[before]);
    let after = text.get(end).copied().unwrap_or(b' ');
    let last = word.iter().rfind(|byte| **byte < 0x80 || **byte >= 0xC0).copied().unwrap_or(b' ');
    if last >= 0xD0 {
        return behind(text, end, named);
    }
    // Punctuation and blanks beyond ASCII begin with these two; letters do not.
    let ends = !(after.is_ascii_alphanumeric() || after == b'_') && (after < 0x80 || matches!(after, 0xC2 | 0xE2));
    let begins = word.len() > SHORT_WORD || !before.is_ascii_alphanumeric() && before < 0x80;
    if ends && begins { after_name(text, end, named) } else { None }
}

/// Return the ASCII word that follows a naming word in the same clause, in a script without blanks or articles.
fn behind(text: &[u8], anchor_end: usize, named: Named) -> Option<Span<'static>> {
    let window = &text[anchor_end..text.len().min(anchor_end + REACH)];
    let mut at = 0;
    let mut words = 0;
    while at < window.len() {
        match window[at] {
            b'\n' => return None,
            0xE3 if window[at..].starts_with("\u{3002}".as_bytes()) => return None,
            byte if byte.is_ascii_alphanumeric() || b"$!@#%^&~+/".contains(&byte) => {
                let (start, end) = bare(text, anchor_end + at);
                let value = &text[start..end];
                if is_given(value, named, AT_ONCE) && (looks_random(value) || !is_counted(&text[end..])) {
                    return Some(Span { start, end, kind: named.kind, rank: Rank::Context });
                }
                words += 1;
                if words > 3 || !is_word(value) {
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

/// Return whether what follows a value says that it counts, dates or places something.
fn is_counted(rest: &[u8]) -> bool {
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    NOT_AFTER.iter().any(|word| rest.starts_with(word.as_bytes()))
}
