//! The six kinds of facts.

use crate::{Error, Result};

/// What a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What was decided, and why.
    Decision,
    /// How something was built.
    Implementation,
    /// A setting and its value.
    Config,
    /// What went wrong, and what helped.
    Issue,
    /// How far the work is.
    TaskState,
    /// How the parts hang together.
    Architecture,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Decision, Self::Implementation, Self::Config, Self::Issue, Self::TaskState, Self::Architecture];

    /// The kind of that name.
    pub fn parse(name: &str) -> Result<Self> {
        let expected = "one of decision, implementation, config, issue, task_state, architecture";
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| Error::argument("type", expected, format!("{name:?}")))
    }

    /// The name that [`Kind::parse`] takes, as it stands in the log.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Implementation => "implementation",
            Self::Config => "config",
            Self::Issue => "issue",
            Self::TaskState => "task_state",
            Self::Architecture => "architecture",
        }
    }
}
