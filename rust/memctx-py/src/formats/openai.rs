//! Messages of `OpenAI`'s Chat Completions.

use std::sync::Arc;

use memctx_core::messages::{Kind, Part, Role};
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::content::{self, read_typed, sign};
use super::detect::{Certainty, Clue};
use super::draft::Draft;
use super::node::{Node, field, first, has, spelled, text, word, word_in};
use super::{shown, speaker, tool};

/// Return the certainty with which a clue tells messages of Chat Completions.
pub(super) fn recognize(clue: Clue<'_, '_>) -> PyResult<Option<Certainty>> {
    let is_called = |calls: Option<Bound<'_, PyAny>>| calls.is_some_and(|calls| calls.is_truthy().unwrap_or(false));
    Ok(match clue {
        Clue::Role(_, "tool" | "function") => Some(Certainty::Surely),
        Clue::Fields(message, _)
            if is_called(field!(message, "tool_calls")?) || is_called(field!(message, "function_call")?) =>
        {
            Some(Certainty::Surely)
        }
        Clue::Block(_, Some("image_url" | "input_audio")) => Some(Certainty::Maybe),
        _ => None,
    })
}

/// Write the parts of a message on the draft. Return its role.
pub(super) fn read<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>) -> PyResult<Role> {
    let role = text!(message, "role")?;
    let role = spelled(role.as_ref());
    if matches!(role, "tool" | "function") {
        let mut id = word_in(first!(message, "tool_call_id", "toolCallId", "toolUseId", "tool_use_id"))?;
        let name = word_in(first!(message, "name", "toolName"))?;
        if id.is_none()
            && let Some(ids) = field!(message, "tool_call_ids")?
        {
            id = only(&ids)?;
        }
        if role == "function" && id.is_none() {
            // The first kind of calls had no ids, and one call a message.
            id = name.as_deref().map(|name| Part::made_up_id(name, 0));
        }
        if id.is_none() {
            let field = if role == "tool" { "tool_call_id" } else { "name" };
            draft.refuse(field, format!("is missing; a message of role {role:?} needs it to name its call"));
        }
        let said = field!(message, "content")?;
        if said.is_none() && !has!(message, "content")? {
            draft.refuse("content", "is missing");
        }
        tool::result(draft, id, name, said.as_ref())?;
        return Ok(Role::Tool);
    }
    let speaker = speaker(draft, message)?;
    thinking(draft, message)?;
    let before = draft.parts.len();
    content::read(draft, message)?;
    let after = draft.parts.len();
    draft.push_text(Kind::Text, text!(message, "refusal")?)?;
    if let Some(audio) = field!(message, "audio")? {
        draft.push_text(Kind::Text, text!(Node::of(&audio), "transcript")?)?;
    }
    let spoken = draft.parts.len();
    draft.blocks("tool_calls", field!(message, "tool_calls")?.as_ref(), read_call)?;
    if draft.parts.len() > spoken {
        // Frameworks leave the calls of another API in the content, too: results answer those of `tool_calls`.
        for draft_part in draft.parts[before..after].iter_mut().filter(|draft_part| draft_part.part.kind == Kind::Call)
        {
            draft_part.part.kind = Kind::Other;
            draft_part.part.id = None;
        }
    }
    if let Some(call) = field!(message, "function_call")? {
        read_function(draft, Node::of(&call), None)?;
        if let Some(draft_part) = draft.parts.last_mut() {
            draft_part.part.id = draft_part.part.name.as_deref().map(|name| Part::made_up_id(name, 0));
        }
    }
    content::require(draft, message)?;
    Ok(speaker)
}

/// Read the model's reasoning beside the content: Anthropic's own blocks, or else its readable text.
fn thinking<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>) -> PyResult<()> {
    draft.blocks("thinking_blocks", field!(message, "thinking_blocks")?.as_ref(), |draft, block| {
        let node = Node::of(block);
        let kind = text!(node, "type")?;
        read_typed(draft, node, spelled(kind.as_ref()))
    })?;
    if draft.parts.len() > draft.first {
        return Ok(());
    }
    draft.blocks("reasoning_details", field!(message, "reasoning_details")?.as_ref(), |draft, block| {
        let node = Node::of(block);
        let words = word_in(first!(node, "text", "summary"))?.map(|text| draft.write(&text));
        let sealed = first!(node, "signature", "data");
        let is_anthropic = spelled(text!(node, "format")?.as_ref()).starts_with("anthropic");
        let is_bound = is_anthropic || field!(node, "signature")?.is_some();
        let part = sign(draft, Kind::Thinking, words, sealed)?;
        part.is_bound = is_bound && part.is_signed;
        Ok(())
    })?;
    if draft.parts.len() > draft.first {
        return Ok(());
    }
    for thought in [text!(message, "reasoning_content")?, text!(message, "reasoning")?] {
        draft.push_text(Kind::Thinking, thought)?;
    }
    Ok(())
}

/// Return the one id of a list that has one, as SWE-agent writes it.
fn only(ids: &Bound<'_, PyAny>) -> PyResult<Option<Arc<str>>> {
    match ids.cast::<PyList>() {
        Ok(ids) if ids.len() == 1 => word_in(Some(ids.get_item(0)?)),
        _ => Ok(None),
    }
}

fn read_call<'py>(draft: &mut Draft<'py>, call: &Bound<'py, PyAny>) -> PyResult<()> {
    let node = Node::of(call);
    let id = word(text!(node, "id")?)?;
    if id.is_none() {
        let fault = match node {
            Node::Object(object) if !has!(node, "id")? => format!("is missing in {}", shown(object)),
            _ => "is missing".into(),
        };
        draft.refuse("id", format!("{fault}; a tool call needs the id that its result names"));
    }
    read_function(draft, node, id)
}

fn read_function<'py>(draft: &mut Draft<'py>, node: Node<'_, 'py>, id: Option<Arc<str>>) -> PyResult<()> {
    let mut asked = field!(node, "function")?;
    if asked.is_none() {
        asked = field!(node, "custom")?;
    }
    let asked = asked.as_ref().map_or(node, Node::of);
    let question = first!(asked, "arguments", "input", "args");
    tool::call(draft, id, word(text!(asked, "name")?)?, question)?;
    Ok(())
}
