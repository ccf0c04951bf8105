//! Where an answer of the model begins.

use super::{Conversation, Role, Shape};

impl Conversation {
    /// Whether a message only goes on with the answer that the one before belongs to: the Responses API gives the
    /// reasoning, the words and each call of one answer as items of their own.
    #[must_use]
    pub fn continues(&self, place: usize) -> bool {
        let is_said = |place: usize| self.views.get(place).is_some_and(|view| view.role == Role::Assistant);
        self.shape == Shape::Responses && place > 0 && is_said(place - 1) && is_said(place)
    }
}
