//! What we read off a host's messages: who speaks, what it costs, which calls and results belong together.
//!
//! The binding fills [`View`]s from the host's own objects; everything that decides over messages works on them.

mod answer;
mod conversation;
#[cfg(test)]
pub(crate) mod draft;
mod shape;
mod text;
mod unit;
mod view;

pub use conversation::Conversation;
pub use shape::Shape;
pub use text::Text;
pub use unit::Unit;
pub use view::{Kind, Piece, Role, View};
