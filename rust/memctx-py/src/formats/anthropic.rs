//! Messages of Anthropic's Messages API: a role, and text or blocks.

use memctx_core::messages::{Kind, Role};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::content::{self, Found, read_typed, read_untyped, texts};
use super::detect::{Certainty, Clue};
use super::draft::Draft;
use super::measure::Measure;
use super::node::{Node, field, is_true, spelled, text, word};
use super::{speaker, tool};

/// Return the certainty with which a clue tells Anthropic's messages.
pub(super) fn recognize(clue: Clue<'_, '_>) -> PyResult<Option<Certainty>> {
    let Clue::Block(block, Some(kind)) = clue else { return Ok(None) };
    Ok(match kind {
        kind if tool::is_result(kind) => Some(Certainty::Surely),
        "tool_use" | "server_tool_use" | "mcp_tool_use" | "redacted_thinking" | "compaction" => Some(Certainty::Maybe),
        "thinking" if field!(block, "signature")?.is_some() => Some(Certainty::Maybe),
        "image" if field!(block, "source")?.is_some() => Some(Certainty::Maybe),
        _ => None,
    })
}

/// Write the parts of a message on the draft. Return its role.
pub(super) fn read<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>) -> PyResult<Role> {
    let role = speaker(draft, message)?;
    draft.blocks("content", field!(message, "content")?.as_ref(), |draft, block| read_any(draft, block, role))?;
    content::require(draft, message)?;
    Ok(role)
}

fn read_any<'py>(draft: &mut Draft<'py>, block: &Bound<'py, PyAny>, role: Role) -> PyResult<()> {
    if let Ok(text) = block.cast::<PyString>() {
        return draft.push_text(Kind::Text, Some(text.clone()));
    }
    let node = Node::of(block);
    let Some(kind) = text!(node, "type")? else { return read_untyped(draft, node) };
    match spelled(Some(&kind)) {
        "server_tool_use" | "mcp_tool_use" => {
            let (id, name) = (word(text!(node, "id")?)?, word(text!(node, "name")?)?);
            tool::call(draft, id, name, field!(node, "input")?)?.is_server = true;
        }
        kind if kind.ends_with("_tool_result") => {
            let id = word(text!(node, "tool_use_id")?)?;
            let part = tool::result(draft, id, None, field!(node, "content")?.as_ref())?;
            part.is_server = true;
            // The provider answers for its own tools in the model's message. What the user answers is not known.
            part.is_opaque = role != Role::Assistant;
            part.is_error = is_true(field!(node, "is_error")?.as_ref());
        }
        "compaction" => compaction(draft, node)?,
        kind => read_typed(draft, node, kind)?,
    }
    Ok(())
}

/// Read the output of the provider's own compaction: a readable summary, or one that only the provider can read.
fn compaction<'py>(draft: &mut Draft<'py>, node: Node<'_, 'py>) -> PyResult<()> {
    let mut found = Found::default();
    texts(draft, field!(node, "content")?.as_ref(), 0, &mut found)?;
    let words = draft.joined(found.texts);
    let sealed = field!(node, "encrypted_content")?.map(|sealed| Measure::of(&sealed)).transpose()?;
    let part = &mut draft.push(Kind::Compaction, words).part;
    part.tokens = sealed.as_ref().map_or(0, Measure::opaque_tokens);
    part.mark = sealed.map_or(0, |sealed| sealed.mark());
    Ok(())
}
