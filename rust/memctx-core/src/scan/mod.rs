//! What we read off a host's messages: who speaks, what it costs, which calls and results belong together.
//!
//! The binding fills [`View`]s from the host's own objects; everything that decides over messages works on them.

mod answer;
mod cache;
mod chain;
mod conversation;
#[cfg(test)]
pub(crate) mod draft;
mod edit;
mod growth;
mod link;
mod pairs;
mod quote;
mod recalled;
mod repair;
mod row;
mod rules;
mod shape;
mod summary;
mod terms;
mod text;
mod unit;
mod view;

pub use cache::{Cache, Key};
pub use chain::{bind, chain, link};
pub use conversation::Conversation;
pub use edit::Shortened;
pub use growth::Growth;
pub use quote::quote;
pub use repair::{Answer, Change, Mend, Plan, STAND_IN, Step, repair};
pub use row::{Row, rows};
pub use rules::{Problem, Rule, problems};
pub use shape::Shape;
pub(crate) use terms::Reader;
pub use text::{Body, Text, key_of};
pub use unit::{Places, Unit};
pub use view::{Kind, Piece, Role, View};
