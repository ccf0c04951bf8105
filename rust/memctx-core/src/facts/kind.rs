//! The kinds of facts.

use crate::{Error, Result};

/// Kind of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Decisions, with their reasons.
    Decision,
    /// Implementation details.
    Implementation,
    /// A setting and its value.
    Config,
    /// Problems, with their solutions.
    Issue,
    /// State of the work.
    TaskState,
    /// Structure of the system.
    Architecture,
    /// Wishes and habits of a person.
    Preference,
    /// Anything else.
    Note,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Decision,
        Self::Implementation,
        Self::Config,
        Self::Issue,
        Self::TaskState,
        Self::Architecture,
        Self::Preference,
        Self::Note,
    ];

    /// Return the kind of that name.
    pub fn parse(name: &str) -> Result<Self> {
        let expected = "one of decision, implementation, config, issue, task_state, architecture, preference, note";
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| Error::argument("type", expected, format!("{name:?}")))
    }

    /// Return the name that [`Kind::parse`] takes, as it stands in the log.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Implementation => "implementation",
            Self::Config => "config",
            Self::Issue => "issue",
            Self::TaskState => "task_state",
            Self::Architecture => "architecture",
            Self::Preference => "preference",
            Self::Note => "note",
        }
    }
}
