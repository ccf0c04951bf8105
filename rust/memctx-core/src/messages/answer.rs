//! Start of an answer of the model.

use super::{Conversation, Format, Role};

impl Conversation {
    /// Return whether a message only goes on with the answer that the one before belongs to: the Responses API gives
    /// the reasoning, the words and each call of one answer as items of their own.
    #[must_use]
    pub fn continues(&self, index: usize) -> bool {
        let is_said = |index: usize| self.views.get(index).is_some_and(|view| view.role == Role::Assistant);
        self.format == Format::Responses && index > 0 && is_said(index - 1) && is_said(index)
    }
}
