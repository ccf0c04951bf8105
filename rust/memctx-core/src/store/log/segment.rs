//! One archived message as a line of `segments.jsonl`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::checksum::{self, Checksum};
use super::quoted::quote;
use crate::text::Estimator;

/// One archived message.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Unique; for those written here, the UUID of [`Segment::derive_id`].
    pub id: String,
    /// The session it belongs to.
    pub session: String,
    /// The host's own key of the session, where it gave one.
    pub session_key: Option<String>,
    /// Milliseconds since 1970.
    pub timestamp: f64,
    /// The speaker: `user`, `assistant`, `tool` or another role of the line.
    pub role: String,
    /// The text, secrets masked.
    pub content: String,
    /// The stored estimate.
    pub tokens: u32,
    /// A JSON object: topics, entities and whatever else was known.
    pub metadata: String,
}

/// A line as it lies in the file, borrowed where nothing is escaped.
#[derive(Debug, Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, rename = "sessionId")]
    session: Cow<'a, str>,
    #[serde(borrow, default, rename = "sessionKey")]
    session_key: Option<&'a RawValue>,
    timestamp: f64,
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Cow<'a, str>,
    #[serde(borrow, default)]
    tokens: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metadata: Option<&'a RawValue>,
}

/// The tags in a segment's metadata.
#[derive(Debug, Default, Deserialize)]
struct Tags {
    #[serde(default)]
    topics: Vec<String>,
}

impl Segment {
    /// Return the id of a segment: a `UUIDv8` made of the SHA-256 of session, role and content, each behind its length.
    /// A message that two stores archive is one segment.
    #[must_use]
    pub fn derive_id(session: &str, role: &str, content: &str) -> String {
        let mut hasher = Sha256::new();
        for text in [session, role, content] {
            hasher.update((text.len() as u64).to_be_bytes());
            hasher.update(text.as_bytes());
        }
        let whole = hasher.finalize();
        let half = whole.first_chunk().copied().unwrap_or_default();
        uuid::Builder::from_custom_bytes(half).into_uuid().to_string()
    }

    /// The line, sealed and without its end.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        let mut line = Vec::with_capacity(self.line_room());
        self.write_line(&mut line);
        line
    }

    /// About how long its line is.
    pub(crate) fn line_room(&self) -> usize {
        self.content.len() + self.content.len() / 16 + self.metadata.len() + 256
    }

    /// Write the line, sealed and without its end, behind others.
    pub(crate) fn write_line(&self, lines: &mut Vec<u8>) {
        let start = lines.len();
        field(lines, "{\"id\":", &self.id);
        field(lines, ",\"sessionId\":", &self.session);
        if let Some(key) = &self.session_key {
            field(lines, ",\"sessionKey\":", key);
        }
        lines.extend_from_slice(b",\"timestamp\":");
        lines.extend_from_slice(number(self.timestamp).as_bytes());
        field(lines, ",\"role\":", &self.role);
        field(lines, ",\"content\":", &self.content);
        lines.extend_from_slice(format!(",\"tokens\":{},\"metadata\":", self.tokens).as_bytes());
        lines.extend_from_slice(self.metadata.as_bytes());
        checksum::seal_from(lines, start);
    }

    /// Read a line; the error says what is wrong with it and nothing of what is in it.
    pub fn from_line(line: &[u8]) -> Result<Self, String> {
        if checksum::check(line) == Checksum::Broken {
            return Err("the checksum does not hold".to_owned());
        }
        let text = std::str::from_utf8(line).map_err(|fault| format!("not UTF-8 at byte {}", fault.valid_up_to()))?;
        match serde_json::from_str::<Line<'_>>(text) {
            Ok(line) => Ok(line.into()),
            Err(fault) if has_surrogate(text) => {
                let replaced = without_lone_surrogates(text);
                serde_json::from_str::<Line<'_>>(&replaced).map(Self::from).map_err(|_| words_of(&fault))
            }
            Err(fault) => Err(words_of(&fault)),
        }
    }

    /// Return the topics in its metadata.
    #[must_use]
    pub fn topics(&self) -> Vec<String> {
        serde_json::from_str::<Tags>(&self.metadata).unwrap_or_default().topics
    }
}

impl From<Line<'_>> for Segment {
    fn from(line: Line<'_>) -> Self {
        let tokens = line.tokens.and_then(|raw| raw.get().parse().ok());
        let metadata = line.metadata.map(RawValue::get).filter(|raw| raw.starts_with('{'));
        Self {
            tokens: tokens.unwrap_or_else(|| Estimator::Utf16.estimate(&line.content) as u32),
            id: line.id.into_owned(),
            session: line.session.into_owned(),
            session_key: line.session_key.and_then(|raw| serde_json::from_str(raw.get()).ok()),
            timestamp: line.timestamp,
            role: line.role.into_owned(),
            content: line.content.into_owned(),
            metadata: metadata.unwrap_or("{}").to_owned(),
        }
    }
}

fn field(line: &mut Vec<u8>, front: &str, value: &str) {
    line.extend_from_slice(front.as_bytes());
    quote(line, value);
}

/// As JavaScript writes it: without a fraction where there is none.
pub(crate) fn number(value: f64) -> String {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < WHOLE { format!("{}", value as i64) } else { format!("{value}") }
}

/// Return the parser's message without the value it may quote.
pub(crate) fn words_of(fault: &serde_json::Error) -> String {
    match fault.classify() {
        serde_json::error::Category::Data => format!("a key is missing or has the wrong type, byte {}", fault.column()),
        _ => format!("not JSON, byte {}", fault.column()),
    }
}

pub(crate) fn has_surrogate(text: &str) -> bool {
    text.as_bytes().windows(3).any(|bytes| bytes[..2] == *b"\\u" && bytes[2].eq_ignore_ascii_case(&b'd'))
}

/// Replace each escaped surrogate that has no partner by U+FFFD, as a JavaScript host may have written it.
pub(crate) fn without_lone_surrogates(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut replaced = String::with_capacity(text.len());
    let (mut from, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match (unit(bytes, at), unit(bytes, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 12,
            (Some(0xD800..=0xDFFF), _) => {
                replaced.push_str(&text[from..at]);
                replaced.push_str("\\ufffd");
                at += 6;
                from = at;
            }
            (Some(_), _) => at += 6,
            // Another escape: its second character may be a backslash.
            (None, _) => at += 2,
        }
    }
    replaced.push_str(&text[from..]);
    replaced
}

/// The UTF-16 unit that an escape at this place stands for.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment(id: &str, content: &str, timestamp: f64) -> Segment {
        Segment {
            id: id.to_owned(),
            session: "s/1".to_owned(),
            session_key: None,
            timestamp,
            role: "user".to_owned(),
            content: content.to_owned(),
            tokens: 8,
            metadata: r#"{"topics":["api"],"entities":[]}"#.to_owned(),
        }
    }

    #[test]
    fn a_log_line_is_openclaw_s_with_a_checksum() {
        let line = segment("3b6e", "Deploy the API on\nFriday é\u{2028}", 1_770_000_002_000.0).to_line();
        let text = String::from_utf8(line).expect("UTF-8");
        let wanted = "{\"id\":\"3b6e\",\"sessionId\":\"s/1\",\"timestamp\":1770000002000,\"role\":\"user\",\
                      \"content\":\"Deploy the API on\\nFriday é\u{2028}\",\"tokens\":8,\
                      \"metadata\":{\"topics\":[\"api\"],\"entities\":[]},\"crc\":\"";
        assert!(text.starts_with(wanted), "{text}");
    }

    #[test]
    fn derived_ids_stay_the_same() {
        let id = Segment::derive_id("s1", "user", "The webhook listens on port 8443");
        assert_eq!(id, "2582c6a1-41d4-8c95-b769-28160042d14f");
        assert_ne!(Segment::derive_id("s1u", "ser", ""), Segment::derive_id("s1", "user", ""));
    }

    #[test]
    fn lone_surrogates_of_a_javascript_host_are_replaced() {
        let line =
            br#"{"id":"a","sessionId":"s","timestamp":1,"role":"user","content":"\\ud800 x\ud800y\uD83D\uDE00\udc00"}"#;
        let content = Segment::from_line(line).expect("loads").content;
        assert_eq!(content, "\\ud800 x\u{FFFD}y😀\u{FFFD}");
    }

    #[test]
    fn invalid_segments_are_refused_without_quoting_their_text() {
        let deep = format!(
            r#"{{"id":"a","sessionId":"s","timestamp":1,"role":"user","content":"secret","metadata":{}"#,
            "[".repeat(100_000)
        );
        for line in [
            "",
            "null",
            "{\"id\":1}",
            "{\"id\":\"secret\"}",
            r#"{"id":"a","sessionId":"s","timestamp":"secret","role":"user","content":"c"}"#,
            r#"{"id":"a","sessionId":"s","timestamp":1e400,"role":"user","content":"secret"}"#,
            r#"{"id":"a","sessionId":"s","timestamp":NaN,"role":"user","content":"secret"}"#,
            r#"{"id":"a","id":"b","sessionId":"s","timestamp":1,"role":"user","content":"secret"}"#,
            &deep,
        ] {
            let fault = Segment::from_line(line.as_bytes()).expect_err("refused");
            assert!(!fault.contains("secret"), "{fault}");
        }
        assert!(Segment::from_line(b"{\"id\":\"\xff\"}").expect_err("refused").contains("UTF-8"));
    }

    proptest! {
        #[test]
        fn a_line_reads_back(id in ".{1,40}", content in "(?s).{0,400}", timestamp in -1e15..1e15_f64) {
            let written = segment(&id, &content, timestamp);
            let line = written.to_line();
            prop_assert!(!line.contains(&b'\n'));
            prop_assert_eq!(Segment::from_line(&line), Ok(written));
        }
    }
}
