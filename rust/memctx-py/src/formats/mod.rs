//! Readers of message formats, straight from the host's objects.
//!
//! One file for each format, each with two functions: `recognize` tells whether a message is of that format, `read`
//! writes the parts of a message on a [`Draft`]. Nothing is copied that can be pointed at, nothing is priced and no lock
//! is taken: that comes when all messages are read.

mod anthropic;
mod bedrock;
mod content;
mod detect;
mod draft;
mod foreign;
mod gemini;
mod json;
mod measure;
mod moment;
mod node;
mod openai;
mod pi;
mod responses;
mod tool;

use memctx_core::messages::{Format, Role};
use pyo3::prelude::*;
use pyo3::types::PyString;

pub(crate) use detect::Detection;
use detect::{Certainty, Clue};
pub(crate) use draft::{Draft, DraftPart};
pub(crate) use foreign::{Foreign, refusal};
pub(crate) use moment::timestamp;
pub(crate) use node::{Node, field, spelled, text};

/// Write the parts of a message on the draft. Return its role.
pub(crate) fn read<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>) -> PyResult<Role> {
    match draft.format {
        Format::Anthropic => anthropic::read(draft, message),
        Format::OpenAi => openai::read(draft, message),
        Format::Responses => responses::read(draft, message),
        Format::Gemini => gemini::read(draft, message),
        Format::Bedrock => bedrock::read(draft, message),
        Format::Pi => pi::read(draft, message),
    }
}

/// Formats in the order in which they are asked for a clue: what two of them recognize is the first one's.
const ORDER: [Format; Format::ALL.len()] =
    [Format::Anthropic, Format::Gemini, Format::OpenAi, Format::Pi, Format::Responses, Format::Bedrock];

/// Return the first format that recognizes a clue.
fn recognize(clue: Clue<'_, '_>) -> PyResult<Option<(Format, Certainty)>> {
    for format in ORDER {
        let certainty = match format {
            Format::Anthropic => anthropic::recognize(clue)?,
            Format::OpenAi => openai::recognize(clue)?,
            Format::Responses => responses::recognize(clue)?,
            Format::Gemini => gemini::recognize(clue)?,
            Format::Bedrock => bedrock::recognize(clue)?,
            Format::Pi => pi::recognize(clue)?,
        };
        if let Some(certainty) = certainty {
            return Ok(Some((format, certainty)));
        }
    }
    Ok(None)
}

/// Return the role of a message, of those that most formats share; refuse another one.
fn speaker<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>) -> PyResult<Role> {
    let role = field!(message, "role")?;
    let word = role.as_ref().and_then(|role| role.cast::<PyString>().ok());
    Ok(match spelled(word) {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => {
            let known = draft.format.rules().roles;
            let found = role.as_ref().map_or_else(|| "is missing".to_owned(), |role| format!("is {}", shown(role)));
            draft.refuse("role", format!("{found}; expected {known}"));
            Role::Other
        }
    })
}

/// Return a value in an error: a short text as it is, of anything else only what it is.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    const LONGEST: usize = 40;
    match value.cast::<PyString>() {
        Ok(text) => {
            let text = text.to_string_lossy();
            let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(end, _)| end);
            format!("{:?}{}", &text[..end], if end < text.len() { "…" } else { "" })
        }
        Err(_) => value.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string()),
    }
}
