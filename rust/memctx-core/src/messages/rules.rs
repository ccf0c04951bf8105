//! Rules of providers. A request that breaks one fails with a 400.

/// A rule of a provider that messages may break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A result answers a call that stands before it.
    OrphanResult,
    /// A call has one result.
    DuplicateResult,
    /// A result stands right behind its call.
    ResultNotAdjacent,
    /// Results come before what the user says in the same message.
    TextBeforeResult,
    /// A call has a result.
    UnansweredCall,
    /// Ids of calls are unique.
    DuplicateCall,
    /// Calls come right behind the user or a result.
    CallNotAfterUser,
    /// The user and the model take turns.
    RolesAlternate,
    /// The user begins.
    FirstNotUser,
    /// Reasoning is followed by what it led to.
    ReasoningWithoutFollower,
    /// A message says something.
    EmptyContent,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 11] = [
        Self::OrphanResult,
        Self::DuplicateResult,
        Self::ResultNotAdjacent,
        Self::TextBeforeResult,
        Self::UnansweredCall,
        Self::DuplicateCall,
        Self::CallNotAfterUser,
        Self::RolesAlternate,
        Self::FirstNotUser,
        Self::ReasoningWithoutFollower,
        Self::EmptyContent,
    ];

    /// Return the name of breaking it; it stays the same in every version.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::OrphanResult => "orphan-result",
            Self::DuplicateResult => "duplicate-result",
            Self::ResultNotAdjacent => "result-not-adjacent",
            Self::TextBeforeResult => "text-before-result",
            Self::UnansweredCall => "unanswered-call",
            Self::DuplicateCall => "duplicate-call",
            Self::CallNotAfterUser => "call-not-after-user",
            Self::RolesAlternate => "roles-alternate",
            Self::FirstNotUser => "first-not-user",
            Self::ReasoningWithoutFollower => "reasoning-without-follower",
            Self::EmptyContent => "empty-content",
        }
    }

    pub(super) const fn sentence(self) -> &'static str {
        match self {
            Self::OrphanResult => "a tool result whose call does not stand before it",
            Self::DuplicateResult => "a second tool result for a call that has one",
            Self::ResultNotAdjacent => "a tool result that does not stand right behind its call",
            Self::TextBeforeResult => "text in front of a tool result; results come first in their message",
            Self::UnansweredCall => "a tool call without a result",
            Self::DuplicateCall => "a tool call with the id of another call",
            Self::CallNotAfterUser => "a tool call that comes neither after the user nor after a tool result",
            Self::RolesAlternate => "two messages of one side in a row; user and assistant must take turns",
            Self::FirstNotUser => "the first message is the assistant's; it must be the user's",
            Self::ReasoningWithoutFollower => "a reasoning item without the item it led to right behind it",
            Self::EmptyContent => "a message or a text block without content",
        }
    }
}
