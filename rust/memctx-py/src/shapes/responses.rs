//! Items of `OpenAI`'s Responses API.

use std::sync::Arc;

use memctx_core::scan::{Kind, Role};
use pyo3::intern;
use pyo3::prelude::*;

use super::content::{Found, texts};
use super::measure::Measure;
use super::part::{Part, field, spelled, text, word};
use super::sheet::Sheet;
use super::{content, speaker, tool};

/// Write the pieces of an item on the sheet; who speaks in it.
pub(super) fn read<'py>(sheet: &mut Sheet<'py>, item: Part<'_, 'py>) -> PyResult<Role> {
    let kind = text!(item, "type")?;
    sheet.is_aborted = spelled(text!(item, "status")?.as_ref()) == "incomplete";
    match spelled(kind.as_ref()) {
        "" | "message" => {
            content::read(sheet, field!(item, "content")?.as_ref())?;
            Ok(speaker(spelled(text!(item, "role")?.as_ref())))
        }
        "reasoning" => reasoning(sheet, item),
        "compaction" | "compaction_summary" => {
            let measure = Measure::of(item.any())?;
            let piece = &mut sheet.push(Kind::Compaction, None).piece;
            (piece.tokens, piece.mark) = (measure.opaque_tokens(), measure.mark());
            Ok(Role::Other)
        }
        // The server has the item; that it is reasoning is told by how ids of that sort begin.
        "item_reference" if spelled(text!(item, "id")?.as_ref()).starts_with("rs_") => {
            let mark = Measure::of(item.any())?.mark();
            let piece = &mut sheet.push(Kind::Thinking, None).piece;
            (piece.is_signed, piece.mark) = (true, mark);
            Ok(Role::Assistant)
        }
        kind if kind.ends_with("_call") => call(sheet, item, kind),
        kind if kind.ends_with("_call_output") => {
            answer(sheet, item, id(item)?)?;
            Ok(Role::Tool)
        }
        _ => {
            let measure = Measure::of(item.any())?;
            let piece = &mut sheet.push(Kind::Other, None).piece;
            (piece.tokens, piece.mark) = (measure.tokens(), measure.mark());
            Ok(Role::Other)
        }
    }
}

fn id(item: Part<'_, '_>) -> PyResult<Option<Arc<str>>> {
    match word(text!(item, "call_id")?)? {
        None => word(text!(item, "id")?),
        id => Ok(id),
    }
}

/// A call of a tool. What the provider runs itself has no id for a call, and its output inside.
fn call<'py>(sheet: &mut Sheet<'py>, item: Part<'_, 'py>, kind: &str) -> PyResult<Role> {
    let is_client = matches!(kind, "function_call" | "custom_tool_call") || text!(item, "call_id")?.is_some();
    let name = word(text!(item, "name")?)?.unwrap_or_else(|| kind.strip_suffix("_call").unwrap_or(kind).into());
    let id = id(item)?;
    let question = question(item)?;
    tool::call(sheet, id.clone(), Some(name), question)?.is_server = !is_client;
    let has_output = field!(item, "output")?.is_some() || field!(item, "outputs")?.is_some();
    if has_output || field!(item, "error")?.is_some() {
        answer(sheet, item, id)?;
        if let Some(drafted) = sheet.pieces.last_mut() {
            drafted.piece.is_server = true;
        }
    }
    Ok(Role::Assistant)
}

/// What a tool was asked, wherever an item has that.
fn question<'py>(item: Part<'_, 'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = item.py();
    let places = [
        intern!(py, "arguments"),
        intern!(py, "input"),
        intern!(py, "action"),
        intern!(py, "operation"),
        intern!(py, "code"),
        intern!(py, "queries"),
    ];
    for name in places {
        if let Some(question) = item.get(name)?.filter(|question| question.is_truthy().unwrap_or(true)) {
            return Ok(Some(question));
        }
    }
    Ok(None)
}

fn answer<'py>(sheet: &mut Sheet<'py>, item: Part<'_, 'py>, id: Option<Arc<str>>) -> PyResult<()> {
    let mut found = Found::default();
    for output in [field!(item, "output")?, field!(item, "outputs")?] {
        if found.texts.is_empty() && found.labels.is_empty() {
            texts(sheet, output.as_ref(), 0, &mut found)?;
        }
    }
    let error = field!(item, "error")?.filter(|error| error.is_truthy().unwrap_or(true));
    if let Some(error) = &error
        && found.texts.is_empty()
    {
        found.texts.extend(sheet.asked(Some(error.clone()))?);
    }
    let is_failed = spelled(text!(item, "status")?.as_ref()) == "failed";
    tool::answer(sheet, id, None, found).is_error = is_failed || error.is_some();
    Ok(())
}

/// Reasoning: what may be read of it, and the rest encrypted.
fn reasoning<'py>(sheet: &mut Sheet<'py>, item: Part<'_, 'py>) -> PyResult<Role> {
    let mut found = Found::default();
    for thought in [field!(item, "summary")?, field!(item, "content")?].into_iter().flatten() {
        super::part::for_each_block(Some(&thought), |block| found.text(sheet, text!(Part::of(block), "text")?))?;
    }
    let mut measure = Measure::new();
    if let Some(sealed) = field!(item, "encrypted_content")? {
        measure.add(&sealed)?;
    }
    let (is_signed, tokens) = (measure.length > 0, measure.opaque_tokens());
    if let Some(id) = field!(item, "id")? {
        measure.add(&id)?;
    }
    let words = sheet.joined(found.texts);
    let piece = &mut sheet.push(Kind::Thinking, words).piece;
    (piece.is_signed, piece.tokens, piece.mark) = (is_signed, tokens, measure.mark());
    Ok(Role::Assistant)
}
