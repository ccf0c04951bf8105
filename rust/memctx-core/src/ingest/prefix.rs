//! Prefixes that chat hosts write around a message: time stamps, and blocks that describe the channel.

use std::borrow::Cow;

use crate::text::{is_js_space, trim_js};

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const BLOCK_NAMES: [&str; 3] = ["Conversation", "Sender", "Channel"];
const BLOCK_ENDING: &str = "(untrusted metadata)";

/// Return the text without the lines that a chat host added, and without white space around it.
///
/// Two kinds of line go: those that open with a date in brackets, as in `System: [2026-02-15 18:49:02 GMT+8] ...` or
/// `[Sun 2026-02-15 18:49] ...`, and headings such as `Sender (untrusted metadata):` with the JSON below them. The
/// text is borrowed when no line goes.
///
/// ```
/// use memctx_core::ingest::strip_channel_prefix;
///
/// let text = "System: [2026-02-15 18:49:02 GMT+8] Feishu[main] message\nhello there";
/// assert_eq!(strip_channel_prefix(text), "hello there");
/// ```
#[must_use]
pub fn strip_channel_prefix(text: &str) -> Cow<'_, str> {
    let mut kept: Option<String> = None;
    let mut in_block = false;
    let mut start = 0;
    while start < text.len() {
        let end = memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |length| start + length + 1);
        let line = &text[start..end];
        if goes(trim_js(line), &mut in_block) {
            kept.get_or_insert_with(|| text[..start].to_owned());
        } else if let Some(kept) = &mut kept {
            kept.push_str(line);
        }
        start = end;
    }
    match kept {
        Some(kept) => Cow::Owned(trim_js(&kept).to_owned()),
        None => Cow::Borrowed(trim_js(text)),
    }
}

/// Return the text from the first line on that a chat host did not add, without white space around it. Cheap however
/// long the text is.
pub(crate) fn past_channel_prefix(text: &str) -> &str {
    let text = trim_js(text);
    if !text.as_bytes().first().is_some_and(|&first| may_begin(first)) {
        return text;
    }
    let mut in_block = false;
    let mut start = 0;
    while start < text.len() {
        let end = memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |length| start + length + 1);
        let line = trim_js(&text[start..end]);
        if !goes(line, &mut in_block) && !line.is_empty() {
            break;
        }
        start = end;
    }
    trim_js(&text[start..])
}

/// Return whether a stamp or a heading can begin so: nearly every line is decided by its first byte.
fn may_begin(first: u8) -> bool {
    matches!(first, b'[' | b'C' | b'S' | b'c' | b's')
}

/// Return whether a line, trimmed, is the host's; `in_block` says whether it stands below a heading.
fn goes(line: &str, in_block: &mut bool) -> bool {
    let first = line.as_bytes().first().copied();
    if first.is_some_and(may_begin) {
        if is_stamped(line) {
            return true;
        }
        if is_heading(line) {
            *in_block = true;
            return true;
        }
    }
    *in_block &= matches!(first, None | Some(b'{' | b'}' | b'"')) || matches!(line, "```" | "```json");
    *in_block
}

/// Return whether a line opens with a date in brackets and goes on behind it.
fn is_stamped(line: &str) -> bool {
    let line = line.strip_prefix("System:").map_or(line, trim_start);
    let Some(line) = line.strip_prefix('[') else { return false };
    let date = WEEKDAYS.iter().find_map(|day| line.strip_prefix(day)).map_or(line, |rest| {
        // Without white space behind it, what looks like a weekday is none, and no date begins like that.
        if rest.starts_with(is_js_space) { trim_start(rest) } else { line }
    });
    let Some((date, rest)) = date.split_at_checked("yyyy-mm-dd".len()) else { return false };
    let fits = |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    date.bytes().enumerate().all(fits) && rest.starts_with(is_js_space)
}

/// Return whether a line is the heading of a block.
fn is_heading(line: &str) -> bool {
    let line = line.strip_suffix(':').unwrap_or(line);
    let Some(line) = line.len().checked_sub(BLOCK_ENDING.len()).and_then(|at| {
        let (line, ending) = line.split_at_checked(at)?;
        ending.eq_ignore_ascii_case(BLOCK_ENDING).then_some(line)
    }) else {
        return false;
    };
    BLOCK_NAMES.iter().any(|name| {
        let Some((start, rest)) = line.split_at_checked(name.len()) else { return false };
        let mut rest = rest.chars();
        start.eq_ignore_ascii_case(name)
            && rest.next().is_some_and(is_js_space)
            // What JavaScript takes for the end of a line may stand in a line all the same.
            && !rest.any(|c| matches!(c, '\r' | '\u{2028}' | '\u{2029}'))
    })
}

fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_js_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unchanged_text_is_borrowed() {
        let text = " Send it\n[draft] System: no\n\tConversation over\n";
        let Cow::Borrowed(kept) = strip_channel_prefix(text) else { panic!("a copy was made") };
        assert_eq!(kept, text.trim());
    }

    #[test]
    fn a_block_ends_with_the_first_line_of_text() {
        let text = "Sender (untrusted metadata)\n```json\n{\n\"a\": 1\n}\n```\n\nreal\n{\n\"kept\"";
        assert_eq!(strip_channel_prefix(text), "real\n{\n\"kept\"");
        assert_eq!(past_channel_prefix(text), "real\n{\n\"kept\"");
    }
}
