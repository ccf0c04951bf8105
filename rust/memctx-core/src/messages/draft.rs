//! Builders of messages for tests.

use std::sync::Arc;

use super::{Kind, MessageView, Part, Role, Text};
use crate::text::Estimator;

/// Return a text and what it costs.
pub(crate) fn text(body: &str) -> Arc<Text> {
    Arc::new(Text::new(body, Estimator::Script.estimate(body) as u32))
}

/// Return a message of one text.
pub(crate) fn said(role: Role, body: &str) -> MessageView {
    MessageView::new(role, vec![Part::new(Kind::Text, Some(text(body)))])
}

/// Return a call of a tool.
pub(crate) fn call(id: &str, name: &str, asked: &str) -> Part {
    Part { id: Some(id.into()), name: Some(name.into()), ..Part::new(Kind::Call, Some(text(asked))) }
}

/// Return the result of a tool.
pub(crate) fn result(id: &str, body: &str) -> Part {
    Part { id: Some(id.into()), ..Part::new(Kind::Result, Some(text(body))) }
}
