//! Messages of a host as views: roles, costs, calls and results.
//!
//! The binding fills [`MessageView`]s from the host's own objects; everything that decides over messages works on them.

mod answer;
mod cache;
mod chain;
mod conversation;
#[cfg(test)]
pub(crate) mod draft;
mod edit;
mod format;
mod growth;
mod link;
mod pairs;
mod quote;
mod recalled;
mod repair;
mod row;
mod rules;
mod summary;
mod terms;
mod text;
mod unit;
mod view;

pub use cache::{Cache, Key};
pub use chain::{bind, chain, link};
pub use conversation::Conversation;
pub use edit::Shortened;
pub use format::Format;
pub use growth::Growth;
pub use quote::quote;
pub use repair::{Answer, Change, MISSING_RESULT, Plan, Repair, Step, repair};
pub use row::{Row, rows, silence};
pub use rules::{Problem, Rule, problems};
pub(crate) use terms::Reader;
pub use text::{Body, Text, key_of};
pub use unit::{Indices, Unit};
pub use view::{Kind, MessageView, Part, Role};
