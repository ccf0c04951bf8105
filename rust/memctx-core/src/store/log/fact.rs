//! One state of a fact as a line of `knowledge.jsonl`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::checksum::{self, Checksum};
use super::segment::{has_surrogate, number, without_lone_surrogates, words_of};

/// One extracted statement. Every change writes all of it again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    /// Unique; the last line of an id counts.
    pub id: String,
    /// The kind of statement.
    #[serde(rename = "type")]
    pub kind: String,
    /// The statement.
    pub content: String,
    /// The context it came up in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// When it was stated or changed, in milliseconds since 1970; `None` in lines of other programs.
    #[serde(serialize_with = "as_javascript", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<f64>,
    /// The fact that replaced it.
    #[serde(rename = "supersededBy", skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// True if it was taken back.
    #[serde(rename = "_deleted", skip_serializing_if = "std::ops::Not::not")]
    pub is_deleted: bool,
    /// The session it came up in.
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The segments it was taken from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// The number of changes of the fact that were read before this state.
    #[serde(skip)]
    pub revision: u32,
}

/// A line of the file. As in OpenClaw's `memory-context`, the types of optional values are not checked.
#[derive(Debug, Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    content: Cow<'a, str>,
    #[serde(borrow, default)]
    context: Option<&'a RawValue>,
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "supersededBy")]
    superseded_by: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_deleted")]
    is_deleted: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "sessionId")]
    session: Option<&'a RawValue>,
    #[serde(borrow, default)]
    sources: Option<&'a RawValue>,
}

impl Fact {
    /// Return whether it still holds.
    #[must_use]
    pub fn is_active(&self) -> bool {
        !self.is_deleted && self.superseded_by.is_none()
    }

    /// The line, sealed and without its end.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        // Writing to memory cannot fail.
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.pop();
        checksum::seal(&mut line);
        line
    }

    /// Read a line; the error says what is wrong with it and nothing of what is in it.
    pub fn from_line(line: &[u8]) -> Result<Self, String> {
        if checksum::check(line) == Checksum::Broken {
            return Err("the checksum does not hold".to_owned());
        }
        let text = std::str::from_utf8(line).map_err(|fault| format!("not UTF-8 at byte {}", fault.valid_up_to()))?;
        let text = if has_surrogate(text) { Cow::Owned(without_lone_surrogates(text)) } else { Cow::Borrowed(text) };
        let fact: Self = serde_json::from_str::<Line<'_>>(&text).map_err(|fault| words_of(&fault))?.into();
        if fact.id.is_empty() || fact.kind.is_empty() || fact.content.is_empty() {
            return Err("id, type or content is empty".to_owned());
        }
        Ok(fact)
    }
}

impl From<Line<'_>> for Fact {
    fn from(line: Line<'_>) -> Self {
        Self {
            id: line.id.into_owned(),
            kind: line.kind.into_owned(),
            content: line.content.into_owned(),
            context: said(line.context),
            timestamp: read(line.timestamp),
            superseded_by: said(line.superseded_by),
            is_deleted: line.is_deleted.is_some_and(|raw| !matches!(raw.get(), "false" | "null" | "0" | "\"\"")),
            session: read(line.session),
            sources: read(line.sources).unwrap_or_default(),
            revision: 0,
        }
    }
}

/// A value, unless it is of another type.
pub(crate) fn read<T: serde::de::DeserializeOwned>(raw: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// A text that is not empty.
fn said(raw: Option<&RawValue>) -> Option<String> {
    read(raw).filter(|text: &String| !text.is_empty())
}

#[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
fn as_javascript<S: serde::Serializer>(timestamp: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = number(timestamp.unwrap_or_default());
    serde_json::value::RawValue::from_string(text).map_err(serde::ser::Error::custom)?.serialize(serializer)
}
