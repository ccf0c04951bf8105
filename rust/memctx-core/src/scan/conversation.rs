//! A list of messages, read.

use super::shape::Shape;
use super::unit::{Unit, units};
use super::view::View;

/// A list of messages as one turn sees it.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// What the messages are.
    pub shape: Shape,
    /// What was read off each, in order.
    pub views: Vec<View>,
    /// What may leave, in the order of the first messages.
    pub units: Vec<Unit>,
}

impl Conversation {
    /// The conversation of messages that were read.
    #[must_use]
    pub fn new(shape: Shape, views: Vec<View>) -> Self {
        let units = units(&views);
        Self { shape, views, units }
    }

    /// What all messages cost the model.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.views.iter().map(|view| u64::from(view.tokens())).sum()
    }
}
