//! Values between quotes, also where the quotes are escaped.

/// A longer string is cut here for judging; its mask still reaches the closing quote.
const LONGEST: usize = 1 << 12;

/// Text between two quotes, and the offset after them.
pub(super) struct Quoted {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) after: usize,
}

/// Return the string that begins here: `"..."`, `'...'`, `` `...` ``, the same behind backslashes, `&quot;` and
/// typographic quotes.
pub(super) fn quoted(text: &[u8], at: usize) -> Option<Quoted> {
    const PAIRS: [(&str, &str); 7] = [
        ("&quot;", "&quot;"),
        ("\u{201C}", "\u{201D}"),
        ("\u{2018}", "\u{2019}"),
        ("\u{300C}", "\u{300D}"),
        ("\u{300E}", "\u{300F}"),
        ("%22", "%22"),
        ("\"\"\"", "\"\"\""),
    ];
    let rest = &text[at..text.len().min(at + LONGEST)];
    for (open, close) in PAIRS {
        if let Some(body) = rest.strip_prefix(open.as_bytes()) {
            let len = memchr::memmem::find(body, close.as_bytes())?;
            let start = at + open.len();
            return Some(Quoted { start, end: start + len, after: start + len + close.len() });
        }
    }
    let depth = rest.iter().take(8).take_while(|byte| **byte == b'\\').count();
    let quote = *rest.get(depth).filter(|byte| b"\"'`".contains(byte))?;
    let start = depth + 1;
    let mut slashes = 0;
    for (len, &byte) in rest[start..].iter().enumerate() {
        match byte {
            b'\\' => slashes += 1,
            b'\n' => return Some(cut(rest, at, start)),
            _ if byte == quote && slashes <= depth => {
                let end = at + start + len - slashes.min(depth);
                return Some(Quoted { start: at + start, end, after: at + start + len + 1 });
            }
            _ => slashes = 0,
        }
    }
    Some(cut(rest, at, start))
}

/// Return a string without an end: its first word.
fn cut(rest: &[u8], at: usize, start: usize) -> Quoted {
    let word = |byte: &&u8| !byte.is_ascii_whitespace() && !b"\"'`\\<>".contains(byte) && **byte < 0x80;
    let end = at + start + rest[start..].iter().take_while(word).count();
    Quoted { start: at + start, end, after: end }
}
