//! What we read off a host's messages: who speaks, what it costs, which calls and results belong together.
//!
//! The binding fills [`View`]s from the host's own objects; everything that decides over messages works on them.

mod conversation;
#[cfg(test)]
pub(crate) mod draft;
mod pairs;
mod repair;
mod rules;
mod shape;
mod text;
mod unit;
mod view;

pub use conversation::Conversation;
pub use repair::{Answer, Change, Mend, Plan, STAND_IN, Step, repair};
pub use rules::{Problem, Rule, problems};
pub use shape::Shape;
pub use text::Text;
pub use unit::Unit;
pub use view::{Kind, Piece, Role, View};
