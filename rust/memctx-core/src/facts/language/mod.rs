//! Language rules for facts: reading a statement and comparing two of them.

mod certainty;
mod claim;
mod lexicon;
mod polarity;
mod reader;
mod relation;
mod replacement;
mod statement;
mod stem;
mod subject;
mod tables;
mod value;

pub(super) use certainty::{is_past, may_state};
pub(super) use relation::Comparison;
pub use relation::{Relation, relate};
pub(super) use replacement::{Sureness, replaces};
pub(super) use statement::{Statement, for_each_word};
pub(super) use subject::subject;
