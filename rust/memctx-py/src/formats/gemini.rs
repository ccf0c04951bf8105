//! Gemini's contents: a role, and parts that say what they are by the name of a field.

use memctx_core::messages::{Kind, Role};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use super::content::{self, Found, is_label, labeled, price, read_typed, sign};
use super::detect::{Certainty, Clue};
use super::draft::Draft;
use super::json::plain;
use super::measure::Measure;
use super::node::{Node, field, for_each_block, has, is_true, spelled, text};
use super::{shown, speaker, tool};

/// A field that JSON writes in camel case and the SDK's objects in snake case.
macro_rules! either {
    ($node:expr, $camel:literal, $snake:literal) => {
        match field!($node, $camel)? {
            None => field!($node, $snake)?,
            found => found,
        }
    };
}

/// Return the certainty with which a clue tells Gemini's contents.
pub(super) fn recognize(clue: Clue<'_, '_>) -> PyResult<Option<Certainty>> {
    let is_one = match clue {
        Clue::Role(_, "model") => true,
        Clue::Role(message, "tool" | "function") => has!(message, "parts")?,
        Clue::Fields(message, false) | Clue::Item(message, None) => field!(message, "parts")?.is_some(),
        _ => false,
    };
    Ok(is_one.then_some(Certainty::Surely))
}

/// Write the parts of a content on the draft. Return its role.
pub(super) fn read<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>) -> PyResult<Role> {
    let parts = field!(message, "parts")?;
    if let Some(parts) = &parts {
        draft.blocks("parts", Some(parts), read_part)?;
    } else {
        content::read(draft, message)?;
        if draft.parts.len() == draft.first && !has!(message, "parts")? && !has!(message, "content")? {
            draft.refuse("parts", "is missing");
        }
    }
    Ok(match spelled(text!(message, "role")?.as_ref()) {
        // A content is the user's where it does not say whose it is, though objects of the SDK could.
        "" if is_list(parts.as_ref()) && (!matches!(message, Node::Object(_)) || has!(message, "role")?) => Role::User,
        "model" => Role::Assistant,
        "function" | "tool" => Role::Tool,
        _ => speaker(draft, message)?,
    })
}

fn is_list(parts: Option<&Bound<'_, PyAny>>) -> bool {
    parts.is_some_and(|parts| parts.is_instance_of::<PyList>() || parts.is_instance_of::<PyTuple>())
}

fn read_part<'py>(draft: &mut Draft<'py>, block: &Bound<'py, PyAny>) -> PyResult<()> {
    if let Ok(text) = block.cast::<PyString>() {
        return draft.push_text(Kind::Text, Some(text.clone()));
    }
    let node = Node::of(block);
    let signature = either!(node, "thoughtSignature", "thought_signature");
    if let Some(said) = text!(node, "text")? {
        let words = draft.hold(said)?;
        let kind = if is_true(field!(node, "thought")?.as_ref()) { Kind::Thinking } else { Kind::Text };
        sign(draft, kind, Some(words), signature)?;
        return Ok(());
    }
    if tool::wrapped(draft, node)? {
        return Ok(());
    }
    if let Some(bytes) = bytes_of(node)? {
        let mut found = Found::default();
        media(draft, &bytes, &mut found)?;
        let label = draft.joined(found.labels);
        let draft_part = draft.push(Kind::Media, label);
        (draft_part.is_label, draft_part.part.tokens, draft_part.part.mark) = (true, found.tokens, found.mark);
        return Ok(());
    }
    if let Some(code) = either!(node, "executableCode", "executable_code") {
        let code = field!(Node::of(&code), "code")?;
        tool::call(draft, None, Some("code_execution".into()), code)?.is_server = true;
        return Ok(());
    }
    if let Some(outcome) = either!(node, "codeExecutionResult", "code_execution_result") {
        let output = field!(Node::of(&outcome), "output")?;
        tool::result(draft, None, Some("code_execution".into()), output.as_ref())?.is_server = true;
        return Ok(());
    }
    unknown(draft, node)
}

/// Read a part without any known field: a call, a result or thinking by its type, something new, or no part at all.
fn unknown<'py>(draft: &mut Draft<'py>, node: Node<'_, 'py>) -> PyResult<()> {
    let kind = text!(node, "type")?;
    let kind = spelled(kind.as_ref());
    if tool::is_call(kind) || tool::is_result(kind) || matches!(kind, "thinking" | "redacted_thinking") {
        return read_typed(draft, node, kind);
    }
    let is_part = match node {
        Node::Object(_) => has!(node, "function_call")? || has!(node, "functionCall")?,
        _ => !has!(node, "type")? && !has!(node, "kind")? && !has!(node, "part_kind")? && !has!(node, "block_type")?,
    };
    if is_part {
        return draft.opaque(node);
    }
    draft.refuse("", format!("is {}; expected a part of Gemini's", shown(node.any())));
    Ok(())
}

/// Read a response: the text of its only field, or all of it as JSON. Return true if it is an error.
pub(super) fn response<'py>(
    draft: &mut Draft<'py>,
    response: Bound<'py, PyAny>,
    found: &mut Found<'py>,
) -> PyResult<bool> {
    let response = if response.is_instance_of::<PyDict>() { response } else { plain(&response).unwrap_or(response) };
    let is_error = field!(Node::of(&response), "error")?.is_some();
    match only_text(&response)? {
        Some(text) => found.text(draft, Some(text))?,
        None => found.texts.extend(draft.asked(Some(response))?),
    }
    Ok(is_error)
}

/// Read the images and files of a response.
pub(super) fn pictures<'py>(draft: &mut Draft<'py>, answer: Node<'_, 'py>, found: &mut Found<'py>) -> PyResult<()> {
    for_each_block(field!(answer, "parts")?.as_ref(), |block| {
        bytes_of(Node::of(block))?.map_or(Ok(()), |bytes| media(draft, &bytes, found))
    })
}

/// Return the text of a response that has one field, named as the guides name it.
fn only_text<'py>(response: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyString>>> {
    if response.cast::<PyDict>().map_or(0, PyDictMethods::len) != 1 {
        return Ok(None);
    }
    let (py, response) = (response.py(), Node::of(response));
    for name in [intern!(py, "output"), intern!(py, "result"), intern!(py, "error"), intern!(py, "content")] {
        if let Some(text) = response.text(name)? {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// Return the field of a part that holds bytes, or the address of a file.
fn bytes_of<'py>(node: Node<'_, 'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(match either!(node, "inlineData", "inline_data") {
        None => either!(node, "fileData", "file_data"),
        found => found,
    })
}

/// Add the placeholder and the cost of media.
fn media<'py>(draft: &mut Draft<'py>, bytes: &Bound<'py, PyAny>, found: &mut Found<'py>) -> PyResult<()> {
    let node = Node::of(bytes);
    let mime = either!(node, "mimeType", "mime_type");
    let mime = mime.as_ref().and_then(|mime| mime.cast::<PyString>().ok());
    let mime = spelled(mime);
    let kind = match mime.split('/').next().unwrap_or_default() {
        kind @ ("image" | "audio" | "video") => kind,
        _ => "file",
    };
    let uri = either!(node, "fileUri", "file_uri");
    let names = [either!(node, "displayName", "display_name"), uri.clone()];
    let names = names.iter().flatten().filter_map(|name| name.cast::<PyString>().ok()).map(|name| spelled(Some(name)));
    let label = names.chain([mime]).find(|name| is_label(name)).unwrap_or_default();
    let label = labeled(draft, kind, label);
    // What an object of the SDK has beside these fields says nothing of the bytes.
    let content = field!(node, "data")?.or(uri);
    let mark = content.map(|content| Measure::of(&content)).transpose()?.map_or(0, |measure| measure.mark());
    found.media(label, price(draft.format, kind), mark);
    Ok(())
}
