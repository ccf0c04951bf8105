//! One state of a fact as a line of `knowledge.jsonl`.

use serde::{Deserialize, Serialize};

use super::seal::{self, Seal};
use super::segment::{number, words_of};

/// One extracted statement. Every change writes all of it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Unique; the last line of an id counts.
    pub id: String,
    /// What kind of statement it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// The statement.
    pub content: String,
    /// Where it came up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// When it was stated or changed, in milliseconds since 1970; `None` in lines of other programs.
    #[serde(default, serialize_with = "as_javascript", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<f64>,
    /// The fact that replaced it.
    #[serde(default, rename = "supersededBy", skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// Whether it was taken back.
    #[serde(default, rename = "_deleted", skip_serializing_if = "std::ops::Not::not")]
    pub is_deleted: bool,
    /// The session it came up in.
    #[serde(default, rename = "sessionId", skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The segments it was taken from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

impl Fact {
    /// Whether it still holds.
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
        seal::seal(&mut line);
        line
    }

    /// Read a line; the error says what is wrong with it and nothing of what is in it.
    pub fn from_line(line: &[u8]) -> Result<Self, String> {
        if seal::check(line) == Seal::Broken {
            return Err("the checksum does not hold".to_owned());
        }
        let fact: Self = serde_json::from_slice(line).map_err(|fault| words_of(&fault))?;
        if fact.id.is_empty() || fact.kind.is_empty() || fact.content.is_empty() {
            return Err("id, type or content is empty".to_owned());
        }
        Ok(fact)
    }
}

#[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
fn as_javascript<S: serde::Serializer>(timestamp: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = number(timestamp.unwrap_or_default());
    serde_json::value::RawValue::from_string(text).map_err(serde::ser::Error::custom)?.serialize(serializer)
}
