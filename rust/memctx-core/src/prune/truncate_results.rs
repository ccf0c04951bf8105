//! Truncation of tool results before they are first sent, which costs no cache.

use std::sync::Arc;

use super::cut::{Cut, Note};
use crate::messages::{Conversation, Text};

/// A result that is sent shorter than the tool gave it.
#[derive(Clone, Debug)]
pub struct Shortened {
    /// Index of its message.
    pub message: u32,
    /// Index among the message's results.
    pub ordinal: u32,
    /// Result of the tool.
    pub whole: Arc<Text>,
    /// Text that is sent.
    pub text: String,
}

/// Return the results that are too long, and what is sent of each.
#[must_use]
pub fn truncate_results(conversation: &Conversation, cut: Cut) -> Vec<Shortened> {
    let results = (0..)
        .zip(&conversation.views)
        .flat_map(|(message, view)| (0..).zip(view.results()).map(move |(ordinal, result)| (message, ordinal, result)));
    results
        .filter_map(|(message, ordinal, result)| {
            let whole = result.text.as_ref()?;
            let text = cut.apply(whole.body(), Note::BeforeFirstSend)?;
            Some(Shortened { message, ordinal, whole: Arc::clone(whole), text })
        })
        .collect()
}
