//! Context usage in characters: four to a token, as OpenClaw counts.

use crate::messages::{Kind, MessageView, Part, Role};
use crate::text::CHARS_PER_TOKEN;

const IMAGE: u64 = 8000;
const UNKNOWN: u64 = 256;

/// Return the characters of a message.
pub(super) fn of_view(view: &MessageView) -> u64 {
    if view.role == Role::Other {
        return UNKNOWN;
    }
    view.parts.iter().map(of_piece).sum()
}

/// Return the characters of a part; from its tokens if it has no text.
fn of_piece(part: &Part) -> u64 {
    let media = if part.has_media { IMAGE } else { 0 };
    match (&part.text, part.kind) {
        (_, Kind::Media) => IMAGE,
        (Some(text), _) => text.weighted_len() as u64 + media,
        (None, _) => u64::from(part.tokens) * CHARS_PER_TOKEN as u64 + media,
    }
}
