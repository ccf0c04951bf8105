//! Calls and results, as every format puts them on the draft, in whichever of the hosts' spellings they come.

use std::sync::Arc;

use memctx_core::messages::{Kind, Layout, Part};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

use super::content::{Found, texts};
use super::draft::Draft;
use super::measure::Measure;
use super::node::{Node, field, first, is_true, spelled, text, word_in};
use super::{bedrock, gemini, shown};

/// Fields with a call or a result, one of which a block may have.
const FIELDS: [&str; 9] = [
    "functionCall",
    "functionResponse",
    "toolUse",
    "toolResult",
    "function_call",
    "function_response",
    "toolCall",
    "tool_use",
    "tool_result",
];

/// Return whether a block of that type is a call.
pub(crate) fn is_call(kind: &str) -> bool {
    matches!(kind, "tool_use" | "toolUse" | "toolCall" | "tool_call" | "functionCall" | "function_call")
}

/// Return whether a block of that type is a result.
pub(crate) fn is_result(kind: &str) -> bool {
    matches!(kind, "tool_result" | "toolResult" | "functionResponse" | "function_response")
}

/// Read a block that says what it is by the name of its one field, if that is a call or a result.
pub(crate) fn wrapped<'py>(draft: &mut Draft<'py>, node: Node<'_, 'py>) -> PyResult<bool> {
    // Objects of SDKs have few of these names, and asking them for others takes long.
    let is_object = matches!(node, Node::Object(_));
    let names = if is_object { draft.format.rules().object_fields } else { &FIELDS };
    for name in names {
        if let Some(held) = node.get(&PyString::intern(node.py(), name))? {
            let held = Node::of(&held);
            if is_call(name) {
                read_call(draft, held, node, name)?;
            } else {
                read_result(draft, held, name)?;
            }
            return Ok(true);
        }
    }
    Ok(false)
}

/// Read a block of such a type, which may hold the call or the result in a field of that name.
pub(crate) fn read_typed<'py>(draft: &mut Draft<'py>, node: Node<'_, 'py>, kind: &str) -> PyResult<()> {
    let is_plain = matches!(kind, "tool_use" | "tool_result");
    let held = if is_plain { None } else { node.get(&PyString::intern(node.py(), kind))? };
    let body = held.as_ref().map_or(node, Node::of);
    if is_call(kind) { read_call(draft, body, node, kind) } else { read_result(draft, body, kind) }
}

/// Read a call, whose arguments are its `input`, `arguments` or `args`. A signature may stand beside it in its holder.
///
/// The host's own name of a field is looked up first, then those of other hosts.
fn read_call<'py>(draft: &mut Draft<'py>, node: Node<'_, 'py>, holder: Node<'_, 'py>, kind: &str) -> PyResult<()> {
    let is_function = matches!(kind, "functionCall" | "function_call");
    let (mut id, mut question) = match kind {
        "toolUse" => (field!(node, "toolUseId")?, field!(node, "input")?),
        "tool_use" => (field!(node, "id")?, field!(node, "input")?),
        _ if is_function => (field!(node, "id")?, field!(node, "args")?),
        _ => (field!(node, "id")?, field!(node, "arguments")?),
    };
    if id.is_none() && !(is_function && draft.format.rules().has_optional_ids) {
        id = first!(node, "id", "toolUseId", "toolCallId", "tool_use_id", "tool_call_id", "call_id");
    }
    if question.is_none() {
        question = first!(node, "input", "arguments", "args");
    }
    let mut name = field!(node, "name")?;
    if name.is_none() {
        name = field!(node, "toolName")?;
    }
    let name = word_in(name)?;
    let id = given_or_made_up(draft, word_in(id)?, name.as_deref());
    if id.is_none() {
        draft.refuse("id", "is missing; a tool call needs the id that its result names");
    }
    let is_server = kind == "toolUse" && spelled(text!(node, "type")?.as_ref()) == "server_tool_use";
    let signature =
        if draft.format.rules().signs_calls { first!(holder, "thoughtSignature", "thought_signature") } else { None };
    let mark = signature.map(|signature| Measure::of(&signature)).transpose()?;
    let part = call(draft, id, name, question)?;
    part.is_server = is_server;
    (part.is_signed, part.mark) = (mark.is_some(), mark.map_or(0, |mark| mark.mark()));
    Ok(())
}

/// Return the id of a call. Where ids are optional and it has none, it gets one from its name and from how many calls of that name
/// stand before it.
fn given_or_made_up(draft: &Draft<'_>, id: Option<Arc<str>>, name: Option<&str>) -> Option<Arc<str>> {
    if id.is_some() || !draft.format.rules().has_optional_ids {
        return id;
    }
    let before = draft.parts[draft.first..].iter().map(|draft_part| &draft_part.part);
    let calls = before.filter(|part| part.is_call() && part.own_id().is_none());
    let count = calls.filter(|part| part.name.as_deref() == name).count();
    name.map(|name| Part::made_up_id(name, count))
}

/// Read a result, whose text is in its `content`, `output`, `result` or, as Gemini has it, `response`.
///
/// In formats whose results are messages, a result that is a block of a message is kept as it is.
fn read_result<'py>(draft: &mut Draft<'py>, node: Node<'_, 'py>, kind: &str) -> PyResult<()> {
    let is_function = matches!(kind, "functionResponse" | "function_response");
    let (mut id, name, response) = match kind {
        "tool_result" => (field!(node, "tool_use_id")?, None, None),
        "toolResult" => (field!(node, "toolUseId")?, None, None),
        _ => (field!(node, "id")?, field!(node, "name")?, field!(node, "response")?),
    };
    if id.is_none() && !(is_function && draft.format.rules().has_optional_ids) {
        id = first!(node, "tool_use_id", "toolUseId", "toolCallId", "tool_call_id", "call_id", "id");
    }
    let (id, name) = (word_in(id)?, word_in(name)?);
    if id.is_none() && (!draft.format.rules().has_optional_ids || name.is_none()) {
        draft.refuse("tool_use_id", "is missing; a tool result needs the id of its call");
    }
    let mut found = Found::default();
    let mut is_error = match kind {
        "tool_result" => is_true(field!(node, "is_error")?.as_ref()),
        "toolResult" => {
            spelled(text!(node, "status")?.as_ref()) == "error" || is_true(field!(node, "isError")?.as_ref())
        }
        _ => false,
    };
    if let Some(response) = response {
        is_error |= gemini::response(draft, response, &mut found)?;
        gemini::pictures(draft, node, &mut found)?;
    } else {
        let content = first!(node, "content", "output", "result");
        checked(draft, "content", content.as_ref());
        bedrock::result_texts(draft, content.as_ref(), &mut found)?;
    }
    let is_server = kind == "toolResult" && spelled(text!(node, "type")?.as_ref()).ends_with("_tool_result");
    let is_apart = draft.format.rules().layout != Layout::Blocks;
    let part = answer(draft, id, name, found);
    (part.is_error, part.is_server, part.is_opaque) = (is_error, is_server || is_apart, is_apart);
    Ok(())
}

/// Refuse a result that can have no text.
fn checked<'py>(draft: &mut Draft<'py>, field: &str, content: Option<&Bound<'py, PyAny>>) {
    let is_number = |content: &&Bound<'py, PyAny>| {
        content.is_instance_of::<PyInt>() || content.is_instance_of::<PyFloat>() || content.is_instance_of::<PyBool>()
    };
    if let Some(content) = content.filter(is_number) {
        draft.refuse(field, format!("is {}; expected text or blocks", shown(content)));
    }
}

/// Put a call on the draft.
pub(crate) fn call<'a, 'py>(
    draft: &'a mut Draft<'py>,
    id: Option<Arc<str>>,
    name: Option<Arc<str>>,
    question: Option<Bound<'py, PyAny>>,
) -> PyResult<&'a mut Part> {
    let words = draft.asked(question)?;
    let part = &mut draft.push(Kind::Call, words).part;
    (part.id, part.name) = (id, name);
    Ok(part)
}

/// Put a result on the draft that says what its blocks say.
pub(crate) fn result<'a, 'py>(
    draft: &'a mut Draft<'py>,
    id: Option<Arc<str>>,
    name: Option<Arc<str>>,
    content: Option<&Bound<'py, PyAny>>,
) -> PyResult<&'a mut Part> {
    let mut found = Found::default();
    checked(draft, "content", content);
    texts(draft, content, 0, &mut found)?;
    Ok(answer(draft, id, name, found))
}

/// Put a result on the draft.
pub(crate) fn answer<'a, 'py>(
    draft: &'a mut Draft<'py>,
    id: Option<Arc<str>>,
    name: Option<Arc<str>>,
    found: Found<'py>,
) -> &'a mut Part {
    let words = draft.joined(found.texts);
    let media = draft.joined(found.labels).map(|labels| Arc::from(draft.spelled(&labels)));
    let part = &mut draft.push(Kind::Result, words).part;
    part.has_media = media.is_some();
    (part.id, part.name, part.media) = (id, name, media);
    (part.tokens, part.mark) = (found.tokens, found.mark);
    part
}
