//! The content of a message: blocks that most shapes share.

use memctx_core::scan::{Kind, Shape};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::measure::Measure;
use super::part::{Part, field, for_each_block, spelled, text};
use super::sheet::{Sheet, Words};

/// Blocks that hold blocks, as a document or a search result do, are read this deep.
const DEEPEST: usize = 6;
const LONGEST_LABEL: usize = 200;

/// What was found in some blocks.
#[derive(Default)]
pub(crate) struct Found<'py> {
    /// Texts that say something.
    pub(crate) texts: Vec<Words<'py>>,
    /// What stands for pictures and files.
    pub(crate) labels: Vec<Words<'py>>,
    /// What the pictures and files cost, and whatever is not known.
    pub(crate) tokens: u32,
    /// A hash of these.
    pub(crate) mark: u64,
}

impl<'py> Found<'py> {
    pub(crate) fn text(&mut self, sheet: &mut Sheet<'py>, text: Option<Bound<'py, PyString>>) -> PyResult<()> {
        if let Some(text) = text.filter(|text| !text.is_empty().unwrap_or(true)) {
            self.texts.push(sheet.hold(text)?);
        }
        Ok(())
    }

    /// Something that has a price of its own, and a label in the archive.
    pub(crate) fn media(&mut self, label: Words<'py>, tokens: u32, mark: u64) {
        self.labels.push(label);
        self.priced(tokens, mark);
    }

    /// Something that has a price and nothing else.
    pub(crate) fn priced(&mut self, tokens: u32, mark: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.mark = self.mark.rotate_left(7) ^ mark;
    }
}

/// Put the blocks of a message's content on the sheet as pieces.
pub(crate) fn read<'py>(sheet: &mut Sheet<'py>, content: Option<&Bound<'py, PyAny>>) -> PyResult<()> {
    for_each_block(content, |block| read_block(sheet, block))
}

/// Put one block on the sheet as a piece.
fn read_block<'py>(sheet: &mut Sheet<'py>, block: &Bound<'py, PyAny>) -> PyResult<()> {
    if let Ok(text) = block.cast::<PyString>() {
        return sheet.push_text(Kind::Text, Some(text.clone()));
    }
    let part = Part::of(block);
    let kind = text!(part, "type")?;
    read_typed(sheet, part, spelled(kind.as_ref()))
}

/// The same for a block that is no text and whose type is known.
pub(crate) fn read_typed<'py>(sheet: &mut Sheet<'py>, part: Part<'_, 'py>, kind: &str) -> PyResult<()> {
    match kind {
        "text" | "input_text" | "output_text" => match text!(part, "text")? {
            Some(text) => return sheet.push_text(Kind::Text, Some(text)),
            None => return Ok(()),
        },
        "thinking" => return thinking(sheet, part),
        "redacted_thinking" => {
            let measure =
                field!(part, "data")?.map(|data| Measure::of(&data)).transpose()?.unwrap_or_else(Measure::new);
            let piece = &mut sheet.push(Kind::Thinking, None).piece;
            (piece.is_signed, piece.tokens, piece.mark) = (true, measure.opaque_tokens(), measure.mark());
            return Ok(());
        }
        _ => {}
    }
    let mut found = Found::default();
    block_text(sheet, part.any(), 0, &mut found)?;
    let is_media = media_kind(kind).is_some() || kind == "search_result";
    let kind = match (is_media, found.texts.is_empty()) {
        (true, _) => Kind::Media,
        (false, false) => Kind::Text,
        (false, true) => Kind::Other,
    };
    let is_label = found.texts.is_empty();
    let words = sheet.joined(if is_label { found.labels } else { found.texts });
    let drafted = sheet.push(kind, words);
    (drafted.is_label, drafted.piece.tokens, drafted.piece.mark) = (is_label, found.tokens, found.mark);
    Ok(())
}

fn thinking<'py>(sheet: &mut Sheet<'py>, part: Part<'_, 'py>) -> PyResult<()> {
    let words = text!(part, "thinking")?.map(|text| sheet.hold(text)).transpose()?;
    let mut signature = field!(part, "signature")?;
    if signature.is_none() {
        signature = field!(part, "thinkingSignature")?;
    }
    sign(sheet, Kind::Thinking, words, signature)
}

/// Put a piece on the sheet with the signature that the provider gave it, if it did.
pub(crate) fn sign<'py>(
    sheet: &mut Sheet<'py>,
    kind: Kind,
    words: Option<Words<'py>>,
    signature: Option<Bound<'py, PyAny>>,
) -> PyResult<()> {
    let signature = signature.filter(|signature| signature.is_truthy().unwrap_or(false));
    let mark = signature.as_ref().map(Measure::of).transpose()?;
    let piece = &mut sheet.push(kind, words).piece;
    (piece.is_signed, piece.mark) = (mark.is_some(), mark.map_or(0, |mark| mark.mark()));
    Ok(())
}

/// What the blocks of a content say, as a tool's answer has them.
pub(crate) fn texts<'py>(
    sheet: &mut Sheet<'py>,
    content: Option<&Bound<'py, PyAny>>,
    depth: usize,
    found: &mut Found<'py>,
) -> PyResult<()> {
    if depth > DEEPEST {
        return Ok(());
    }
    for_each_block(content, |block| block_text(sheet, block, depth, found))
}

/// What one block says: nothing for thinking and calls; what is not known only has a price.
pub(crate) fn block_text<'py>(
    sheet: &mut Sheet<'py>,
    block: &Bound<'py, PyAny>,
    depth: usize,
    found: &mut Found<'py>,
) -> PyResult<()> {
    if let Ok(text) = block.cast::<PyString>() {
        return found.text(sheet, Some(text.clone()));
    }
    let part = Part::of(block);
    let kind = text!(part, "type")?;
    let kind = spelled(kind.as_ref());
    match kind {
        "text" | "input_text" | "output_text" => return found.text(sheet, text!(part, "text")?),
        "refusal" => return found.text(sheet, text!(part, "refusal")?),
        "search_result" => {
            lines(sheet, part, &["title", "source"], found)?;
            return texts(sheet, field!(part, "content")?.as_ref(), depth + 1, found);
        }
        _ => {}
    }
    let before = found.texts.len();
    if let Some(media) = media_kind(kind) {
        readable_source(sheet, part, depth, found)?;
        if found.texts.len() == before {
            let label = placeholder(sheet, media, part)?;
            found.media(label, price(sheet.shape, media), Measure::of(block)?.mark());
        }
        return Ok(());
    }
    if kind.is_empty() || kind == "logs" || kind.ends_with("_result") || kind.ends_with("_error") {
        lines(sheet, part, &["title", "url", "content", "stdout", "stderr", "logs", "error_code"], found)?;
    }
    if found.texts.len() == before {
        let measure = Measure::of(block)?;
        found.priced(measure.tokens(), measure.mark());
    } else if let Some(sealed) = field!(part, "encrypted_content")? {
        let measure = Measure::of(&sealed)?;
        found.priced(measure.opaque_tokens(), measure.mark());
    }
    Ok(())
}

/// The word for a block of bytes.
fn media_kind(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "image" | "image_url" | "input_image" | "computer_screenshot" => "image",
        "audio" | "input_audio" => "audio",
        "video" => "video",
        "document" => "document",
        "file" | "input_file" | "container_upload" => "file",
        _ => return None,
    })
}

/// What bytes of that sort cost.
pub(crate) fn price(shape: Shape, media: &str) -> u32 {
    if matches!(media, "document" | "file") { Shape::DOCUMENT_TOKENS } else { shape.image_tokens() }
}

/// The text of a document that came as text or as blocks rather than as bytes.
fn readable_source<'py>(
    sheet: &mut Sheet<'py>,
    part: Part<'_, 'py>,
    depth: usize,
    found: &mut Found<'py>,
) -> PyResult<()> {
    let Some(source) = field!(part, "source")? else { return Ok(()) };
    let source = Part::of(&source);
    match spelled(text!(source, "type")?.as_ref()) {
        "text" => found.text(sheet, text!(source, "data")?),
        "content" => texts(sheet, field!(source, "content")?.as_ref(), depth + 1, found),
        _ => Ok(()),
    }
}

/// What stands for bytes: what they are and, if short, what they are called.
fn placeholder<'py>(sheet: &mut Sheet<'py>, media: &str, part: Part<'_, 'py>) -> PyResult<Words<'py>> {
    let (source, image_url, file) = (field!(part, "source")?, field!(part, "image_url")?, field!(part, "file")?);
    let places = [
        (Some(part.any()), intern!(part.py(), "title")),
        (Some(part.any()), intern!(part.py(), "filename")),
        (file.as_ref(), intern!(part.py(), "filename")),
        (Some(part.any()), intern!(part.py(), "mimeType")),
        (source.as_ref(), intern!(part.py(), "media_type")),
        (source.as_ref(), intern!(part.py(), "url")),
        (image_url.as_ref(), intern!(part.py(), "url")),
        (Some(part.any()), intern!(part.py(), "image_url")),
        (Some(part.any()), intern!(part.py(), "file_url")),
        (Some(part.any()), intern!(part.py(), "url")),
    ];
    for (holder, name) in places {
        if let Some(holder) = holder
            && let Some(label) = Part::of(holder).text(name)?
            && is_label(spelled(Some(&label)))
        {
            return Ok(labelled(sheet, media, spelled(Some(&label))));
        }
    }
    Ok(labelled(sheet, media, ""))
}

/// Whether a text can be the name of something.
pub(crate) fn is_label(text: &str) -> bool {
    !text.is_empty() && !text.starts_with("data:") && text.chars().nth(LONGEST_LABEL).is_none()
}

/// What stands for something of that sort and name.
pub(crate) fn labelled<'py>(sheet: &mut Sheet<'py>, media: &str, label: &str) -> Words<'py> {
    sheet.write(&if label.is_empty() { format!("[{media}]") } else { format!("[{media} {label}]") })
}

/// The named fields of a block that are text.
fn lines<'py>(sheet: &mut Sheet<'py>, part: Part<'_, 'py>, names: &[&str], found: &mut Found<'py>) -> PyResult<()> {
    for name in names {
        found.text(sheet, part.text(&PyString::intern(part.py(), name))?)?;
    }
    Ok(())
}
