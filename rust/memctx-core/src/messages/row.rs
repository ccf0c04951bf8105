//! Archived records of a message.

use std::borrow::Cow;

use super::quote::quote;
use super::view::{Kind, MessageView, Part, Role};

/// One record for the archive.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'a> {
    /// `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// Text to store; never empty.
    pub text: Cow<'a, str>,
    /// Time of the message, in milliseconds since 1970, if it has one.
    pub timestamp: Option<f64>,
    /// A JSON object that tells what the text is, where it is no speech.
    pub metadata: Option<String>,
}

/// Return the records of a message, in order; its texts are one, where the first of them stands.
///
/// Thinking, system prompts, what is not known and what we recalled ourselves give none.
#[must_use]
pub fn rows(view: &MessageView) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut speech: Option<usize> = None;
    for part in view.parts.iter() {
        let made = match part.kind {
            Kind::Text | Kind::Media => said(view.role, part),
            Kind::Call => made("tool", asked(part), Some(tool("call", part))),
            Kind::Result => made("tool", answered(part), Some(tool("result", part))),
            Kind::Compaction => made("assistant", body(part), Some(summary(part))),
            Kind::Thinking | Kind::Other => None,
        };
        let Some(mut row) = made else { continue };
        if matches!(part.kind, Kind::Text | Kind::Media) {
            if let Some(index) = speech {
                let text = rows[index].text.to_mut();
                text.push('\n');
                text.push_str(&row.text);
                continue;
            }
            speech = Some(rows.len());
        }
        row.timestamp = view.timestamp;
        rows.push(row);
    }
    rows
}

/// Return the reason why a message has no records.
#[must_use]
pub fn silence(view: &MessageView) -> &'static str {
    let any = |is_such: fn(&Part) -> bool| view.parts.iter().any(is_such);
    match view.role {
        Role::System => "system",
        _ if any(Part::is_recalled) => "recalled",
        _ if any(|part| part.is_opaque) => "unknown",
        _ if any(|part| part.kind == Kind::Thinking) => "thinking",
        Role::Other => "host",
        Role::User | Role::Assistant | Role::Tool => "empty",
    }
}

fn made<'a>(role: &'static str, text: Cow<'a, str>, metadata: Option<String>) -> Option<Row<'a>> {
    (!text.is_empty()).then_some(Row { role, text, timestamp: None, metadata })
}

fn said(role: Role, part: &Part) -> Option<Row<'_>> {
    let role = match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System | Role::Tool | Role::Other => return None,
    };
    if part.is_recalled() {
        return None;
    }
    made(role, body(part), part.name.as_deref().filter(|_| part.kind == Kind::Text).map(custom))
}

fn body(part: &Part) -> Cow<'_, str> {
    part.text.as_deref().map_or("", |text| text.body()).into()
}

/// Return a call as it is stored: the name of the tool and what it was asked.
fn asked(part: &Part) -> Cow<'_, str> {
    let (name, asked) = (part.name.as_deref().unwrap_or_default(), body(part));
    format!("{name} {asked}").trim().to_owned().into()
}

/// Return a result as it is stored: its text, and what stands for its pictures and files.
fn answered(part: &Part) -> Cow<'_, str> {
    match (body(part), part.media.as_deref()) {
        (text, None) => text,
        (text, Some(media)) if text.is_empty() => media.into(),
        (text, Some(media)) => format!("{text}\n{media}").into(),
    }
}

fn tool(kind: &str, part: &Part) -> String {
    let mut json = String::from("{\"tool\":{");
    for (field, value) in [("name", part.name.as_deref()), ("callId", part.own_id())] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            quote(field, &mut json);
            json.push(':');
            quote(value, &mut json);
            json.push(',');
        }
    }
    json.push_str("\"kind\":");
    quote(kind, &mut json);
    if part.is_error {
        json.push_str(",\"isError\":true");
    }
    json.push_str("}}");
    json
}

fn summary(part: &Part) -> String {
    let mut json = String::from("{\"kind\":");
    quote(part.name.as_deref().unwrap_or("compactionSummary"), &mut json);
    json.push('}');
    json
}

fn custom(name: &str) -> String {
    let mut json = String::from("{\"kind\":\"custom\",\"customType\":");
    quote(name, &mut json);
    json.push('}');
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::draft::{call, result, said, text};

    fn texts(view: &MessageView) -> Vec<(&'static str, String)> {
        rows(view).into_iter().map(|row| (row.role, row.text.into_owned())).collect()
    }

    #[test]
    fn speech_is_one_row_at_its_first_text() {
        let speech = |body| Part::new(Kind::Text, Some(text(body)));
        let parts = vec![call("1", "read", "{}"), speech("a"), call("2", "ls", ""), speech(""), speech("b")];
        let view = MessageView::new(Role::Assistant, parts);
        let expected = [("tool", "read {}"), ("assistant", "a\nb"), ("tool", "ls")];
        assert_eq!(texts(&view), expected.map(|(role, text)| (role, text.to_owned())));
    }

    #[test]
    fn our_own_blocks_are_not_archived_wherever_they_stand() {
        let block = crate::messages::recalled::BLOCK;
        assert_eq!(rows(&said(Role::User, block)), []);
        let recalled = Part::new(Kind::Text, Some(text(block)));
        let merged = MessageView::new(Role::User, vec![recalled, Part::new(Kind::Text, Some(text("why?")))]);
        assert_eq!(texts(&merged), [("user", "why?".to_owned())]);
        let quoting = said(Role::User, &format!("what is {block}?"));
        assert_eq!(rows(&quoting).len(), 1);
    }

    #[test]
    fn a_made_up_id_is_not_archived() {
        let view = MessageView::new(Role::Tool, vec![Part { name: Some("f".into()), ..result("\0f", "done") }]);
        assert_eq!(rows(&view)[0].metadata.as_deref(), Some(r#"{"tool":{"name":"f","kind":"result"}}"#));
    }
}
