//! Smart trim: selects the units that leave a conversation that is too long.
//!
//! Protected units stay. Of the rest, those trimmed before leave first; then those least relevant to the query;
//! then the oldest, until the target is reached.

mod plan;
mod protect;
mod relevance;
mod replay;
mod request;
mod wanted;

pub use plan::{Layer, Plan, Removed, plan};
pub use protect::Reason;
pub use relevance::most_relevant;
pub use replay::{Protected, Replay, Replayed};
pub use request::Request;

#[cfg(test)]
mod tests;
