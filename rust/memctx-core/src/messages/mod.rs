//! Messages of a host as views: roles, costs, calls and results.
//!
//! The binding fills [`MessageView`]s from the host's own objects; everything that decides over messages works on them.

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
mod problems;
mod quote;
mod recalled;
mod repair;
mod repair_plan;
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
pub use format::{Format, FormatRules, Layout};
pub use growth::Growth;
pub use problems::{Problem, problems};
pub use quote::quote;
pub use repair::{MISSING_RESULT, repair};
pub use repair_plan::{Answer, Change, Plan, Repair, Step};
pub use row::{Row, rows, silence};
pub use rules::Rule;
pub(crate) use terms::Reader;
pub use text::{Body, Text, key_of};
pub use unit::{Indices, Unit};
pub use view::{Kind, MessageView, Part, Role};
