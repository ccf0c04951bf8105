//! Pruning: which results of tools are shortened or cleared before messages are sent, and to what.

mod at_birth;
mod cut;
mod globs;
mod plan;
mod request;
mod weight;

pub use at_birth::{Shortened, at_birth};
pub use cut::{Cut, Note};
pub use globs::Globs;
pub use plan::{Pruned, plan};
pub use request::{Form, Mode, Request};

#[cfg(test)]
mod tests;
