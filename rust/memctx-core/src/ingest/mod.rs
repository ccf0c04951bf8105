//! What happens to a text before it is kept.

pub mod redact;

pub use redact::{Masked, Redaction, Redactor};
