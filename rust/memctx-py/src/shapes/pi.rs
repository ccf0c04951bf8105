//! Messages of Pi and `OpenClaw`, and the lines of their session files that reach the model.

use memctx_core::scan::{Kind, Role};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::content::{Found, read_typed};
use super::measure::Measure;
use super::part::{Part, field, for_each_block, is_true, spelled, text, word};
use super::sheet::Sheet;
use super::{content, speaker, tool};

/// Write the pieces of a message on the sheet; who speaks in it.
///
/// A command that the user ran is a tool's result that no call asked for. Summaries, and what an extension put in,
/// reach the model as the user's.
pub(super) fn read<'py>(sheet: &mut Sheet<'py>, message: Part<'_, 'py>) -> PyResult<Role> {
    let mut kind = text!(message, "role")?;
    if kind.is_none() {
        kind = text!(message, "type")?;
    }
    let kind = spelled(kind.as_ref());
    match kind {
        "user" | "assistant" | "system" => {
            sheet.is_aborted = matches!(spelled(text!(message, "stopReason")?.as_ref()), "error" | "aborted");
            for_each_block(field!(message, "content")?.as_ref(), |block| read_any(sheet, block))?;
            Ok(speaker(kind))
        }
        "toolResult" => {
            let (id, name) = (word(text!(message, "toolCallId")?)?, word(text!(message, "toolName")?)?);
            let piece = tool::result(sheet, id, name, field!(message, "content")?.as_ref())?;
            piece.is_error = is_true(field!(message, "isError")?.as_ref());
            Ok(Role::Tool)
        }
        "bashExecution" => command(sheet, message),
        "branchSummary" | "branch_summary" => summary(sheet, message, "branchSummary"),
        "compactionSummary" | "compaction" => summary(sheet, message, "compactionSummary"),
        "custom" | "custom_message" => custom(sheet, message),
        _ => {
            content::read(sheet, field!(message, "content")?.as_ref())?;
            Ok(Role::Other)
        }
    }
}

fn read_any<'py>(sheet: &mut Sheet<'py>, block: &Bound<'py, PyAny>) -> PyResult<()> {
    if let Ok(text) = block.cast::<PyString>() {
        return sheet.push_text(Kind::Text, Some(text.clone()));
    }
    let part = Part::of(block);
    let kind = text!(part, "type")?;
    if spelled(kind.as_ref()) != "toolCall" {
        return read_typed(sheet, part, spelled(kind.as_ref()));
    }
    let signature = field!(part, "thoughtSignature")?.map(|signature| Measure::of(&signature)).transpose()?;
    let (id, name) = (word(text!(part, "id")?)?, word(text!(part, "name")?)?);
    let piece = tool::call(sheet, id, name, field!(part, "arguments")?)?;
    (piece.is_signed, piece.mark) = (signature.is_some(), signature.map_or(0, |signature| signature.mark()));
    Ok(())
}

/// A command the user ran and what it printed; nothing if the user kept it from the model.
fn command<'py>(sheet: &mut Sheet<'py>, message: Part<'_, 'py>) -> PyResult<Role> {
    if is_true(field!(message, "excludeFromContext")?.as_ref()) {
        return Ok(Role::Other);
    }
    let (command, output) = (text!(message, "command")?, text!(message, "output")?);
    let text = format!("$ {}\n{}", readable(command.as_ref())?, readable(output.as_ref())?);
    let words = sheet.write(text.trim());
    let code = field!(message, "exitCode")?;
    let failed = code.map(|code| code.ne(0)).transpose()?.unwrap_or(false);
    let is_error = failed || is_true(field!(message, "cancelled")?.as_ref());
    let piece = tool::answer(sheet, None, Some("bash".into()), Found { texts: vec![words], ..Found::default() });
    (piece.is_server, piece.is_error) = (true, is_error);
    Ok(Role::Tool)
}

fn readable(text: Option<&Bound<'_, PyString>>) -> PyResult<String> {
    text.map_or(Ok(String::new()), |text| Ok(crate::boundary::text_of(text)?.into_owned()))
}

fn summary<'py>(sheet: &mut Sheet<'py>, message: Part<'_, 'py>, name: &str) -> PyResult<Role> {
    let words = text!(message, "summary")?.map(|text| sheet.hold(text)).transpose()?;
    sheet.push(Kind::Compaction, words).piece.name = Some(name.into());
    Ok(Role::User)
}

/// What an extension of the host says.
fn custom<'py>(sheet: &mut Sheet<'py>, message: Part<'_, 'py>) -> PyResult<Role> {
    let first = sheet.pieces.len();
    content::read(sheet, field!(message, "content")?.as_ref())?;
    let Some(name) = word(text!(message, "customType")?)? else { return Ok(Role::Other) };
    for drafted in &mut sheet.pieces[first..] {
        if matches!(drafted.piece.kind, Kind::Text | Kind::Media) {
            drafted.piece.name = Some(name.clone());
        }
    }
    Ok(Role::User)
}
