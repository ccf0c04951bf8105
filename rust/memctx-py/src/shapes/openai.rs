//! Messages of `OpenAI`'s Chat Completions.

use memctx_core::scan::{Kind, Piece, Role};
use pyo3::prelude::*;

use super::part::{Part, field, for_each_item, spelled, text, word};
use super::sheet::Sheet;
use super::{content, speaker, tool};

/// Write the pieces of a message on the sheet; who speaks in it.
pub(super) fn read<'py>(sheet: &mut Sheet<'py>, message: Part<'_, 'py>) -> PyResult<Role> {
    let role = text!(message, "role")?;
    let role = spelled(role.as_ref());
    let said = field!(message, "content")?;
    if matches!(role, "tool" | "function") {
        let (mut id, name) = (word(text!(message, "tool_call_id")?)?, word(text!(message, "name")?)?);
        if role == "function" && id.is_none() {
            // The first kind of calls had no ids, and one call a message.
            id = name.as_deref().map(|name| Piece::made_up_id(name, 0));
        }
        tool::result(sheet, id, name, said.as_ref())?;
        return Ok(Role::Tool);
    }
    for thought in [text!(message, "reasoning_content")?, text!(message, "reasoning")?] {
        sheet.push_text(Kind::Thinking, thought)?;
    }
    content::read(sheet, said.as_ref())?;
    sheet.push_text(Kind::Text, text!(message, "refusal")?)?;
    if let Some(audio) = field!(message, "audio")? {
        sheet.push_text(Kind::Text, text!(Part::of(&audio), "transcript")?)?;
    }
    if let Some(calls) = field!(message, "tool_calls")? {
        for_each_item(&calls, |call| read_call(sheet, call))?;
    }
    if let Some(call) = field!(message, "function_call")? {
        read_call(sheet, &call)?;
        if let Some(drafted) = sheet.pieces.last_mut() {
            drafted.piece.id = drafted.piece.name.as_deref().map(|name| Piece::made_up_id(name, 0));
        }
    }
    Ok(speaker(role))
}

fn read_call<'py>(sheet: &mut Sheet<'py>, call: &Bound<'py, PyAny>) -> PyResult<()> {
    let part = Part::of(call);
    let mut asked = field!(part, "function")?;
    if asked.is_none() {
        asked = field!(part, "custom")?;
    }
    let asked = asked.as_ref().map_or(part, Part::of);
    let mut question = field!(asked, "arguments")?;
    if question.is_none() {
        question = field!(asked, "input")?;
    }
    tool::call(sheet, word(text!(part, "id")?)?, word(text!(asked, "name")?)?, question)?;
    Ok(())
}
