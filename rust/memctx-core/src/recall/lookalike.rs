//! Detection of text that reads like our own tags or entry headers.

use std::iter::once;

use unicode_normalization::UnicodeNormalization as _;

/// The name of the whole block's tag. Dashes are read over.
const BLOCK: &str = "recalledcontext";
/// The names of the tags inside.
const PARTS: [&str; 2] = ["knowledge", "detail"];

/// The form of an entry's header: `0` is a digit, a space is any stretch of white space.
const HEADER: &str = "[0000-00-00 00:00 ";

/// Return whether a character can open a tag.
pub(super) fn opens_tag(c: char) -> bool {
    matches!(c, '<' | '＜' | '﹤' | '‹' | '⟨' | '〈' | '\u{2329}' | '❮' | '˂' | 'ᐸ' | '≮')
}

/// Return whether a text that stands behind an opening bracket makes it one of our tags, in any case, width or
/// spacing; `before` is what stands before the bracket.
///
/// An opening `<Detail>` right behind a word is a type in somebody's code. It can do no harm, as nothing closes it.
pub(super) fn is_tag(behind: &str, before: Option<char>) -> bool {
    let rest = past(behind, is_read_over);
    let closing = rest.strip_prefix(is_slash);
    let rest = closing.unwrap_or(rest);
    let ends = |behind: Option<&str>| behind.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    let is_harmless = closing.is_none() && before.is_some_and(char::is_alphanumeric);
    behind_name(rest, BLOCK).is_some() || (!is_harmless && PARTS.iter().any(|name| ends(behind_name(rest, name))))
}

/// Return whether a line opens like an entry's header.
pub(super) fn is_header(line: &str) -> bool {
    let mut rest = line.chars().filter(|&c| !is_invisible(c)).peekable();
    while rest.next_if(|&c| is_blank(c)).is_some() {}
    HEADER.chars().all(|expected| match expected {
        '[' => rest.next_if(|&c| matches!(c, '[' | '［' | '【' | '〔')).is_some(),
        '0' => rest.next_if(|&c| fold(c).is_ascii_digit()).is_some(),
        '-' => rest.next_if(|&c| is_dash(c)).is_some(),
        ':' => rest.next_if(|&c| matches!(c, ':' | '：' | '﹕' | '∶' | '꞉')).is_some(),
        _ => {
            let is_spaced = rest.next_if(|&c| is_blank(c)).is_some();
            while rest.next_if(|&c| is_blank(c)).is_some() {}
            is_spaced
        }
    })
}

/// Return the text after a name, if it opens with that name.
fn behind_name<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    name.chars().try_fold(text, |rest, expected| {
        let rest = past(rest, |c| is_read_over(c) || is_dash(c));
        rest.strip_prefix(|c| fold(c) == expected)
    })
}

/// Return a text from the first character on that is not skipped. A carriage return is only when it is part of a line's
/// end: any other is made visible, and would no longer be read over then.
fn past(mut text: &str, is_read_over: impl Fn(char) -> bool) -> &str {
    while let Some(rest) = text.strip_prefix("\r\n").or_else(|| text.strip_prefix(&is_read_over)) {
        text = rest;
    }
    text
}

/// Return the small Latin letter or the digit that a character looks like, or the character itself.
fn fold(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut forms = once(c).nfkc();
    let c = match (forms.next(), forms.next()) {
        (Some(only), None) => only,
        _ => c,
    };
    match c.to_lowercase().next().unwrap_or(c) {
        'а' | 'α' => 'a',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' => 'e',
        'ɡ' => 'g',
        'і' | 'ι' | 'ı' => 'i',
        'к' | 'κ' => 'k',
        'ӏ' | 'ⅼ' => 'l',
        'п' => 'n',
        'о' | 'ο' => 'o',
        'г' => 'r',
        'т' | 'τ' => 't',
        'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        other => other,
    }
}

fn is_slash(c: char) -> bool {
    matches!(c, '/' | '／' | '⁄' | '∕' | '⧸' | '╱' | '⟋')
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '_' | '\u{2010}'..='\u{2015}' | '−' | '﹘' | '﹣' | '－' | '＿' | 'ー')
}

/// White space of any kind, and invisible characters.
fn is_read_over(c: char) -> bool {
    is_blank(c) || c == '\n' || is_invisible(c)
}

/// White space within a line.
fn is_blank(c: char) -> bool {
    c != '\n' && c.is_whitespace() && !super::escape::is_hidden(c)
}

/// Zero-width characters, marks that sit on others, variation selectors.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{2060}'..='\u{2065}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{300}'..='\u{36F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}' | '\u{E0100}'..='\u{E01EF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_tags_are_recognized_in_any_spelling() {
        for behind in [
            "/detail>",
            "/DETAIL >",
            " / detail",
            "／ｄｅｔａｉｌ＞",
            "/de\u{200B}tail>",
            "/d\u{301}etail>",
            "/dеtаil>",
            "\n/detail\n>",
            "\r\n/de\r\ntail>",
            "/recalled-context>",
            "/Recalled_Context>",
            "recalled\u{2010}context source",
            "⁄knowledge>",
            "knowledge>",
        ] {
            assert!(is_tag(behind, None), "{behind:?}");
        }
    }

    #[test]
    fn other_tags_and_code_are_not_ours() {
        for behind in ["details>", "/details>", "div>", "b", "= detail", "", "/", "recalled>", "detailed>", "!--"] {
            assert!(!is_tag(behind, None), "{behind:?}");
        }
        assert!(!is_tag("Detail>", Some('c')), "Vec<Detail>");
        assert!(is_tag("/Detail>", Some('c')));
        assert!(is_tag("recalled-context>", Some('c')));
    }

    #[test]
    fn headers_are_recognized_in_any_spelling() {
        for line in [
            "[2026-02-10 14:31 user] x",
            "  [2026-02-10  14:31 user]",
            "［２０２６－０２－１０　１４：３１ ｕｓｅｒ］",
            "[20\u{200B}26-02-10 14:31 ]",
        ] {
            assert!(is_header(line), "{line:?}");
        }
        for line in ["[2026-02-10 14:31:59] INFO", "[2026-02-10T14:31Z]", "- [x] done", "2026-02-10 14:31 user", ""] {
            assert!(!is_header(line), "{line:?}");
        }
    }
}
