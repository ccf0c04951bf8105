//! The outcome of a search, and how far it falls short.

use super::warm::search::Found;

/// Part of what left memory that a search did not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsearched {
    /// All of it: the disk index did not answer in time. What it finds joins the next search for the same.
    Late,
    /// The part that is not indexed yet.
    Unindexed,
    /// All of it: there is no index yet, or it is being rebuilt.
    Unavailable,
}

impl Unsearched {
    /// Return its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Late => "late",
            Self::Unindexed => "unindexed",
            Self::Unavailable => "unavailable",
        }
    }
}

/// The results of a search, best first, and how far they fall short.
#[derive(Clone, Debug)]
pub struct Searched {
    /// The segments.
    pub found: Vec<Found>,
    /// The part of what left memory that was not searched.
    pub unsearched: Option<Unsearched>,
    /// Passages that were found by their words alone: their vectors could not be made in time.
    pub unembedded: usize,
}

impl Searched {
    pub(super) fn whole(found: Vec<Found>) -> Self {
        Self { found, unsearched: None, unembedded: 0 }
    }

    pub(super) fn without(unsearched: Unsearched, found: Vec<Found>) -> Self {
        Self { found, unsearched: Some(unsearched), unembedded: 0 }
    }
}
