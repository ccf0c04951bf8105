//! Facts: short statements that hold until a later one supersedes them.

mod batch;
mod change;
mod corrections;
mod fact_store;
mod families;
mod history;
mod index;
mod kind;
mod language;
mod plan;
mod question;
mod search;
mod settings;
mod versions;

pub use change::{Change, Outcome, Statement};
pub use corrections::{Corrections, Stated};
pub use fact_store::{FactStore, Statistics};
pub use kind::Kind;
pub use language::{Relation, relate};
pub use plan::{Action, Draft, Known, Op, plan};
pub use search::{Found, Request};
pub use settings::Settings;
pub use versions::{Version, outdated, replaced};
