//! Changes to facts.

use super::kind::Kind;

/// Content of a fact.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statement<'a> {
    /// The statement itself.
    pub content: &'a str,
    /// Context in which it came up.
    pub context: Option<&'a str>,
    /// The segments it was taken from.
    pub sources: &'a [String],
    /// Time of the statement, in milliseconds since 1970; now if not known.
    pub timestamp: Option<f64>,
}

/// One change of what is known.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// State something new.
    Add {
        /// The id it gets; a new one if there is none.
        id: Option<&'a str>,
        /// Kind of the fact.
        kind: Kind,
        /// Content of the fact.
        statement: Statement<'a>,
    },
    /// Say the same better, or say more.
    Update {
        /// The fact.
        target: &'a str,
        /// New content. Without a context the fact keeps the one it has; its sources are kept too.
        statement: Statement<'a>,
    },
    /// Say that something else holds now.
    Supersede {
        /// The fact that holds no more.
        target: &'a str,
        /// The id of the one that does; a new one if there is none.
        id: Option<&'a str>,
        /// Kind of the new fact.
        kind: Kind,
        /// Content of the new fact.
        statement: Statement<'a>,
    },
    /// Take a statement back.
    Delete {
        /// The fact.
        target: &'a str,
    },
}

impl<'a> Change<'a> {
    /// Return the fact it is about, unless it makes a new one.
    #[must_use]
    pub fn target(&self) -> Option<&'a str> {
        match *self {
            Self::Add { .. } => None,
            Self::Update { target, .. } | Self::Supersede { target, .. } | Self::Delete { target } => Some(target),
        }
    }
}

/// Outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was made.
    Done,
    /// That is known already; nothing was written.
    Duplicate,
    /// The fact it is about does not hold any more; what it says was added.
    Added,
    /// The fact it is about does not hold any more, or never did; nothing was written.
    Missing,
}

impl Outcome {
    /// Return the name Python knows it by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Duplicate => "duplicate",
            Self::Added => "added",
            Self::Missing => "missing",
        }
    }
}
