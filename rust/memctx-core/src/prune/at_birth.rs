//! Shortening results before they are sent for the first time, which costs no cache.

use std::sync::Arc;

use super::cut::{Cut, Note};
use crate::scan::{Conversation, Text};

/// A result that is sent shorter than the tool gave it.
#[derive(Clone, Debug)]
pub struct Shortened {
    /// The place of its message.
    pub message: u32,
    /// Which of the message's results it is.
    pub ordinal: u32,
    /// What the tool gave.
    pub whole: Arc<Text>,
    /// What is sent.
    pub text: String,
}

/// The results that are too long, and what is sent of each.
#[must_use]
pub fn at_birth(conversation: &Conversation, cut: Cut) -> Vec<Shortened> {
    let results = (0..)
        .zip(&conversation.views)
        .flat_map(|(message, view)| (0..).zip(view.results()).map(move |(ordinal, result)| (message, ordinal, result)));
    results
        .filter_map(|(message, ordinal, result)| {
            let whole = result.text.as_ref()?;
            let text = cut.apply(whole.body(), Note::AtBirth)?;
            Some(Shortened { message, ordinal, whole: Arc::clone(whole), text })
        })
        .collect()
}
