//! Messages of Pi and `OpenClaw`, and the lines of their session files that reach the model.

use memctx_core::messages::{Kind, Role};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::content::{self, Found};
use super::detect::{Certainty, Clue};
use super::draft::Draft;
use super::node::{Node, field, first, has, is_true, spelled, text, word, word_in};
use super::{speaker, tool};

/// Return the certainty with which a clue tells Pi's messages, or the lines of its session files.
pub(super) fn recognize(clue: Clue<'_, '_>) -> PyResult<Option<Certainty>> {
    let is_one = match clue {
        Clue::Role(_, "toolResult" | "bashExecution" | "branchSummary" | "compactionSummary") => true,
        Clue::Role(message, "custom") => text!(message, "customType")?.is_some(),
        Clue::Fields(message, _) => text!(message, "stopReason")?.is_some(),
        Clue::Item(line, Some(kind)) => {
            text!(line, "summary")?.is_some()
                || text!(line, "customType")?.is_some()
                || matches!(kind, "session" | "model_change" | "thinking_level_change")
        }
        Clue::Block(block, Some(kind)) => {
            let may_be_one = match kind {
                "toolCall" | "toolUse" | "functionCall" => true,
                "thinking" => field!(block, "thinkingSignature")?.is_some(),
                "image" => text!(block, "mimeType")?.is_some(),
                _ => false,
            };
            return Ok(may_be_one.then_some(Certainty::Maybe));
        }
        _ => false,
    };
    Ok(is_one.then_some(Certainty::Surely))
}

/// Write the parts of a message on the draft. Return its role.
///
/// A command that the user ran is a tool's result that no call asked for. Summaries, and what an extension put in,
/// reach the model as the user's.
pub(super) fn read<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>) -> PyResult<Role> {
    let role = text!(message, "role")?;
    let is_line = role.is_none() && !has!(message, "role")?;
    let kind = if is_line { text!(message, "type")? } else { role };
    match spelled(kind.as_ref()) {
        "toolResult" | "tool" if !is_line => {
            let id = word_in(first!(message, "toolCallId", "toolUseId", "tool_call_id", "tool_use_id"))?;
            let name = word_in(first!(message, "toolName", "name"))?;
            if id.is_none() {
                draft.refuse("toolCallId", "is missing; a tool result needs the id of its call");
            }
            let said = field!(message, "content")?;
            if said.is_none() && !has!(message, "content")? {
                draft.refuse("content", "is missing");
            }
            let part = tool::result(draft, id, name, said.as_ref())?;
            part.is_error = is_true(first!(message, "isError", "is_error").as_ref());
            Ok(Role::Tool)
        }
        "bashExecution" => command(draft, message),
        "branchSummary" | "branch_summary" => summary(draft, message, "branchSummary"),
        "compactionSummary" | "compaction" => summary(draft, message, "compactionSummary"),
        "custom" | "custom_message" => custom(draft, message),
        // Other lines of a session file are kept and say nothing.
        kind if is_line && is_line_type(message, kind)? => Ok(Role::Other),
        _ => {
            let role = speaker(draft, message)?;
            draft.is_aborted = matches!(spelled(text!(message, "stopReason")?.as_ref()), "error" | "aborted");
            content::read(draft, message)?;
            content::require(draft, message)?;
            Ok(role)
        }
    }
}

/// Return whether it is a line of a session file that is no message: of a type that is known, or of a new one.
fn is_line_type(message: Node<'_, '_>, kind: &str) -> PyResult<bool> {
    let is_known = matches!(kind, "session" | "model_change" | "thinking_level_change" | "label" | "session_info");
    let is_new = !kind.is_empty() && kind != "message" && has!(message, "timestamp")? && has!(message, "id")?;
    Ok(is_known || (is_new && !has!(message, "content")?))
}

/// Read a command the user ran and its output; nothing if the user kept it from the model.
fn command<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>) -> PyResult<Role> {
    if is_true(field!(message, "excludeFromContext")?.as_ref()) {
        return Ok(Role::Other);
    }
    let (command, output) = (text!(message, "command")?, text!(message, "output")?);
    let text = format!("$ {}\n{}", readable(command.as_ref())?, readable(output.as_ref())?);
    let words = draft.write(text.trim());
    let code = field!(message, "exitCode")?;
    let failed = code.map(|code| code.ne(0)).transpose()?.unwrap_or(false);
    let is_error = failed || is_true(field!(message, "cancelled")?.as_ref());
    let part = tool::answer(draft, None, Some("bash".into()), Found { texts: vec![words], ..Found::default() });
    (part.is_server, part.is_error) = (true, is_error);
    Ok(Role::Tool)
}

fn readable(text: Option<&Bound<'_, PyString>>) -> PyResult<String> {
    text.map_or(Ok(String::new()), |text| Ok(crate::boundary::text_of(text)?.into_owned()))
}

fn summary<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>, name: &str) -> PyResult<Role> {
    let words = text!(message, "summary")?.map(|text| draft.hold(text)).transpose()?;
    draft.push(Kind::Compaction, words).part.name = Some(name.into());
    Ok(Role::User)
}

/// Read a message of a host extension.
fn custom<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>) -> PyResult<Role> {
    let first = draft.parts.len();
    content::read(draft, message)?;
    let Some(name) = word(text!(message, "customType")?)? else { return Ok(Role::Other) };
    for draft_part in &mut draft.parts[first..] {
        if matches!(draft_part.part.kind, Kind::Text | Kind::Media) {
            draft_part.part.name = Some(name.clone());
        }
    }
    Ok(Role::User)
}
