//! Facts: short statements that stay true until one says otherwise.

mod batch;
mod change;
mod fact_store;
mod history;
mod index;
mod kind;
mod question;
mod search;
mod settings;
mod subject;

pub use change::{Change, Outcome, Statement};
pub use fact_store::{FactStore, Statistics};
pub use kind::Kind;
pub use search::{Found, Request};
pub use settings::Settings;
