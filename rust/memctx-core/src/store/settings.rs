//! Settings of a store.

use std::time::Duration;

use super::model::Model;
use crate::redact::Redaction;
use crate::{Error, Result};

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Once it is on disk: it survives a power cut.
    #[default]
    Fsync,
    /// Once the operating system has it: it survives the death of the process.
    Os,
}

impl Durability {
    /// The durability of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "fsync" => Ok(Self::Fsync),
            "os" => Ok(Self::Os),
            _ => Err(Error::argument("durability", "\"fsync\" or \"os\"", format!("{name:?}"))),
        }
    }
}

/// Settings of a store.
#[allow(clippy::struct_excessive_bools)] // each is a setting of its own
#[derive(Clone, Debug)]
pub struct Settings {
    /// The session that writes, and the only one that is read unless `cross_session` is set.
    pub session: String,
    /// True if all sessions of the directory are read.
    pub cross_session: bool,
    /// Segments kept in memory, the newest.
    pub max_segments: usize,
    /// Age up to which segments are kept in memory, in days; 0 for any.
    pub eviction_days: f64,
    /// When a write is acknowledged.
    pub durability: Durability,
    /// The way secrets are masked.
    pub redaction: Redaction,
    /// True if personal data are masked too.
    pub pii: bool,
    /// More to mask: kinds and regular expressions.
    pub patterns: Vec<(String, String)>,
    /// True if what left memory is searched on disk, too.
    pub disk_index: bool,
    /// The time a search waits for that.
    pub disk_deadline: Duration,
    /// The time to wait for other writers.
    pub lock_timeout: Duration,
    /// The model that makes the vectors.
    pub model: Model,
    /// True if vectors of other models give way to those of this one, once these are complete.
    pub replaces_vectors: bool,
}

impl Settings {
    /// The defaults for a session.
    #[must_use]
    pub fn new(session: impl Into<String>) -> Self {
        Self {
            session: session.into(),
            cross_session: false,
            max_segments: 20_000,
            eviction_days: 90.0,
            durability: Durability::default(),
            redaction: Redaction::Mask,
            pii: false,
            patterns: Vec::new(),
            disk_index: true,
            disk_deadline: Duration::from_millis(50),
            lock_timeout: Duration::from_secs(5),
            model: Model::hash(),
            replaces_vectors: false,
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.max_segments == 0 {
            return Err(Error::argument("max_segments", "1 or more", "0"));
        }
        if self.eviction_days.is_nan() || self.eviction_days < 0.0 {
            return Err(Error::argument("eviction_days", "0 or more", self.eviction_days.to_string()));
        }
        Ok(())
    }
}
