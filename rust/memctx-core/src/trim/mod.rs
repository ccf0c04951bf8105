//! Smart trim: which units leave a conversation that is too long, and why.
//!
//! What is protected stays. Of the rest, what was trimmed before leaves first; then what tells least about the query;
//! then the oldest, until the target is reached.

mod plan;
mod protect;
mod relevance;
mod replay;
mod request;
mod wanted;

pub use plan::{Layer, Plan, Removed, plan};
pub use protect::Reason;
pub use replay::{Replay, Replayed};
pub use request::Request;

#[cfg(test)]
mod tests;
