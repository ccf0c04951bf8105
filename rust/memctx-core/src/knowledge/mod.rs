//! Facts: short statements that stay true until one says otherwise.

mod batch;
mod change;
mod cjk_words;
mod fact_store;
mod history;
mod index;
mod kind;
mod lexicon;
mod plan;
mod polarity;
mod question;
mod reader;
mod relation;
mod search;
mod settings;
mod statement;
mod stem;
mod value;
mod words;

pub use change::{Change, Outcome, Statement};
pub use fact_store::{FactStore, Statistics};
pub use kind::Kind;
pub use plan::{Action, Draft, Known, Op, plan};
pub use relation::{Relation, relate};
pub use search::{Found, Request};
pub use settings::Settings;
