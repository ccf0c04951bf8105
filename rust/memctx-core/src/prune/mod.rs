//! Pruning: shortens or clears tool results before messages are sent.

mod cut;
mod globs;
mod plan;
mod request;
mod truncate_results;
mod weight;

pub use cut::{Cut, Note};
pub use globs::Globs;
pub use plan::{Pruned, plan};
pub use request::{Form, Mode, Overflow, Request};
pub use truncate_results::{Shortened, truncate_results};

#[cfg(test)]
mod tests;
