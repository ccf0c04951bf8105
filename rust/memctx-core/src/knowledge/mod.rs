//! Knowledge: what a new statement does to what is known.

mod lexicon;
mod plan;
mod polarity;
mod relation;
mod statement;
mod stem;
mod value;

pub use plan::{Action, Draft, Known, Op, plan};
pub use relation::{Relation, relate};
