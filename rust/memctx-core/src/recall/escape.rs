//! Escaping of text inside a block.
//!
//! Nothing is lost and little is touched. What looks like one of our tags gets a backslash behind its bracket, what
//! looks like an entry's header one before its line, whatever backslashes are there already; so taking one away gives
//! the text back. Invisible characters, such as control characters, become `\u{7}`; there, backslashes that stand
//! before it or before something that reads like it are doubled.

use std::borrow::Cow;

use super::lookalike::{is_header, is_tag, opens_tag};
#[cfg(test)]
pub(super) use tests::tricky;

/// Return a text in which nothing can be taken for a tag of ours or an entry's header, and everything can be seen.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    rewrite(text, Way::There)
}

/// Return the text that was escaped.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    rewrite(text, Way::Back)
}

/// Return a short name with everything that is no letter, digit or plain joint written as `\u{..}`.
pub(super) fn escape_label(label: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | ':');
    if label.chars().all(is_plain) {
        return Cow::Borrowed(label);
    }
    let spell = |c: char| if is_plain(c) { c.to_string() } else { spelling(c) };
    Cow::Owned(label.chars().map(spell).collect())
}

/// Return the name that was escaped; none if this is no name.
pub(super) fn unescape_label(label: &str) -> Option<String> {
    let mut plain = String::with_capacity(label.len());
    let mut rest = label;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let (c, length) = spelled(&rest[at + 1..])?;
        plain.push(c);
        rest = &rest[at + 1 + length..];
    }
    plain.push_str(rest);
    Some(plain)
}

/// Return whether a character may not stand in a block as it is: controls, line ends other than our own, changes of
/// direction, tag characters.
pub(super) fn is_hidden(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{B}'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{2028}'..='\u{202E}'
        | '\u{2066}'..='\u{206F}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    There,
    Back,
}

fn rewrite(text: &str, way: Way) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(step) = text.as_bytes()[at..].iter().position(|&byte| is_looked_at(byte)) {
        at += step;
        let Some(c) = text[at..].chars().next() else { break };
        let (edit, next) = look(text, at, c, way);
        if let Some(Edit { from, to, with }) = edit {
            let out = out.get_or_insert_with(|| String::with_capacity(text.len() + 16));
            out.push_str(&text[copied..from]);
            out.push_str(&with);
            copied = to;
        }
        at = next;
    }
    match out {
        Some(mut out) => {
            out.push_str(&text[copied..]);
            Cow::Owned(out)
        }
        None => Cow::Borrowed(text),
    }
}

/// First bytes of the characters that matter, and of some that do not.
fn is_looked_at(byte: u8) -> bool {
    match byte {
        b'\t' | b' '..=0x7E => byte == b'<' || byte == b'\\',
        0..=0x1F | 0x7F | 0xC2 | 0xCB | 0xE1..=0xE3 | 0xEF | 0xF3 => true,
        _ => false,
    }
}

/// Replacement of a range of the text.
struct Edit {
    from: usize,
    to: usize,
    with: Cow<'static, str>,
}

/// Return the edit at a character, and the offset to continue at.
fn look(text: &str, at: usize, c: char, way: Way) -> (Option<Edit>, usize) {
    let behind = at + c.len_utf8();
    if c == '\\' {
        let end = at + backslashes(&text[at..]);
        let edit = around_spelling(text, at, end, way);
        let next = edit.as_ref().map_or(end, |edit| edit.to);
        return (edit, next);
    }
    if is_hidden(c) {
        let is_line_end = c == '\r' && text[behind..].starts_with('\n');
        let edit = Edit { from: at, to: behind, with: Cow::Owned(spelling(c)) };
        return ((way == Way::There && !is_line_end).then_some(edit), behind);
    }
    let meaning = &text[behind + backslashes(&text[behind..])..];
    let is_ours = match c {
        '\n' => is_header(meaning),
        _ => opens_tag(c) && is_tag(meaning, text[..at].chars().next_back()),
    };
    if !is_ours {
        return (None, behind);
    }
    match way {
        Way::There => (Some(Edit { from: behind, to: behind, with: Cow::Borrowed("\\") }), behind),
        Way::Back if text[behind..].starts_with('\\') => {
            (Some(Edit { from: behind, to: behind + 1, with: Cow::Borrowed("") }), behind + 1)
        }
        Way::Back => (None, behind),
    }
}

/// Return the edit of backslashes before a hidden character, or before text that reads like an escaped one.
fn around_spelling(text: &str, at: usize, end: usize, way: Way) -> Option<Edit> {
    let count = end - at;
    let rest = &text[end..];
    let literal = spelled(rest).filter(|&(c, _)| is_hidden(c));
    match (way, literal) {
        (Way::There, literal) => {
            // A hidden character is seen next and brings a backslash of its own.
            let is_before_hidden = rest.starts_with(is_hidden) && !rest.starts_with("\r\n");
            let edit = Edit { from: at, to: end, with: Cow::Owned("\\".repeat(2 * count)) };
            (literal.is_some() || is_before_hidden).then_some(edit)
        }
        (Way::Back, Some((c, length))) if count % 2 == 1 => {
            let with = format!("{}{c}", "\\".repeat(count / 2));
            Some(Edit { from: at, to: end + length, with: Cow::Owned(with) })
        }
        (Way::Back, Some(_)) => Some(Edit { from: at, to: end, with: Cow::Owned("\\".repeat(count / 2)) }),
        (Way::Back, None) => None,
    }
}

fn backslashes(text: &str) -> usize {
    text.bytes().take_while(|&byte| byte == b'\\').count()
}

/// Return a character as it is made visible.
fn spelling(c: char) -> String {
    format!("\\u{{{:x}}}", u32::from(c))
}

/// Return the character that is spelled here behind a backslash, and how many bytes that takes.
fn spelled(text: &str) -> Option<(char, usize)> {
    const LONGEST: usize = 6;
    let digits = text.strip_prefix("u{")?;
    let length = digits.bytes().take(LONGEST + 1).position(|byte| byte == b'}')?;
    let digits = &digits[..length];
    let is_canonical = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && (digits == "0" || !digits.starts_with('0'));
    let c = u32::from_str_radix(digits, 16).ok().filter(|_| is_canonical).and_then(char::from_u32)?;
    Some((c, "u{}".len() + length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tags_and_headers_get_a_backslash_and_code_stays_as_it_is() {
        let cases = [
            ("</detail>", "<\\/detail>"),
            ("<\\/detail>", "<\\\\/detail>"),
            ("＜／ｄｅｔａｉｌ＞", "＜\\／ｄｅｔａｉｌ＞"),
            ("a\n[2026-02-10 14:31 user] b", "a\n\\[2026-02-10 14:31 user] b"),
            ("[2026-02-10 14:31 user] b", "[2026-02-10 14:31 user] b"),
            ("Vec<Detail>\r\n<details>", "Vec<Detail>\r\n<details>"),
            ("bell\u{7}\u{202E}\r", "bell\\u{7}\\u{202e}\\u{d}"),
            ("\\u{7}", "\\\\u{7}"),
            ("\\\u{7}", "\\\\\\u{7}"),
            ("\\u{41} \\u0007 C:\\users", "\\u{41} \\u0007 C:\\users"),
            ("\u{E0041}", "\\u{e0041}"),
            ("<recalled\r\r\ncontext", "<recalled\\u{d}\r\ncontext"),
            ("<recalled\r\ncontext", "<\\recalled\r\ncontext"),
        ];
        for (text, expected) in cases {
            assert_eq!(escape(text), expected);
            assert_eq!(unescape(expected), text);
        }
    }

    /// Return texts made of what the rules are about.
    pub(in super::super) fn tricky() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            r"[<＜﹤]{0,2}[\\]{0,3}[/／ ]{0,2}(recalled-context|RECALLED context|knowledge|detail|ｄｅｔａｉｌ|de\u{200b}tail|recalled[\r\n]{0,3}context)[> ]?",
            r"\n?[\\]{0,3} ?\[?2026-02-10 14:31 (user|x)?\]?",
            r"[\\]{0,4}(u\{7\}|u\{d\}|u\{0\}|u\{202e\}|u\{e0041\}|u\{41\})?",
            "[\u{7}\u{0}\r\n\t\u{202E}\u{E0041}\u{2028}\u{85}]{1,2}",
            r"- \[(config|x)\] ?",
            ".{0,3}",
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn escaping_is_reversible(text in tricky()) {
            let escaped = escape(&text);
            prop_assert_eq!(unescape(&escaped), text.as_str());
            prop_assert!(escaped.chars().zip(escaped.chars().skip(1).chain(['\0'])).all(|(c, next)| !is_hidden(c) || (c == '\r' && next == '\n')));
        }

        #[test]
        fn labels_come_back(label in any::<String>()) {
            let escaped = escape_label(&label);
            prop_assert!(!escaped.contains(['[', ']', '\n', '<']));
            prop_assert_eq!(unescape_label(&escaped), Some(label));
        }
    }
}
