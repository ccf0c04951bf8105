//! Plan of a repair: the steps that build the repaired list, and the changes they make.

use super::problems::{own, with_id};

/// Steps that build the repaired list, from the first message to the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Steps, one for each message of the repaired list.
    pub steps: Vec<Step>,
    /// Changes, in the order of the messages that were given.
    pub changes: Vec<Change>,
}

/// One message of the repaired list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A message as it is, by its index in the list.
    Keep(u32),
    /// A message with these results in front instead of its own; without a message, one of the results alone.
    Answer(Option<u32>, Vec<Answer>),
    /// A message of which nothing is left, but whose place in the order of roles must be held.
    Hold(u32),
}

/// A result of the repaired list, by the index of its message and how many of its kind stand before it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A result that is there.
    Given(u32, u32),
    /// One that stands for the missing result of a call.
    Missing(u32, u32),
}

/// Kind of a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repair {
    /// A result without a call left.
    DroppedOrphan,
    /// A second result for a call left.
    DroppedDuplicate,
    /// A result went to its call.
    MovedResult,
    /// A call got a result that stands for the missing one.
    AddedResult,
    /// The results of a message went in front of its text.
    ReorderedResults,
    /// Reasoning left that had lost what it led to.
    DroppedReasoning,
}

impl Repair {
    /// Return its name; it stays the same in every version.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::DroppedOrphan => "dropped-orphan",
            Self::DroppedDuplicate => "dropped-duplicate",
            Self::MovedResult => "moved-result",
            Self::AddedResult => "added-result",
            Self::ReorderedResults => "reordered-results",
            Self::DroppedReasoning => "dropped-reasoning",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::DroppedOrphan => "dropped a tool result whose call does not stand before it",
            Self::DroppedDuplicate => "dropped a second tool result for a call that has one",
            Self::MovedResult => "moved a tool result behind its call",
            Self::AddedResult => "answered a tool call that has no result by an error",
            Self::ReorderedResults => "put tool results in front of the text of their message",
            Self::DroppedReasoning => "dropped a reasoning item that is not followed by what it led to",
        }
    }
}

/// Change that a repair made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The message of the call, the result or the reasoning, by its index in the list that was given.
    pub index: u32,
    /// Number of its kind before it in its message.
    pub ordinal: u32,
    /// Kind of the repair.
    pub repair: Repair,
    /// The id of the call or the result, where there is one.
    pub id: Option<Box<str>>,
}

impl Change {
    pub(super) fn new(repair: Repair, view: usize, ordinal: u32, id: &str) -> Self {
        Self { index: view as u32, ordinal, repair, id: own(id).map(Into::into) }
    }

    /// Return the change in words.
    #[must_use]
    pub fn message(&self) -> String {
        with_id(self.repair.sentence(), self.id.as_deref())
    }
}
