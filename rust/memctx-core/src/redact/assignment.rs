//! Values behind a name: `name = value` in programs, settings, data, mark-up and on command lines.

use memchr::memmem;

use super::key::{self, LONGEST_NAME, Named};
use super::prose;
use super::quote::{Quoted, quoted};
use super::span::{Rank, Span};
use super::tables::{CHECKSUMS, GETTERS};
use super::value::{Proof, is_secret};
use super::wordy::looks_random;

/// A value is judged by so many bytes; the rest of a longer one goes with it.
const JUDGED: usize = 128;

/// Digits of a commit: behind a weak name such as `auth` it is nothing else.
const COMMIT: usize = 40;

/// Blanks that French puts before a colon.
const NO_BREAK: [&str; 2] = ["\u{A0}", "\u{202F}"];

/// Syntax between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    /// `=` or `:` and their kin.
    Sign,
    /// A comma, a comparison or an "or": only a quoted value counts.
    Loose,
    /// Nothing but a blank.
    Blank,
    /// The end of an XML tag.
    Tag,
}

/// A name in the text.
struct Name {
    start: usize,
    end: usize,
}

/// Look at the name around an anchor and mark its value if that is a secret. Gives the end of the name.
pub(super) fn check(text: &[u8], anchor: usize, anchor_end: usize, spans: &mut Vec<Span<'_>>) -> usize {
    let name = name_around(text, anchor, anchor_end);
    let Some((joint, at)) = joint(text, &name).filter(|_| !in_checksum(text, &name)) else { return name.end };
    let Some(named) = meaning(text, &name).filter(|_| !in_resource_name(text, &name)) else { return name.end };
    let context = Context { text, name: &name, named, joint };
    let found = spans.len();
    if at != name.end {
        context.values(at, spans);
    }
    if spans.len() == found && joint != Joint::Tag {
        spans.extend(prose::after_name(text, name.end, named));
    }
    name.end
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

fn name_around(text: &[u8], anchor: usize, anchor_end: usize) -> Name {
    let left = text[..anchor].iter().rev().take(LONGEST_NAME).take_while(|byte| in_name(**byte)).count();
    let right = text[anchor_end..].iter().take(LONGEST_NAME).take_while(|byte| in_name(**byte)).count();
    let mut start = anchor - left;
    let mut end = anchor_end + right;
    if start > 0 && text[start - 1] == b'\\' && start < anchor && b"nrt".contains(&text[start]) {
        start += 1;
    }
    while start < anchor && b"-.".contains(&text[start]) {
        start += 1;
    }
    while end > anchor_end && b"-.".contains(&text[end - 1]) {
        end -= 1;
    }
    Name { start, end }
}

/// Return the meaning of a name; a bare `key` includes the word before it, as do the French `mot de passe` and `code
/// secret`.
fn meaning(text: &[u8], name: &Name) -> Option<Named> {
    let own = &text[name.start..name.end];
    let before = &text[name.start.saturating_sub(24)..name.start];
    let spaced = before.ends_with(b" ").then(|| &before[..before.len() - 1]);
    let word = spaced.map_or(&b""[..], |before| {
        let len = before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        &before[before.len() - len..]
    });
    let is_phrase = |first: &[u8], second: &[u8]| word.eq_ignore_ascii_case(first) && own.eq_ignore_ascii_case(second);
    if is_phrase(b"de", b"passe") {
        return Some(Named { kind: "password", proof: Proof::Password });
    }
    if is_phrase(b"code", b"secret") {
        return Some(Named { kind: "password", proof: Proof::Pin });
    }
    if own.len() <= 5 && !word.is_empty() && word.iter().any(u8::is_ascii_alphabetic) {
        let both = [word, b"_", own].concat();
        if own.eq_ignore_ascii_case(b"key") || own.eq_ignore_ascii_case(b"token") && is_lower(word) {
            return key::named(&both);
        }
    }
    key::named(own)
}

/// Return whether the name is a field of `arn:...`, which names a place.
fn in_resource_name(text: &[u8], name: &Name) -> bool {
    let before = &text[name.start.saturating_sub(80)..name.start];
    let word =
        before.iter().rposition(|byte| byte.is_ascii_whitespace() || b"\"'".contains(byte)).map_or(0, |at| at + 1);
    before.ends_with(b":") && before[word..].starts_with(b"arn:")
}

/// Return whether the name is the file of a checksum, as in `MD5 (name) = ...`.
fn in_checksum(text: &[u8], name: &Name) -> bool {
    if text.get(name.end) != Some(&b')') {
        return false;
    }
    let before = &text[name.start.saturating_sub(128)..name.start];
    let Some(open) = memchr::memrchr(b'(', before) else { return false };
    let word = before[..open].trim_ascii_end();
    let len = word.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || b"-/_".contains(byte)).count();
    let word = word[word.len() - len..].to_ascii_lowercase();
    CHECKSUMS.iter().any(|start| word.starts_with(start.as_bytes()))
}

/// Return whether the name, right before a parenthesis, asks for something rather than taking it.
fn is_getter(name: &[u8]) -> bool {
    let last = &name[memchr::memrchr(b'.', name).map_or(0, |dot| dot + 1)..];
    GETTERS.iter().any(|verb| last.len() >= verb.len() && last[..verb.len()].eq_ignore_ascii_case(verb.as_bytes()))
}

fn is_lower(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_lowercase)
}

/// Return the syntax after a name, and the start of the value.
fn joint(text: &[u8], name: &Name) -> Option<(Joint, usize)> {
    let rest = &text[name.end..];
    if let Some(inner) = rest.strip_prefix(b"(") {
        let is_call = matches!(inner.first(), Some(b'"' | b'\'' | b'`')) && !is_getter(&text[name.start..name.end]);
        return is_call.then_some((Joint::Loose, name.end + 1));
    }
    let mut at = 0;
    let mut was_quoted = false;
    loop {
        match rest.get(at) {
            Some(b'"' | b'\'' | b'`') => was_quoted = true,
            Some(b']' | b')' | b'\\' | b'*' | b'?') => {}
            Some(b'&') if rest[at..].starts_with(b"&quot;") => {
                was_quoted = true;
                at += 5;
            }
            Some(b'%') if rest[at..].starts_with(b"%22") => at += 2,
            _ => break,
        }
        at += 1;
        if at > 8 {
            return None;
        }
    }
    let closed = at;
    at += blank(&rest[at..]);
    let no_break = NO_BREAK.iter().find(|space| rest[at..].starts_with(space.as_bytes()));
    at += no_break.map_or(0, |space| space.len());
    let is_tag = name.start > 0 && b"<\"'".contains(&text[name.start - 1]) && rest.get(at) == Some(&b'>');
    if is_tag {
        return Some((Joint::Tag, name.end + at + 1));
    }
    if let Some(len) = sign(&rest[at..]) {
        let value = at + len;
        return Some((Joint::Sign, name.end + annotated(rest, value).unwrap_or(value)));
    }
    if let Some(value) = typed(rest, at) {
        return Some((Joint::Sign, name.end + value));
    }
    if let Some(value) = value_field(rest, closed, was_quoted) {
        return Some((Joint::Sign, name.end + value));
    }
    let loose = [&b"=="[..], b"===", b"!=", b"!==", b"||", b"??", b"|", b"or ", b","];
    if let Some(sign) = loose.iter().rev().find(|sign| rest[at..].starts_with(sign)) {
        let comma = *sign == b"," && !was_quoted;
        let is_cell = *sign == b"|" && text[..name.start].iter().rev().find(|byte| **byte != b' ') == Some(&b'|');
        let joint = if is_cell { Joint::Blank } else { Joint::Loose };
        return (!comma).then_some((joint, name.end + at + sign.len()));
    }
    (at > closed).then_some((Joint::Blank, name.end + at))
}

/// Return the length of a sign that joins a name to its value.
fn sign(rest: &[u8]) -> Option<usize> {
    let signs: [&[u8]; 13] = [
        b"===",
        b"==",
        b"=~",
        b"::",
        b":=",
        b"=>",
        b"?=",
        b"<-",
        b"\xEF\xBC\x9A",
        b"\xEF\xBC\x9D",
        b"%3D",
        b"%3A",
        b"||=",
    ];
    match signs.iter().position(|sign| rest.starts_with(sign)) {
        Some(0..=3) => None,
        Some(known) => Some(signs[known].len()),
        None => matches!(rest.first(), Some(b'=' | b':')).then_some(1),
    }
}

/// `password: String = "..."`: where the value behind a type begins.
fn annotated(rest: &[u8], from: usize) -> Option<usize> {
    let window = &rest[from..rest.len().min(from + 48)];
    let equals = memchr::memchr(b'=', window)?;
    let is_type = window[..equals].iter().all(|byte| byte.is_ascii_alphanumeric() || b" &'<>[]|?*._:,".contains(byte));
    let blank = blank(&window[equals + 1..]);
    let value = window.get(equals + 1 + blank)?;
    (equals > 0 && is_type && b"\"'`".contains(value)).then_some(from + equals + 1)
}

/// `token string = "..."`, `password[32] = "..."`.
fn typed(rest: &[u8], from: usize) -> Option<usize> {
    let first = *rest.get(from)?;
    (first == b'[' || (first.is_ascii_alphabetic() && from > 0))
        .then(|| annotated(rest, from))
        .flatten()
        .filter(|&end| end - from < 16)
}

/// `name: X` and, in the next field, `value: ...`; or a block `X { default = ... }`.
fn value_field(rest: &[u8], from: usize, was_quoted: bool) -> Option<usize> {
    let window = &rest[from..rest.len().min(from + 160)];
    let lead =
        window.iter().take(48).take_while(|byte| byte.is_ascii_whitespace() || b",-\"'{\\".contains(byte)).count();
    let is_block = was_quoted && window[..lead].contains(&b'{');
    let body = if is_block { window } else { &window[lead..window.len().min(lead + 24)] };
    let field = [&b"value"[..], b"Value", b"default", b"VALUE"].into_iter().find_map(|field| {
        let at = memmem::find(body, field)?;
        (is_block || at == 0).then_some(at + field.len())
    })?;
    let closing = body[field..].iter().take(3).take_while(|byte| b"\"'\\".contains(byte)).count();
    let gap = blank(&body[field + closing..]);
    let sign = sign(&body[field + closing + gap..])?;
    let skipped = if is_block { 0 } else { lead };
    (lead > 0).then_some(from + skipped + field + closing + gap + sign)
}

fn blank(rest: &[u8]) -> usize {
    rest.iter().take(24).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// A name with a meaning and a joint: what follows is judged by all of them.
struct Context<'a> {
    text: &'a [u8],
    name: &'a Name,
    named: Named,
    joint: Joint,
}

impl Context<'_> {
    fn values(&self, from: usize, spans: &mut Vec<Span<'_>>) {
        let mut at = from + lead(&self.text[from..]);
        at += if self.text[at..].starts_with(b"**") { b"**".len() } else { 0 };
        let wrapped = wrapper(&self.text[at..]);
        at += wrapped;
        let proof = match self.joint {
            Joint::Loose => self.named.proof.max(Proof::Random),
            _ if wrapped > 0 => self.named.proof.max(Proof::Random),
            _ => self.named.proof,
        };
        while let Some(value) = quoted(self.text, at) {
            self.judge(value.start, value.end, proof, spans);
            at = match self.next_of_list(&value) {
                Some(next) if wrapped > 0 => next,
                _ => return,
            };
        }
        if wrapped == 0 && self.joint != Joint::Loose {
            let end = self.bare_end(at, JUDGED);
            let is_flag = self.name.start > 0 && self.text[self.name.start - 1] == b'-';
            let blank_proof = if self.joint == Joint::Blank && !is_flag { Proof::Random } else { proof };
            if self.joint != Joint::Blank || is_flag || self.is_plain_after_blank(at, end) {
                let known = spans.len();
                self.judge(at, end, blank_proof, spans);
                // Only what is a secret is read to its end: a refused value would be read again from the next name on.
                if let Some(span) = spans[known..].iter_mut().find(|span| span.end == end && end - at >= JUDGED) {
                    span.end = self.bare_end(at, usize::MAX);
                }
            }
        }
    }

    /// Return the next element of a list, if there is one.
    fn next_of_list(&self, value: &Quoted) -> Option<usize> {
        let rest = self.text.get(value.after..)?;
        let rest = rest.strip_prefix(b",")?;
        Some(value.after + 1 + blank(rest))
    }

    /// Return whether a word right after a name, without a sign between them, can only be a secret.
    fn is_plain_after_blank(&self, start: usize, end: usize) -> bool {
        let value = &self.text[start..end];
        let is_hex = value.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
        let name = &self.text[self.name.start..self.name.end];
        let tail = &name[name.len() - name.len().min(3)..];
        let is_constant = tail.iter().all(|byte| !byte.is_ascii_lowercase()) || name.eq_ignore_ascii_case(b"secret");
        let enough = if self.named.proof <= Proof::Password { 8 } else { 16 };
        let name = value.iter().take_while(|byte| in_name(**byte)).count();
        let is_pair = value.get(name) == Some(&b'=') && key::named(&value[..name]).is_some();
        value.len() >= enough && !is_pair && (!is_hex || is_constant) && !value.starts_with(b"(") && looks_random(value)
    }

    fn judge(&self, start: usize, end: usize, proof: Proof, spans: &mut Vec<Span<'_>>) {
        let label = [&b"base64:"[..], b"0x"].into_iter().find(|label| self.text[start..end].starts_with(label));
        let label = label.map_or(0, <[u8]>::len);
        let start = start + label;
        let value = &self.text[start..end];
        let judged = &value[..value.len().min(JUDGED)];
        let is_commit = judged.len() == COMMIT && judged.iter().all(u8::is_ascii_hexdigit);
        if is_commit && self.named.kind == "credential" && proof == Proof::Long {
            return;
        }
        let kind = self.named.kind;
        if let Some((from, to)) = fallback(judged) {
            if is_secret(&judged[from..to], proof) {
                spans.push(Span { start: start + from, end: start + to, kind, rank: Rank::Context });
            }
        } else if is_secret(judged, proof) {
            spans.push(Span { start, end, kind, rank: Rank::Context });
        }
    }

    /// Return the end of a value without quotes, within a limit.
    fn bare_end(&self, start: usize, most: usize) -> usize {
        let rest = &self.text[start..];
        let rest = &rest[..rest.len().min(most)];
        let whole_line = self.begins_line();
        let mut len = 0;
        while len < rest.len() {
            let byte = rest[len];
            let after = &rest[len + 1..rest.len().min(len + 40)];
            let ends = match byte {
                b'"' | b'\'' | b'`' | b'<' | b'>' => true,
                b',' | b';' | b'&' | b'|' => !whole_line || begins_pair(after),
                b'\\' => after.first().is_some_and(|next| b"nrt\"'\\".contains(next)),
                _ => byte.is_ascii_whitespace() || byte >= 0x80,
            };
            if ends {
                break;
            }
            len += 1;
        }
        start + unbalanced(&rest[..len])
    }

    /// Return whether the name opens its line, as in settings, so that all of the line is the value.
    fn begins_line(&self) -> bool {
        let before = &self.text[self.name.start.saturating_sub(24)..self.name.start];
        let line = memchr::memrchr(b'\n', before).map_or(before, |at| &before[at + 1..]);
        let word: Vec<u8> = line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        matches!(
            &word[..],
            b"" | b"export" | b"-" | b"set" | b"ENV" | b"ARG" | b"+" | b"$" | b"\"" | b"declare-x" | b"Environment="
        )
    }
}

/// Blanks behind the joint, a YAML block sign and its line break, a line break before a quote.
fn lead(rest: &[u8]) -> usize {
    let gap = blank(rest);
    let sign = rest[gap..].iter().take(2).take_while(|byte| b"|>-".contains(byte)).count();
    let line = &rest[gap + sign..];
    let breaks = line.iter().take(40).take_while(|byte| byte.is_ascii_whitespace()).count();
    let is_block = sign > 0 && b"|>".contains(&rest[gap]) && line.first() == Some(&b'\n');
    let is_quote = line.get(breaks).is_some_and(|byte| b"\"'`".contains(byte));
    if is_block || (sign == 0 && is_quote) { gap + sign + breaks } else { gap }
}

/// Return a string's prefix, the opening of a call or of a list, when a quote follows.
fn wrapper(rest: &[u8]) -> usize {
    let word =
        rest.iter().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || b"_.:!@$&".contains(byte)).count();
    let open = rest[word..].iter().take(2).take_while(|byte| b"([{".contains(byte)).count();
    let gap = rest[word + open..].iter().take(16).take_while(|byte| byte.is_ascii_whitespace()).count();
    let prefix = rest[word + open + gap..].iter().take(1).take_while(|byte| b"bru".contains(byte)).count();
    let is_quote = |at: usize| rest.get(at).is_some_and(|byte| b"\"'`".contains(byte));
    if open > 0 && is_quote(word + open + gap + prefix) {
        word + open + gap + prefix
    } else if word <= 2 && is_quote(word) {
        word
    } else {
        0
    }
}

/// Return the default inside `${NAME:-default}` or `${NAME:default}`.
fn fallback(value: &[u8]) -> Option<(usize, usize)> {
    if !value.starts_with(b"${") || !value.ends_with(b"}") {
        return None;
    }
    let colon = memchr::memchr(b':', value)?;
    let start = colon + 1 + usize::from(value.get(colon + 1) == Some(&b'-'));
    (start < value.len() - 1).then_some((start, value.len() - 1))
}

/// Return whether another `name=` follows.
fn begins_pair(after: &[u8]) -> bool {
    let gap = blank(after);
    let name = after[gap..].iter().take_while(|byte| in_name(**byte)).count();
    name > 0 && after.get(gap + name).is_some_and(|byte| b"=:".contains(byte)) || after.is_empty()
}

/// Without punctuation at the end, nor brackets that were not opened.
fn unbalanced(value: &[u8]) -> usize {
    let mut len = value.strip_suffix(b"**").unwrap_or(value).len();
    while len > 0 {
        let open = match value[len - 1] {
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            b'.' | b',' | b';' | b':' => {
                len -= 1;
                continue;
            }
            _ => break,
        };
        if value[..len].contains(&open) {
            break;
        }
        len -= 1;
    }
    len
}
