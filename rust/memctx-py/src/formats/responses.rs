//! Items of `OpenAI`'s Responses API.

use std::sync::Arc;

use memctx_core::messages::{Kind, Role};
use pyo3::intern;
use pyo3::prelude::*;

use super::content::{Found, texts};
use super::detect::{Certainty, Clue};
use super::draft::Draft;
use super::measure::Measure;
use super::node::{Node, field, spelled, text, word};
use super::{content, speaker, tool};

/// Return the certainty with which a clue tells items of the Responses API.
pub(super) fn recognize(clue: Clue<'_, '_>) -> PyResult<Option<Certainty>> {
    let is_one = match clue {
        Clue::Item(_, Some("reasoning" | "item_reference")) => true,
        Clue::Item(item, Some("compaction")) => field!(item, "encrypted_content")?.is_some(),
        Clue::Item(_, Some(kind)) => kind.ends_with("_call") || kind.ends_with("_call_output"),
        Clue::Block(_, Some(kind)) => matches!(kind, "input_text" | "output_text" | "input_image" | "input_file"),
        _ => false,
    };
    Ok(is_one.then_some(Certainty::Surely))
}

/// Write the parts of an item on the draft. Return its role.
pub(super) fn read<'py>(draft: &mut Draft<'py>, item: Node<'_, 'py>) -> PyResult<Role> {
    let kind = text!(item, "type")?;
    draft.is_aborted = spelled(text!(item, "status")?.as_ref()) == "incomplete";
    match spelled(kind.as_ref()) {
        "" | "message" => {
            let role = speaker(draft, item)?;
            content::read(draft, item)?;
            content::require(draft, item)?;
            Ok(role)
        }
        "reasoning" => reasoning(draft, item),
        "compaction" | "compaction_summary" => {
            let measure = Measure::of(item.any())?;
            let part = &mut draft.push(Kind::Compaction, None).part;
            (part.tokens, part.mark) = (measure.opaque_tokens(), measure.mark());
            Ok(Role::Other)
        }
        // The server has the item; that it is reasoning is identified by how ids of that sort begin.
        "item_reference" if spelled(text!(item, "id")?.as_ref()).starts_with("rs_") => {
            let mark = Measure::of(item.any())?.mark();
            let part = &mut draft.push(Kind::Thinking, None).part;
            (part.is_signed, part.mark) = (true, mark);
            Ok(Role::Assistant)
        }
        kind if kind.ends_with("_call") => call(draft, item, kind),
        kind if kind.ends_with("_call_output") || kind == "tool_search_output" => {
            let id = id(item)?;
            if id.is_none() && kind != "tool_search_output" {
                draft.refuse("call_id", "is missing; an output needs the id of its call");
            }
            answer(draft, item, id)?;
            Ok(Role::Tool)
        }
        // Items have no such types; messages of other libraries do.
        "human" | "ai" | "user" | "assistant" | "system" | "developer" | "tool" | "function" | "chat" => {
            speaker(draft, item)
        }
        _ => {
            draft.opaque(item)?;
            Ok(Role::Other)
        }
    }
}

/// Return whether the host answers calls of that type, and how is known.
fn is_clients(kind: &str) -> bool {
    let kind = kind.strip_suffix("_call").unwrap_or(kind);
    matches!(kind, "function" | "custom_tool" | "computer" | "shell" | "local_shell" | "apply_patch" | "tool_search")
}

fn id(item: Node<'_, '_>) -> PyResult<Option<Arc<str>>> {
    match word(text!(item, "call_id")?)? {
        None => word(text!(item, "id")?),
        id => Ok(id),
    }
}

/// Read a call of a tool. A call that the provider runs itself has no id, and contains its output.
fn call<'py>(draft: &mut Draft<'py>, item: Node<'_, 'py>, kind: &str) -> PyResult<Role> {
    let is_named = matches!(kind, "function_call" | "custom_tool_call");
    let is_client = is_named || text!(item, "call_id")?.is_some();
    let name = word(text!(item, "name")?)?.unwrap_or_else(|| kind.strip_suffix("_call").unwrap_or(kind).into());
    let id = id(item)?;
    let question = question(item)?;
    if is_named && id.is_none() {
        draft.refuse("call_id", "is missing; a call needs the id that its output names");
    }
    let part = tool::call(draft, id.clone(), Some(name), question)?;
    (part.is_server, part.is_opaque) = (!is_client, is_client && !is_clients(kind));
    let has_output = field!(item, "output")?.is_some() || field!(item, "outputs")?.is_some();
    if has_output || field!(item, "error")?.is_some() {
        answer(draft, item, id)?;
        if let Some(draft_part) = draft.parts.last_mut() {
            draft_part.part.is_server = true;
        }
    }
    Ok(Role::Assistant)
}

/// Return the arguments of a call, from any of their fields.
fn question<'py>(item: Node<'_, 'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = item.py();
    let indices = [
        intern!(py, "arguments"),
        intern!(py, "input"),
        intern!(py, "action"),
        intern!(py, "operation"),
        intern!(py, "code"),
        intern!(py, "queries"),
    ];
    for name in indices {
        if let Some(question) = item.get(name)?.filter(|question| question.is_truthy().unwrap_or(true)) {
            return Ok(Some(question));
        }
    }
    Ok(None)
}

fn answer<'py>(draft: &mut Draft<'py>, item: Node<'_, 'py>, id: Option<Arc<str>>) -> PyResult<()> {
    let mut found = Found::default();
    for output in [field!(item, "output")?, field!(item, "outputs")?] {
        if found.texts.is_empty() && found.labels.is_empty() {
            texts(draft, output.as_ref(), 0, &mut found)?;
        }
    }
    let error = field!(item, "error")?.filter(|error| error.is_truthy().unwrap_or(true));
    if let Some(error) = &error
        && found.texts.is_empty()
    {
        found.texts.extend(draft.asked(Some(error.clone()))?);
    }
    let is_failed = spelled(text!(item, "status")?.as_ref()) == "failed";
    tool::answer(draft, id, None, found).is_error = is_failed || error.is_some();
    Ok(())
}

/// Reasoning: what may be read of it, and the rest encrypted.
fn reasoning<'py>(draft: &mut Draft<'py>, item: Node<'_, 'py>) -> PyResult<Role> {
    let mut found = Found::default();
    for thought in [field!(item, "summary")?, field!(item, "content")?].into_iter().flatten() {
        super::node::for_each_block(Some(&thought), |block| found.text(draft, text!(Node::of(block), "text")?))?;
    }
    let mut measure = Measure::new();
    if let Some(sealed) = field!(item, "encrypted_content")? {
        measure.add(&sealed)?;
    }
    let (is_signed, tokens) = (measure.length > 0, measure.opaque_tokens());
    if let Some(id) = field!(item, "id")? {
        measure.add(&id)?;
    }
    let words = draft.joined(found.texts);
    let part = &mut draft.push(Kind::Thinking, words).part;
    (part.is_signed, part.tokens, part.mark) = (is_signed, tokens, measure.mark());
    Ok(Role::Assistant)
}
