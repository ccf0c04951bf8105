//! From a message to a line: cleaned, masked and tagged before anything is derived from it.

use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

use serde::Serialize;
use serde_json::value::RawValue;

use super::log::segment::Segment;
use crate::ingest::{Topics, entities, is_noise, strip_channel_prefix};
use crate::redact::Redactor;
use crate::text::Estimator;
use crate::{Error, Result};

/// A message to be stored.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The speaker's role.
    pub role: &'a str,
    /// The text.
    pub content: &'a str,
    /// When, in milliseconds since 1970; now if not known.
    pub timestamp: Option<f64>,
    /// A JSON object with more to keep beside topics and entities.
    pub metadata: Option<&'a str>,
}

/// The result of storing a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// The segment it is now, or was already; none if it is not worth storing.
    pub id: Option<String>,
    /// The outcome.
    pub outcome: Outcome,
    /// The digest of the segment's content, if there is one.
    pub digest: Option<u64>,
}

/// The outcome of storing a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was written.
    Added,
    /// The session has it already.
    Duplicate,
    /// It says nothing.
    Noise,
}

impl Outcome {
    /// The name Python knows it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Duplicate => "duplicate",
            Self::Noise => "noise",
        }
    }
}

/// Turns messages into segments.
#[derive(Debug)]
pub(super) struct Intake {
    redactor: Redactor,
    topics: RwLock<Topics>,
}

/// The metadata of a segment, in the order of OpenClaw's `memory-context`.
#[derive(Serialize)]
struct Metadata<'a> {
    topics: Vec<&'a str>,
    entities: Vec<Tagged<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_map")]
    redactions: Vec<(&'a str, u32)>,
}

#[derive(Serialize)]
struct Tagged<'a> {
    r#type: &'a str,
    value: &'a str,
    offset: u32,
}

impl Intake {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self { redactor, topics: RwLock::default() }
    }

    /// Add a topic, or keywords to one that is there.
    pub(super) fn add_topic(&self, name: &str, keywords: &[&str]) -> Result<()> {
        self.topics.write().unwrap_or_else(PoisonError::into_inner).add(name, keywords)
    }

    /// The topics that are looked for.
    pub(super) fn topics(&self) -> Vec<String> {
        self.topics.read().unwrap_or_else(PoisonError::into_inner).names().to_vec()
    }

    /// Return the segment of a session that a record becomes; `None` if it says nothing. `now` is in milliseconds.
    pub(super) fn segment(&self, session: &str, record: &Record<'_>, now: f64) -> Result<Option<Segment>> {
        let timestamp = record.timestamp.unwrap_or(now);
        if !timestamp.is_finite() {
            return Err(Error::argument("timestamp", "a finite number of milliseconds", timestamp.to_string()));
        }
        let Some(text) = worth_keeping(record) else { return Ok(None) };
        let masked = self.redactor.mask(text);
        let more = record.metadata.map(|more| self.more(more)).transpose()?;
        let found = entities(&masked.text);
        let topics = self.topics.read().unwrap_or_else(PoisonError::into_inner);
        let metadata = Metadata {
            topics: topics.of(&masked.text),
            entities: found
                .iter()
                .map(|entity| Tagged { r#type: entity.kind.name(), value: &entity.value, offset: entity.offset })
                .collect(),
            redactions: masked.kinds.iter().map(|(kind, count)| (&**kind, *count)).collect(),
        };
        let mut metadata = serde_json::to_string(&metadata).unwrap_or_else(|_| "{}".to_owned());
        if let Some(more) = more.filter(|more| !more.is_empty()) {
            metadata.pop();
            metadata.push(',');
            metadata.push_str(&more);
            metadata.push('}');
        }
        Ok(Some(Segment {
            id: Segment::derive_id(session, record.role, &masked.text),
            session: session.to_owned(),
            session_key: None,
            timestamp,
            role: record.role.to_owned(),
            tokens: Estimator::Utf16.estimate(&masked.text) as u32,
            content: masked.text.into_owned(),
            metadata,
        }))
    }

    /// The members of the caller's metadata, masked.
    fn more(&self, metadata: &str) -> Result<String> {
        let refuse =
            || Error::argument("metadata", "a JSON object without topics, entities and redactions", "something else");
        serde_json::from_str::<&RawValue>(metadata).map_err(|_| refuse())?;
        let masked = self.redactor.mask(metadata);
        // Masking inside JSON may break it: a quote can be part of a secret. Then only what is safe is kept.
        let text = if serde_json::from_str::<&RawValue>(&masked.text).is_ok() { &*masked.text } else { "{}" };
        let members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).map_err(|_| refuse())?;
        if ["topics", "entities", "redactions"].iter().any(|name| members.contains_key(*name)) {
            return Err(refuse());
        }
        let text = serde_json::to_string(&members).map_err(|_| refuse())?;
        Ok(text[1..text.len() - 1].to_owned())
    }
}

/// The part of a record that is stored; none if it says nothing.
///
/// The line that a chat host writes before a message is removed. Such a line further down is part of the message, for
/// example a pasted log, and so is one that is the whole message.
fn worth_keeping<'a>(record: &Record<'a>) -> Option<&'a str> {
    let content = record.content;
    if !matches!(record.role, "user" | "assistant") {
        return (!content.trim().is_empty()).then_some(content);
    }
    let text = match strip_channel_prefix(content) {
        Cow::Owned(stripped) if !stripped.is_empty() && content.trim_end().ends_with(&stripped) => {
            let end = content.trim_end().len();
            &content[end - stripped.len()..end]
        }
        _ => content,
    };
    (!is_noise(text)).then_some(text)
}

fn as_map<S: serde::Serializer>(kinds: &[(&str, u32)], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(kinds.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_host_prefixes_are_stripped() {
        let kept = |role, content| worth_keeping(&Record { role, content, timestamp: None, metadata: None });
        let stamped = "System: [2026-02-15 18:49:02 GMT+8] Feishu[main] message\ndeploy it now";
        assert_eq!(kept("user", stamped), Some("deploy it now"));
        let pasted = "see this:\n[2026-02-15 18:49:02] connection refused\nwhat now?";
        assert_eq!(kept("user", pasted), Some(pasted));
        assert_eq!(
            kept("user", "[2026-02-15 18:49:02] connection refused"),
            Some("[2026-02-15 18:49:02] connection refused")
        );
        assert_eq!(kept("user", "  indented code\n"), Some("  indented code\n"));
        assert_eq!(kept("assistant", "NO_REPLY"), None);
        assert_eq!(kept("tool", "0"), Some("0"));
        assert_eq!(kept("tool", " \n"), None);
    }
}
