//! Settings of a fact store.

use std::time::Duration;

use crate::redact::Redaction;
use crate::store::Durability;

/// Settings of a fact store.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The session that writes, and the only one whose facts are seen unless `cross_session` is set.
    pub session: String,
    /// True to see the facts of all sessions, and those without a session.
    pub cross_session: bool,
    /// Moment at which a write is acknowledged.
    pub durability: Durability,
    /// Masking of secrets.
    pub redaction: Redaction,
    /// True to mask personal data too.
    pub pii: bool,
    /// More to mask: kinds and regular expressions.
    pub patterns: Vec<(String, String)>,
    /// Longest wait for other writers.
    pub lock_timeout: Duration,
}

impl Settings {
    /// Create the defaults for a session.
    #[must_use]
    pub fn new(session: impl Into<String>) -> Self {
        Self {
            session: session.into(),
            cross_session: false,
            durability: Durability::default(),
            redaction: Redaction::Mask,
            pii: false,
            patterns: Vec::new(),
            lock_timeout: Duration::from_secs(5),
        }
    }
}
