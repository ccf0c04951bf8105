//! Messages of Amazon Bedrock's Converse: a role, and blocks that say what they are by the name of their field.

use memctx_core::scan::{Kind, Role};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::content::{Found, is_label, labelled, price, read_typed, sign};
use super::measure::Measure;
use super::part::{Part, field, for_each_block, for_each_item, spelled, text, word};
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
    if let Some(kind) = text!(part, "type")? {
        return read_typed(sheet, part, spelled(Some(&kind)));
    }
    if let Some(said) = text!(part, "text")? {
        return sheet.push_text(Kind::Text, Some(said));
    }
    if let Some(call) = field!(part, "toolUse")? {
        let call = Part::of(&call);
        let (id, name) = (word(text!(call, "toolUseId")?)?, word(text!(call, "name")?)?);
        let is_server = spelled(text!(call, "type")?.as_ref()) == "server_tool_use";
        tool::call(sheet, id, name, field!(call, "input")?)?.is_server = is_server;
        return Ok(());
    }
    if let Some(answer) = field!(part, "toolResult")? {
        return read_result(sheet, Part::of(&answer));
    }
    if let Some(thought) = field!(part, "reasoningContent")? {
        return reasoning(sheet, Part::of(&thought));
    }
    let mut found = Found::default();
    if media(sheet, part, &mut found)? {
        let is_label = found.texts.is_empty();
        let words = sheet.joined(if is_label { found.labels } else { found.texts });
        let drafted = sheet.push(Kind::Media, words);
        (drafted.is_label, drafted.piece.tokens, drafted.piece.mark) = (is_label, found.tokens, found.mark);
        return Ok(());
    }
    for wrapper in [field!(part, "guardContent")?, field!(part, "citationsContent")?].into_iter().flatten() {
        if cited(sheet, Part::of(&wrapper))? {
            return Ok(());
        }
    }
    // A mark for the prompt cache is neither sent to the model nor part of what is said.
    let is_mark = field!(part, "cachePoint")?.is_some();
    let measure = Measure::of(block)?;
    let piece = &mut sheet.push(Kind::Other, None).piece;
    if !is_mark {
        (piece.tokens, piece.mark) = (measure.tokens(), measure.mark());
    }
    Ok(())
}

fn read_result<'py>(sheet: &mut Sheet<'py>, answer: Part<'_, 'py>) -> PyResult<()> {
    let id = word(text!(answer, "toolUseId")?)?;
    let mut found = Found::default();
    for_each_block(field!(answer, "content")?.as_ref(), |block| {
        let part = Part::of(block);
        if let Ok(text) = block.cast::<PyString>() {
            return found.text(sheet, Some(text.clone()));
        }
        if let Some(text) = text!(part, "text")? {
            return found.text(sheet, Some(text));
        }
        if let Some(json) = field!(part, "json")? {
            found.texts.push(sheet.json(&json)?);
        } else if !media(sheet, part, &mut found)? {
            let measure = Measure::of(block)?;
            found.priced(measure.tokens(), measure.mark());
        }
        Ok(())
    })?;
    let is_error = spelled(text!(answer, "status")?.as_ref()) == "error";
    let is_server = spelled(text!(answer, "type")?.as_ref()).ends_with("_tool_result");
    let piece = tool::answer(sheet, id, None, found);
    (piece.is_error, piece.is_server) = (is_error, is_server);
    Ok(())
}

fn reasoning<'py>(sheet: &mut Sheet<'py>, thought: Part<'_, 'py>) -> PyResult<()> {
    if let Some(readable) = field!(thought, "reasoningText")? {
        let readable = Part::of(&readable);
        let words = text!(readable, "text")?.map(|text| sheet.hold(text)).transpose()?;
        return sign(sheet, Kind::Thinking, words, field!(readable, "signature")?);
    }
    let measure = Measure::of(thought.any())?;
    let piece = &mut sheet.push(Kind::Thinking, None).piece;
    (piece.is_signed, piece.tokens, piece.mark) = (true, measure.opaque_tokens(), measure.mark());
    Ok(())
}

/// A picture, a film or a document; false if it is none.
fn media<'py>(sheet: &mut Sheet<'py>, part: Part<'_, 'py>, found: &mut Found<'py>) -> PyResult<bool> {
    let sorts = [
        ("image", field!(part, "image")?),
        ("document", field!(part, "document")?),
        ("video", field!(part, "video")?),
        ("audio", field!(part, "audio")?),
    ];
    let Some((kind, bytes)) = sorts.iter().find_map(|(kind, bytes)| Some((*kind, bytes.as_ref()?))) else {
        return Ok(false);
    };
    let bytes = Part::of(bytes);
    if let Some(source) = field!(bytes, "source")?
        && let Some(text) = text!(Part::of(&source), "text")?
    {
        found.text(sheet, Some(text))?;
        return Ok(true);
    }
    let (name, format) = (text!(bytes, "name")?, text!(bytes, "format")?);
    let names = [spelled(name.as_ref()), spelled(format.as_ref())];
    let label = labelled(sheet, kind, names.into_iter().find(|name| is_label(name)).unwrap_or_default());
    found.media(label, price(sheet.shape, kind), Measure::of(bytes.any())?.mark());
    Ok(true)
}

/// Text inside a wrapper, with whatever the wrapper says about it; false if there is none.
fn cited<'py>(sheet: &mut Sheet<'py>, wrapper: Part<'_, 'py>) -> PyResult<bool> {
    let mut found = Found::default();
    if let Some(guarded) = field!(wrapper, "text")? {
        found.text(sheet, text!(Part::of(&guarded), "text")?)?;
    }
    if let Some(content) = field!(wrapper, "content")? {
        for_each_item(&content, |block| found.text(sheet, text!(Part::of(block), "text")?))?;
    }
    let Some(words) = sheet.joined(found.texts) else { return Ok(false) };
    sheet.push(Kind::Text, Some(words));
    Ok(true)
}
