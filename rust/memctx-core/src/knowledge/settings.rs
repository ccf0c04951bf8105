//! How a store of facts behaves.

use std::time::Duration;

use crate::ingest::redact::Redaction;
use crate::store::Durability;

/// How a store of facts behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The session that writes, and the only one whose facts are seen unless `cross_session` is set.
    pub session: String,
    /// Whether the facts of all sessions are seen, those that no session signed among them.
    pub cross_session: bool,
    /// When a write is acknowledged.
    pub durability: Durability,
    /// How secrets are masked.
    pub redaction: Redaction,
    /// Whether personal data are masked too.
    pub pii: bool,
    /// More to mask: kinds and regular expressions.
    pub patterns: Vec<(String, String)>,
    /// How long to wait for other writers.
    pub lock_timeout: Duration,
}

impl Settings {
    /// The defaults for a session.
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
