//! Detection of the message format.
//!
//! It is identified by the first message that only one host writes: by its role, its type, its fields, or where it has
//! its results. The spelling of a block tells where nothing else does, since hosts take over each other's. What a format
//! is recognized by is in its own file.

use memctx_core::messages::Format;
use pyo3::prelude::*;

use super::node::{Node, field, for_each_item, spelled, text};
use super::recognize;

/// Part of a message that may tell its format.
#[derive(Clone, Copy)]
pub(super) enum Clue<'a, 'py> {
    /// A message of that role.
    Role(Node<'a, 'py>, &'a str),
    /// A message with a role that tells nothing, for its other fields; true if it has content.
    Fields(Node<'a, 'py>, bool),
    /// A message without a role, by its type.
    Item(Node<'a, 'py>, Option<&'a str>),
    /// A block of a message's content, by its type.
    Block(Node<'a, 'py>, Option<&'a str>),
}

/// Certainty that a clue tells the format.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// Only this format has it.
    Surely,
    /// This format has it, and others may.
    Maybe,
}

type Evidence = (Format, Certainty);

/// Evidence of the format in some messages.
#[derive(Clone, Copy, Default)]
pub(crate) struct Detection(Option<Evidence>);

impl Detection {
    /// Go on with the messages that follow.
    pub(crate) fn extend(mut self, messages: &[Bound<'_, PyAny>]) -> PyResult<Self> {
        for message in messages {
            if is_sure(self.0) {
                break;
            }
            match evidence_of(Node::of(message))? {
                Some((_, Certainty::Maybe)) if self.0.is_some() => {}
                Some(evidence) => self.0 = Some(evidence),
                None => {}
            }
        }
        Ok(self)
    }

    /// Return the format of the messages; Anthropic's where all formats would read them alike.
    pub(crate) fn format(self) -> Format {
        self.0.map_or(Format::Anthropic, |(format, _)| format)
    }
}

fn is_sure(evidence: Option<Evidence>) -> bool {
    evidence.is_some_and(|(_, certainty)| certainty == Certainty::Surely)
}

fn evidence_of(message: Node<'_, '_>) -> PyResult<Option<Evidence>> {
    let Some(role) = text!(message, "role")? else {
        let kind = text!(message, "type")?;
        return recognize(Clue::Item(message, kind.as_ref().map(|kind| spelled(Some(kind)))));
    };
    let role = spelled(Some(&role));
    // Most messages are of a role that all formats have, and most blocks are text: no format is asked for those.
    if !matches!(role, "user" | "assistant")
        && let Some(evidence) = recognize(Clue::Role(message, role))?
    {
        return Ok(Some(evidence));
    }
    let content = field!(message, "content")?;
    let mut evidence = None;
    if let Some(content) = &content {
        for_each_item(content, |block| {
            if !is_sure(evidence) {
                let block = Node::of(block);
                let kind = text!(block, "type")?;
                let kind = kind.as_ref().map(|kind| spelled(Some(kind)));
                if kind != Some("text") {
                    evidence = recognize(Clue::Block(block, kind))?.or(evidence);
                }
            }
            Ok(())
        })?;
    }
    if is_sure(evidence) {
        return Ok(evidence);
    }
    Ok(recognize(Clue::Fields(message, content.is_some()))?.or(evidence))
}
