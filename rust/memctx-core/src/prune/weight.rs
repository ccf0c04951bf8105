//! How much of the window messages take, in characters: four to a token, as the original counts.

use crate::scan::{Kind, Piece, Role, View};
use crate::text::CHARS_PER_TOKEN;

const IMAGE: u64 = 8000;
const UNKNOWN: u64 = 256;

/// What a message takes.
pub(super) fn of_view(view: &View) -> u64 {
    if view.role == Role::Other {
        return UNKNOWN;
    }
    view.pieces.iter().map(of_piece).sum()
}

/// What a piece takes; where there is no text to measure, what it costs tells.
fn of_piece(piece: &Piece) -> u64 {
    let media = if piece.has_media { IMAGE } else { 0 };
    match (&piece.text, piece.kind) {
        (_, Kind::Media) => IMAGE,
        (Some(text), _) => text.weighted_len() as u64 + media,
        (None, _) => u64::from(piece.tokens) * CHARS_PER_TOKEN as u64 + media,
    }
}
