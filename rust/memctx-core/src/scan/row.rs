//! What is archived of a message.

use std::borrow::Cow;

use super::quote::quote;
use super::view::{Kind, Piece, Role, View};

/// One record for the archive.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'a> {
    /// `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// What is stored; never empty.
    pub text: Cow<'a, str>,
    /// When it was said, in milliseconds since 1970, where the message says so.
    pub timestamp: Option<f64>,
    /// A JSON object that tells what the text is, where it is no speech.
    pub metadata: Option<String>,
}

/// The records of a message, in order; its texts are one, where the first of them stands.
///
/// Thinking, system prompts, what is not known and what we recalled ourselves give none.
#[must_use]
pub fn rows(view: &View) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut speech: Option<usize> = None;
    for piece in view.pieces.iter() {
        let made = match piece.kind {
            Kind::Text | Kind::Media => said(view.role, piece),
            Kind::Call => made("tool", asked(piece), Some(tool("call", piece))),
            Kind::Result => made("tool", answered(piece), Some(tool("result", piece))),
            Kind::Compaction => made("assistant", body(piece), Some(summary(piece))),
            Kind::Thinking | Kind::Other => None,
        };
        let Some(mut row) = made else { continue };
        if matches!(piece.kind, Kind::Text | Kind::Media) {
            if let Some(place) = speech {
                let text = rows[place].text.to_mut();
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

fn made<'a>(role: &'static str, text: Cow<'a, str>, metadata: Option<String>) -> Option<Row<'a>> {
    (!text.is_empty()).then_some(Row { role, text, timestamp: None, metadata })
}

fn said(role: Role, piece: &Piece) -> Option<Row<'_>> {
    let role = match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System | Role::Tool | Role::Other => return None,
    };
    if piece.is_recalled() {
        return None;
    }
    made(role, body(piece), piece.name.as_deref().filter(|_| piece.kind == Kind::Text).map(custom))
}

fn body(piece: &Piece) -> Cow<'_, str> {
    piece.text.as_deref().map_or("", |text| text.body()).into()
}

/// A call as it is stored: the name of the tool and what it was asked.
fn asked(piece: &Piece) -> Cow<'_, str> {
    let (name, asked) = (piece.name.as_deref().unwrap_or_default(), body(piece));
    format!("{name} {asked}").trim().to_owned().into()
}

/// A result as it is stored: its text, and what stands for its pictures and files.
fn answered(piece: &Piece) -> Cow<'_, str> {
    match (body(piece), piece.media.as_deref()) {
        (text, None) => text,
        (text, Some(media)) if text.is_empty() => media.into(),
        (text, Some(media)) => format!("{text}\n{media}").into(),
    }
}

fn tool(kind: &str, piece: &Piece) -> String {
    let mut json = String::from("{\"tool\":{");
    for (field, value) in [("name", piece.name.as_deref()), ("callId", piece.own_id())] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            quote(field, &mut json);
            json.push(':');
            quote(value, &mut json);
            json.push(',');
        }
    }
    json.push_str("\"kind\":");
    quote(kind, &mut json);
    if piece.is_error {
        json.push_str(",\"isError\":true");
    }
    json.push_str("}}");
    json
}

fn summary(piece: &Piece) -> String {
    let mut json = String::from("{\"kind\":");
    quote(piece.name.as_deref().unwrap_or("compactionSummary"), &mut json);
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
    use crate::scan::draft::{call, result, said, text};

    fn texts(view: &View) -> Vec<(&'static str, String)> {
        rows(view).into_iter().map(|row| (row.role, row.text.into_owned())).collect()
    }

    #[test]
    fn what_was_said_is_one_row_where_it_began() {
        let speech = |body| Piece::new(Kind::Text, Some(text(body)));
        let pieces = vec![call("1", "read", "{}"), speech("a"), call("2", "ls", ""), speech(""), speech("b")];
        let view = View::new(Role::Assistant, pieces);
        let expected = [("tool", "read {}"), ("assistant", "a\nb"), ("tool", "ls")];
        assert_eq!(texts(&view), expected.map(|(role, text)| (role, text.to_owned())));
    }

    #[test]
    fn our_own_blocks_are_not_archived_wherever_they_stand() {
        let block = crate::scan::recalled::BLOCK;
        assert_eq!(rows(&said(Role::User, block)), []);
        let recalled = Piece::new(Kind::Text, Some(text(block)));
        let merged = View::new(Role::User, vec![recalled, Piece::new(Kind::Text, Some(text("why?")))]);
        assert_eq!(texts(&merged), [("user", "why?".to_owned())]);
        let quoting = said(Role::User, &format!("what is {block}?"));
        assert_eq!(rows(&quoting).len(), 1);
    }

    #[test]
    fn an_id_that_we_made_up_is_not_told() {
        let view = View::new(Role::Tool, vec![Piece { name: Some("f".into()), ..result("\0f", "done") }]);
        assert_eq!(rows(&view)[0].metadata.as_deref(), Some(r#"{"tool":{"name":"f","kind":"result"}}"#));
    }
}
