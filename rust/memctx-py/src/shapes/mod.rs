//! Reading messages of every shape straight from the host's objects.
//!
//! One file for each shape, each with one function that writes the pieces of a message on a [`Sheet`]. Nothing is
//! copied that can be pointed at, nothing is priced and no lock is taken: that comes when all messages are read.

mod anthropic;
mod bedrock;
mod content;
mod detect;
mod gemini;
mod json;
mod measure;
mod moment;
mod openai;
mod part;
mod pi;
mod responses;
mod sheet;
mod tool;

use memctx_core::scan::{Role, Shape};
use pyo3::prelude::*;

pub(crate) use detect::detect;
pub(crate) use moment::timestamp;
pub(crate) use part::{Part, field, spelled, text};
pub(crate) use sheet::{Drafted, Sheet};

/// Write the pieces of a message on the sheet; who speaks in it.
pub(crate) fn read<'py>(sheet: &mut Sheet<'py>, message: Part<'_, 'py>) -> PyResult<Role> {
    match sheet.shape {
        Shape::Anthropic => anthropic::read(sheet, message),
        Shape::OpenAi => openai::read(sheet, message),
        Shape::Responses => responses::read(sheet, message),
        Shape::Gemini => gemini::read(sheet, message),
        Shape::Bedrock => bedrock::read(sheet, message),
        Shape::Pi => pi::read(sheet, message),
    }
}

/// Who speaks in a message of a role that most shapes know.
fn speaker(role: &str) -> Role {
    match role {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => Role::Other,
    }
}
