//! What can be done to facts.

use super::kind::Kind;

/// What a fact says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statement<'a> {
    /// The statement itself.
    pub content: &'a str,
    /// Where it came up.
    pub context: Option<&'a str>,
    /// The segments it was taken from.
    pub sources: &'a [String],
    /// When it was stated, in milliseconds since 1970; now if not known.
    pub timestamp: Option<f64>,
}

/// One change of what is known.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// State something new.
    Add {
        /// The id it gets; a new one if there is none.
        id: Option<&'a str>,
        /// What kind of statement it is.
        kind: Kind,
        /// What it says.
        statement: Statement<'a>,
    },
    /// Say the same better, or say more.
    Update {
        /// The fact.
        target: &'a str,
        /// What it says from now on. Without a context it keeps the one it has; its sources are kept too.
        statement: Statement<'a>,
    },
    /// Say that something else holds now.
    Supersede {
        /// The fact that holds no more.
        target: &'a str,
        /// The id of the one that does; a new one if there is none.
        id: Option<&'a str>,
        /// What kind of statement that is.
        kind: Kind,
        /// What it says.
        statement: Statement<'a>,
    },
    /// Take a statement back.
    Delete {
        /// The fact.
        target: &'a str,
    },
}

impl<'a> Change<'a> {
    /// The fact it is about, unless it makes a new one.
    #[must_use]
    pub fn target(&self) -> Option<&'a str> {
        match *self {
            Self::Add { .. } => None,
            Self::Update { target, .. } | Self::Supersede { target, .. } | Self::Delete { target } => Some(target),
        }
    }
}

/// What became of a change.
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
    /// The name Python knows it by.
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
