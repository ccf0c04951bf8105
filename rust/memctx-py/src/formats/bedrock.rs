//! Messages of Amazon Bedrock's Converse: a role, and blocks that say what they are by the name of their field.

use memctx_core::messages::{Kind, Role};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::content::{self, Found, block_text, is_label, labeled, price, read_typed, sign};
use super::detect::{Certainty, Clue};
use super::draft::Draft;
use super::measure::Measure;
use super::node::{Node, field, for_each_block, for_each_item, has, spelled, text};
use super::{shown, speaker, tool};

/// Return the certainty with which a clue tells Bedrock's messages: only their blocks say what they are by the name of
/// their one field.
pub(super) fn recognize(clue: Clue<'_, '_>) -> PyResult<Option<Certainty>> {
    let Clue::Block(block, None) = clue else { return Ok(None) };
    let is_one = text!(block, "text")?.is_some()
        || field!(block, "toolUse")?.is_some()
        || field!(block, "toolResult")?.is_some()
        || field!(block, "reasoningContent")?.is_some()
        || field!(block, "cachePoint")?.is_some();
    Ok(is_one.then_some(Certainty::Surely))
}

/// Write the parts of a message on the draft. Return its role.
pub(super) fn read<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>) -> PyResult<Role> {
    let role = speaker(draft, message)?;
    draft.blocks("content", field!(message, "content")?.as_ref(), read_any)?;
    content::require(draft, message)?;
    Ok(role)
}

fn read_any<'py>(draft: &mut Draft<'py>, block: &Bound<'py, PyAny>) -> PyResult<()> {
    if let Ok(text) = block.cast::<PyString>() {
        return draft.push_text(Kind::Text, Some(text.clone()));
    }
    let node = Node::of(block);
    if let Some(kind) = text!(node, "type")? {
        return read_typed(draft, node, spelled(Some(&kind)));
    }
    if let Some(said) = text!(node, "text")? {
        return draft.push_text(Kind::Text, Some(said));
    }
    if tool::wrapped(draft, node)? {
        return Ok(());
    }
    if let Some(thought) = field!(node, "reasoningContent")? {
        return reasoning(draft, Node::of(&thought));
    }
    let mut found = Found::default();
    if media(draft, node, &mut found)? {
        let is_label = found.texts.is_empty();
        let words = draft.joined(if is_label { found.labels } else { found.texts });
        let draft_part = draft.push(Kind::Media, words);
        (draft_part.is_label, draft_part.part.tokens, draft_part.part.mark) = (is_label, found.tokens, found.mark);
        return Ok(());
    }
    for wrapper in [field!(node, "guardContent")?, field!(node, "citationsContent")?].into_iter().flatten() {
        if cited(draft, Node::of(&wrapper))? {
            return Ok(());
        }
    }
    // A mark for the prompt cache is neither sent to the model nor part of what is said.
    if field!(node, "cachePoint")?.is_some() {
        draft.push(Kind::Other, None);
        return Ok(());
    }
    // Converse takes no objects.
    if matches!(node, Node::Object(_)) && !has!(node, "toolUse")? {
        draft.refuse("", format!("is {}; expected a block of Converse's", shown(node.any())));
        return Ok(());
    }
    draft.opaque(node)
}

/// Read the blocks of a result, typed or named by their one field.
pub(super) fn result_texts<'py>(
    draft: &mut Draft<'py>,
    content: Option<&Bound<'py, PyAny>>,
    found: &mut Found<'py>,
) -> PyResult<()> {
    for_each_block(content, |block| {
        let node = Node::of(block);
        if block.is_instance_of::<PyString>() || text!(node, "type")?.is_some() || text!(node, "text")?.is_some() {
            return block_text(draft, block, 0, found);
        }
        if let Some(json) = field!(node, "json")? {
            found.texts.push(draft.json(&json)?);
        } else if !media(draft, node, found)? {
            block_text(draft, block, 0, found)?;
        }
        Ok(())
    })
}

fn reasoning<'py>(draft: &mut Draft<'py>, thought: Node<'_, 'py>) -> PyResult<()> {
    if let Some(readable) = field!(thought, "reasoningText")? {
        let readable = Node::of(&readable);
        let words = text!(readable, "text")?.map(|text| draft.hold(text)).transpose()?;
        let part = sign(draft, Kind::Thinking, words, field!(readable, "signature")?)?;
        part.is_bound = part.is_signed;
        return Ok(());
    }
    let measure = Measure::of(thought.any())?;
    let part = &mut draft.push(Kind::Thinking, None).part;
    (part.is_signed, part.is_bound) = (true, true);
    (part.tokens, part.mark) = (measure.opaque_tokens(), measure.mark());
    Ok(())
}

/// Read an image, a video or a document. Return false if it is none.
fn media<'py>(draft: &mut Draft<'py>, node: Node<'_, 'py>, found: &mut Found<'py>) -> PyResult<bool> {
    let sorts = [
        ("image", field!(node, "image")?),
        ("document", field!(node, "document")?),
        ("video", field!(node, "video")?),
        ("audio", field!(node, "audio")?),
    ];
    let Some((kind, bytes)) = sorts.iter().find_map(|(kind, bytes)| Some((*kind, bytes.as_ref()?))) else {
        return Ok(false);
    };
    let bytes = Node::of(bytes);
    if let Some(source) = field!(bytes, "source")?
        && let Some(text) = text!(Node::of(&source), "text")?
    {
        found.text(draft, Some(text))?;
        return Ok(true);
    }
    let (name, format) = (text!(bytes, "name")?, text!(bytes, "format")?);
    let names = [spelled(name.as_ref()), spelled(format.as_ref())];
    let label = labeled(draft, kind, names.into_iter().find(|name| is_label(name)).unwrap_or_default());
    found.media(label, price(draft.format, kind), Measure::of(bytes.any())?.mark());
    Ok(true)
}

/// Text inside a wrapper, with whatever the wrapper says about it; false if there is none.
fn cited<'py>(draft: &mut Draft<'py>, wrapper: Node<'_, 'py>) -> PyResult<bool> {
    let mut found = Found::default();
    if let Some(guarded) = field!(wrapper, "text")? {
        found.text(draft, text!(Node::of(&guarded), "text")?)?;
    }
    if let Some(content) = field!(wrapper, "content")? {
        for_each_item(&content, |block| found.text(draft, text!(Node::of(block), "text")?))?;
    }
    let Some(words) = draft.joined(found.texts) else { return Ok(false) };
    draft.push(Kind::Text, Some(words));
    Ok(true)
}
