//! Preparation of a text for storage: strips what a host wrapped around it, skips noise, and extracts topics and
//! entities.

mod entities;
mod noise;
mod prefix;
mod topics;

pub use entities::{Entity, EntityKind, MOST_ENTITIES, entities};
pub use noise::is_noise;
pub(crate) use prefix::past_channel_prefix;
pub use prefix::strip_channel_prefix;
pub use topics::Topics;
pub(crate) use topics::built_in_topics;
