//! What happens to a text before it is stored: what a host wrapped around it goes, what says nothing is skipped, and
//! what it speaks of is noted.

mod entities;
mod literals;
mod noise;
mod prefix;
pub mod redact;
mod topics;

pub use entities::{Entity, EntityKind, MOST_ENTITIES, entities};
pub use noise::is_noise;
pub(crate) use prefix::past_channel_prefix;
pub use prefix::strip_channel_prefix;
pub(crate) use redact::split_at_masks;
pub use redact::{Masked, Redaction, Redactor};
pub use topics::Topics;
