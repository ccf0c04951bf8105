//! Gemini's contents: a role, and parts that say what they are by the name of a field.

use memctx_core::scan::{Kind, Piece, Role};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use super::content::{self, Found, is_label, labelled, price, sign};
use super::json::plain;
use super::measure::Measure;
use super::part::{Part, field, for_each_block, is_true, spelled, text, word};
use super::sheet::Sheet;
use super::{speaker, tool};

/// A field that JSON writes in camel case and the SDK's objects in snake case.
macro_rules! either {
    ($part:expr, $camel:literal, $snake:literal) => {
        match field!($part, $camel)? {
            None => field!($part, $snake)?,
            found => found,
        }
    };
}

/// Write the pieces of a content on the sheet; who speaks in it.
pub(super) fn read<'py>(sheet: &mut Sheet<'py>, message: Part<'_, 'py>) -> PyResult<Role> {
    let first = sheet.pieces.len();
    match field!(message, "parts")? {
        Some(parts) => for_each_block(Some(&parts), |part| read_part(sheet, part, first))?,
        None => content::read(sheet, field!(message, "content")?.as_ref())?,
    }
    Ok(match spelled(text!(message, "role")?.as_ref()) {
        "" => Role::User,
        "model" => Role::Assistant,
        "function" | "tool" => Role::Tool,
        role => speaker(role),
    })
}

fn read_part<'py>(sheet: &mut Sheet<'py>, block: &Bound<'py, PyAny>, first: usize) -> PyResult<()> {
    if let Ok(text) = block.cast::<PyString>() {
        return sheet.push_text(Kind::Text, Some(text.clone()));
    }
    let part = Part::of(block);
    let signature = either!(part, "thoughtSignature", "thought_signature");
    if let Some(said) = text!(part, "text")? {
        let words = sheet.hold(said)?;
        let kind = if is_true(field!(part, "thought")?.as_ref()) { Kind::Thinking } else { Kind::Text };
        return sign(sheet, kind, Some(words), signature);
    }
    if let Some(call) = either!(part, "functionCall", "function_call") {
        return read_call(sheet, Part::of(&call), first, signature);
    }
    if let Some(response) = either!(part, "functionResponse", "function_response") {
        return read_response(sheet, Part::of(&response));
    }
    if let Some(bytes) = bytes_of(part)? {
        let mut found = Found::default();
        media(sheet, &bytes, &mut found)?;
        let label = sheet.joined(found.labels);
        let drafted = sheet.push(Kind::Media, label);
        (drafted.is_label, drafted.piece.tokens, drafted.piece.mark) = (true, found.tokens, found.mark);
        return Ok(());
    }
    if let Some(code) = either!(part, "executableCode", "executable_code") {
        let code = field!(Part::of(&code), "code")?;
        tool::call(sheet, None, Some("code_execution".into()), code)?.is_server = true;
        return Ok(());
    }
    if let Some(outcome) = either!(part, "codeExecutionResult", "code_execution_result") {
        let output = field!(Part::of(&outcome), "output")?;
        tool::result(sheet, None, Some("code_execution".into()), output.as_ref())?.is_server = true;
        return Ok(());
    }
    let measure = Measure::of(block)?;
    let piece = &mut sheet.push(Kind::Other, None).piece;
    (piece.tokens, piece.mark) = (measure.tokens(), measure.mark());
    Ok(())
}

/// A call. Where it has no id it gets one from its name and from how many calls of that name stand before it.
fn read_call<'py>(
    sheet: &mut Sheet<'py>,
    call: Part<'_, 'py>,
    first: usize,
    signature: Option<Bound<'py, PyAny>>,
) -> PyResult<()> {
    let name = word(text!(call, "name")?)?;
    let id = match word(text!(call, "id")?)? {
        None => name.as_deref().map(|name| {
            let before = sheet.pieces[first..].iter().map(|drafted| &drafted.piece);
            let calls = before.filter(|piece| piece.is_call() && piece.own_id().is_none());
            Piece::made_up_id(name, calls.filter(|piece| piece.name.as_deref() == Some(name)).count())
        }),
        id => id,
    };
    let mark = signature.map(|signature| Measure::of(&signature)).transpose()?;
    let piece = tool::call(sheet, id, name, field!(call, "args")?)?;
    (piece.is_signed, piece.mark) = (mark.is_some(), mark.map_or(0, |mark| mark.mark()));
    Ok(())
}

/// A response: the text of its one field where it has only that, or all of it as JSON.
fn read_response<'py>(sheet: &mut Sheet<'py>, answer: Part<'_, 'py>) -> PyResult<()> {
    let (id, name) = (word(text!(answer, "id")?)?, word(text!(answer, "name")?)?);
    let mut found = Found::default();
    let mut is_error = false;
    if let Some(response) = field!(answer, "response")? {
        let response =
            if response.is_instance_of::<PyDict>() { response } else { plain(&response).unwrap_or(response) };
        is_error = field!(Part::of(&response), "error")?.is_some();
        match only_text(&response)? {
            Some(text) => found.text(sheet, Some(text))?,
            None => found.texts.extend(sheet.asked(Some(response))?),
        }
    }
    for_each_block(field!(answer, "parts")?.as_ref(), |block| {
        bytes_of(Part::of(block))?.map_or(Ok(()), |bytes| media(sheet, &bytes, &mut found))
    })?;
    tool::answer(sheet, id, name, found).is_error = is_error;
    Ok(())
}

/// The text of a response that has one field, named as the guides name it.
fn only_text<'py>(response: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyString>>> {
    if response.cast::<PyDict>().map_or(0, PyDictMethods::len) != 1 {
        return Ok(None);
    }
    let (py, response) = (response.py(), Part::of(response));
    for name in [intern!(py, "output"), intern!(py, "result"), intern!(py, "error"), intern!(py, "content")] {
        if let Some(text) = response.text(name)? {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// The field of a part that holds bytes, or the address of a file.
fn bytes_of<'py>(part: Part<'_, 'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(match either!(part, "inlineData", "inline_data") {
        None => either!(part, "fileData", "file_data"),
        found => found,
    })
}

/// What stands for them and what they cost.
fn media<'py>(sheet: &mut Sheet<'py>, bytes: &Bound<'py, PyAny>, found: &mut Found<'py>) -> PyResult<()> {
    let part = Part::of(bytes);
    let mime = either!(part, "mimeType", "mime_type");
    let mime = mime.as_ref().and_then(|mime| mime.cast::<PyString>().ok());
    let mime = spelled(mime);
    let kind = match mime.split('/').next().unwrap_or_default() {
        kind @ ("image" | "audio" | "video") => kind,
        _ => "file",
    };
    let uri = either!(part, "fileUri", "file_uri");
    let names = [either!(part, "displayName", "display_name"), uri.clone()];
    let names = names.iter().flatten().filter_map(|name| name.cast::<PyString>().ok()).map(|name| spelled(Some(name)));
    let label = names.chain([mime]).find(|name| is_label(name)).unwrap_or_default();
    let label = labelled(sheet, kind, label);
    // What an object of the SDK has beside these fields says nothing of the bytes.
    let told = field!(part, "data")?.or(uri);
    let mark = told.map(|told| Measure::of(&told)).transpose()?.map_or(0, |measure| measure.mark());
    found.media(label, price(sheet.shape, kind), mark);
    Ok(())
}
