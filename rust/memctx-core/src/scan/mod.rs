//! What we read off a host's messages: who speaks, what it costs, which calls and results belong together.
//!
//! The binding fills [`View`]s from the host's own objects; everything that decides over messages works on them.

mod answer;
mod cache;
mod conversation;
#[cfg(test)]
pub(crate) mod draft;
mod link;
mod quote;
mod recalled;
mod row;
mod shape;
mod summary;
mod text;
mod unit;
mod view;

pub use cache::Cache;
pub use conversation::Conversation;
pub use quote::quote;
pub use row::{Row, rows};
pub use shape::Shape;
pub use text::Text;
pub use unit::Unit;
pub use view::{Kind, Piece, Role, View};
