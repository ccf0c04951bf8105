//! Messages of Anthropic's Messages API: a role, and text or blocks.

use memctx_core::scan::{Kind, Role};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::content::{Found, read_typed, texts};
use super::measure::Measure;
use super::part::{Part, field, for_each_block, is_true, spelled, text, word};
use super::sheet::Sheet;
use super::{speaker, tool};

/// Write the pieces of a message on the sheet; who speaks in it.
pub(super) fn read<'py>(sheet: &mut Sheet<'py>, message: Part<'_, 'py>) -> PyResult<Role> {
    let role = speaker(spelled(text!(message, "role")?.as_ref()));
    for_each_block(field!(message, "content")?.as_ref(), |block| read_any(sheet, block))?;
    Ok(role)
}

fn read_any<'py>(sheet: &mut Sheet<'py>, block: &Bound<'py, PyAny>) -> PyResult<()> {
    if let Ok(text) = block.cast::<PyString>() {
        return sheet.push_text(Kind::Text, Some(text.clone()));
    }
    let part = Part::of(block);
    let kind = text!(part, "type")?;
    match spelled(kind.as_ref()) {
        kind @ ("tool_use" | "server_tool_use" | "mcp_tool_use") => {
            let (id, name) = (word(text!(part, "id")?)?, word(text!(part, "name")?)?);
            tool::call(sheet, id, name, field!(part, "input")?)?.is_server = kind != "tool_use";
        }
        kind if kind == "tool_result" || kind.ends_with("_tool_result") => {
            let id = word(text!(part, "tool_use_id")?)?;
            let piece = tool::result(sheet, id, None, field!(part, "content")?.as_ref())?;
            piece.is_server = kind != "tool_result";
            piece.is_error = is_true(field!(part, "is_error")?.as_ref());
        }
        "compaction" => compaction(sheet, part)?,
        kind => read_typed(sheet, part, kind)?,
    }
    Ok(())
}

/// What the provider's own compaction left: a summary to read, or one that only the provider can.
fn compaction<'py>(sheet: &mut Sheet<'py>, part: Part<'_, 'py>) -> PyResult<()> {
    let mut found = Found::default();
    texts(sheet, field!(part, "content")?.as_ref(), 0, &mut found)?;
    let words = sheet.joined(found.texts);
    let sealed = field!(part, "encrypted_content")?.map(|sealed| Measure::of(&sealed)).transpose()?;
    let piece = &mut sheet.push(Kind::Compaction, words).piece;
    piece.tokens = sealed.as_ref().map_or(0, Measure::opaque_tokens);
    piece.mark = sealed.map_or(0, |sealed| sealed.mark());
    Ok(())
}
