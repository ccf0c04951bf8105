//! Messages for tests, written by hand.

use std::sync::Arc;

use super::{Kind, Piece, Role, Text, View};
use crate::text::Estimator;

/// A text and what it costs.
pub(crate) fn text(body: &str) -> Arc<Text> {
    Arc::new(Text::new(body, Estimator::Script.estimate(body) as u32))
}

/// A message of one text.
pub(crate) fn said(role: Role, body: &str) -> View {
    View::new(role, vec![Piece::new(Kind::Text, Some(text(body)))])
}

/// A call of a tool.
pub(crate) fn call(id: &str, name: &str, asked: &str) -> Piece {
    Piece { id: Some(id.into()), name: Some(name.into()), ..Piece::new(Kind::Call, Some(text(asked))) }
}

/// What a tool answered.
pub(crate) fn result(id: &str, body: &str) -> Piece {
    Piece { id: Some(id.into()), ..Piece::new(Kind::Result, Some(text(body))) }
}
