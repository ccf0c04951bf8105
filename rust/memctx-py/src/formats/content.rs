//! The content of a message: blocks that most formats share.

use memctx_core::messages::{Format, Kind, Part};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::draft::{Draft, Words, reference};
use super::measure::Measure;
use super::node::{Node, field, for_each_block, has, spelled, text};
use super::{shown, tool};

/// Blocks that hold blocks, as a document or a search result do, are read this deep.
const DEEPEST: usize = 6;
const LONGEST_LABEL: usize = 200;

/// Texts and costs of some blocks.
#[derive(Default)]
pub(crate) struct Found<'py> {
    /// Texts that say something.
    pub(crate) texts: Vec<Words<'py>>,
    /// Placeholders for images and files.
    pub(crate) labels: Vec<Words<'py>>,
    /// Tokens of images, files and unknown blocks.
    pub(crate) tokens: u32,
    /// A hash of these.
    pub(crate) mark: u64,
}

impl<'py> Found<'py> {
    pub(crate) fn text(&mut self, draft: &mut Draft<'py>, text: Option<Bound<'py, PyString>>) -> PyResult<()> {
        if let Some(text) = text.filter(|text| !text.is_empty().unwrap_or(true)) {
            self.texts.push(draft.hold(text)?);
        }
        Ok(())
    }

    /// Add a block with a cost of its own and a label in the archive.
    pub(crate) fn media(&mut self, label: Words<'py>, tokens: u32, mark: u64) {
        self.labels.push(label);
        self.priced(tokens, mark);
    }

    /// Add a block with a cost and no text.
    pub(crate) fn priced(&mut self, tokens: u32, mark: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
        self.mark = self.mark.rotate_left(7) ^ mark;
    }
}

/// Put the blocks of a message's content on the draft as parts.
pub(crate) fn read<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>) -> PyResult<()> {
    draft.blocks("content", field!(message, "content")?.as_ref(), read_block)
}

/// Refuse a message in which nothing was read and that has no content, not even an empty one.
pub(crate) fn require<'py>(draft: &mut Draft<'py>, message: Node<'_, 'py>) -> PyResult<()> {
    if draft.parts.len() == draft.first && !has!(message, "content")? {
        draft.refuse("content", "is missing");
    }
    Ok(())
}

/// Put one block on the draft as a part.
pub(crate) fn read_block<'py>(draft: &mut Draft<'py>, block: &Bound<'py, PyAny>) -> PyResult<()> {
    if let Ok(text) = block.cast::<PyString>() {
        return draft.push_text(Kind::Text, Some(text.clone()));
    }
    let node = Node::of(block);
    match text!(node, "type")? {
        Some(kind) => read_typed(draft, node, spelled(Some(&kind))),
        None => read_untyped(draft, node),
    }
}

/// Read a block without a type: a call or a result, named by its one field.
pub(crate) fn read_untyped<'py>(draft: &mut Draft<'py>, node: Node<'_, 'py>) -> PyResult<()> {
    if !tool::wrapped(draft, node)? {
        draft.refuse("", format!("is {}; expected text or a block with a type", shown_kind(node)));
    }
    Ok(())
}

/// Return the description of a block for an error.
fn shown_kind(node: Node<'_, '_>) -> String {
    match node {
        Node::Dict(_) | Node::Mapping(_) => "a dictionary without a type".into(),
        Node::Object(object) => shown(object),
    }
}

/// Read a block with a type that is not text.
pub(crate) fn read_typed<'py>(draft: &mut Draft<'py>, node: Node<'_, 'py>, kind: &str) -> PyResult<()> {
    match kind {
        "text" | "input_text" | "output_text" => match text!(node, "text")? {
            Some(text) => return draft.push_text(Kind::Text, Some(text)),
            None => return Ok(()),
        },
        "thinking" => return thinking(draft, node),
        "redacted_thinking" => {
            let measure =
                field!(node, "data")?.map(|data| Measure::of(&data)).transpose()?.unwrap_or_else(Measure::new);
            let part = &mut draft.push(Kind::Thinking, None).part;
            (part.is_signed, part.tokens, part.mark) = (true, measure.opaque_tokens(), measure.mark());
            part.is_bound = true;
            return Ok(());
        }
        kind if tool::is_call(kind) || tool::is_result(kind) => return tool::read_typed(draft, node, kind),
        _ => {}
    }
    let mut found = Found::default();
    block_text(draft, node.any(), 0, &mut found)?;
    let is_known = media_kind(kind).is_some() || matches!(kind, "search_result" | "refusal");
    let id = if is_known { None } else { reference(node)? };
    let is_media = media_kind(kind).is_some() || kind == "search_result";
    let kind = match (is_media, found.texts.is_empty()) {
        (true, _) => Kind::Media,
        (false, false) => Kind::Text,
        (false, true) => Kind::Other,
    };
    let is_label = found.texts.is_empty();
    let words = draft.joined(if is_label { found.labels } else { found.texts });
    let draft_part = draft.push(kind, words);
    (draft_part.is_label, draft_part.part.tokens, draft_part.part.mark) = (is_label, found.tokens, found.mark);
    (draft_part.part.id, draft_part.part.is_opaque) = (id, !is_known);
    Ok(())
}

/// Read the model's reasoning, signed by Anthropic's rules in any format.
fn thinking<'py>(draft: &mut Draft<'py>, node: Node<'_, 'py>) -> PyResult<()> {
    let words = text!(node, "thinking")?.map(|text| draft.hold(text)).transpose()?;
    let mut signature = field!(node, "signature")?;
    if signature.is_none() {
        signature = field!(node, "thinkingSignature")?;
    }
    let part = sign(draft, Kind::Thinking, words, signature)?;
    part.is_bound = part.is_signed;
    Ok(())
}

/// Put a part on the draft with the signature that the provider gave it, if it did.
pub(crate) fn sign<'a, 'py>(
    draft: &'a mut Draft<'py>,
    kind: Kind,
    words: Option<Words<'py>>,
    signature: Option<Bound<'py, PyAny>>,
) -> PyResult<&'a mut Part> {
    let signature = signature.filter(|signature| signature.is_truthy().unwrap_or(false));
    let mark = signature.as_ref().map(Measure::of).transpose()?;
    let part = &mut draft.push(kind, words).part;
    (part.is_signed, part.mark) = (mark.is_some(), mark.map_or(0, |mark| mark.mark()));
    Ok(part)
}

/// Read the blocks of a content, as a tool's result has them.
pub(crate) fn texts<'py>(
    draft: &mut Draft<'py>,
    content: Option<&Bound<'py, PyAny>>,
    depth: usize,
    found: &mut Found<'py>,
) -> PyResult<()> {
    if depth > DEEPEST {
        return Ok(());
    }
    for_each_block(content, |block| block_text(draft, block, depth, found))
}

/// Read one block: nothing for thinking and calls; an unknown block only has a cost.
pub(crate) fn block_text<'py>(
    draft: &mut Draft<'py>,
    block: &Bound<'py, PyAny>,
    depth: usize,
    found: &mut Found<'py>,
) -> PyResult<()> {
    if let Ok(text) = block.cast::<PyString>() {
        return found.text(draft, Some(text.clone()));
    }
    let node = Node::of(block);
    let kind = text!(node, "type")?;
    let kind = spelled(kind.as_ref());
    match kind {
        "text" | "input_text" | "output_text" => return found.text(draft, text!(node, "text")?),
        "refusal" => return found.text(draft, text!(node, "refusal")?),
        "search_result" => {
            lines(draft, node, &["title", "source"], found)?;
            return texts(draft, field!(node, "content")?.as_ref(), depth + 1, found);
        }
        _ => {}
    }
    let before = found.texts.len();
    if kind.is_empty()
        && let Some(text) = text!(node, "text")?
    {
        return found.text(draft, Some(text));
    }
    if let Some(media) = media_kind(kind) {
        readable_source(draft, node, depth, found)?;
        if found.texts.len() == before {
            let label = placeholder(draft, media, node)?;
            found.media(label, price(draft.format, media), Measure::of(block)?.mark());
        }
        return Ok(());
    }
    if kind.is_empty() || kind == "logs" || kind.ends_with("_result") || kind.ends_with("_error") {
        lines(draft, node, &["title", "url", "content", "stdout", "stderr", "logs", "error_code"], found)?;
    }
    if found.texts.len() == before {
        let measure = Measure::of(block)?;
        found.priced(measure.tokens(), measure.mark());
    } else if let Some(sealed) = field!(node, "encrypted_content")? {
        let measure = Measure::of(&sealed)?;
        found.priced(measure.opaque_tokens(), measure.mark());
    }
    Ok(())
}

/// Return the word for a block of bytes.
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

/// Return the tokens of media of that kind.
pub(crate) fn price(format: Format, media: &str) -> u32 {
    if matches!(media, "document" | "file") { Format::DOCUMENT_TOKENS } else { format.rules().image_tokens }
}

/// Return the text of a document that came as text or as blocks rather than as bytes.
fn readable_source<'py>(
    draft: &mut Draft<'py>,
    node: Node<'_, 'py>,
    depth: usize,
    found: &mut Found<'py>,
) -> PyResult<()> {
    let Some(source) = field!(node, "source")? else { return Ok(()) };
    let source = Node::of(&source);
    match spelled(text!(source, "type")?.as_ref()) {
        "text" => found.text(draft, text!(source, "data")?),
        "content" => texts(draft, field!(source, "content")?.as_ref(), depth + 1, found),
        _ => Ok(()),
    }
}

/// Return the placeholder for bytes: their kind and, if short, their name.
fn placeholder<'py>(draft: &mut Draft<'py>, media: &str, node: Node<'_, 'py>) -> PyResult<Words<'py>> {
    let (source, image_url, file) = (field!(node, "source")?, field!(node, "image_url")?, field!(node, "file")?);
    let indices = [
        (Some(node.any()), intern!(node.py(), "title")),
        (Some(node.any()), intern!(node.py(), "filename")),
        (file.as_ref(), intern!(node.py(), "filename")),
        (Some(node.any()), intern!(node.py(), "mimeType")),
        (source.as_ref(), intern!(node.py(), "media_type")),
        (source.as_ref(), intern!(node.py(), "url")),
        (image_url.as_ref(), intern!(node.py(), "url")),
        (Some(node.any()), intern!(node.py(), "image_url")),
        (Some(node.any()), intern!(node.py(), "file_url")),
        (Some(node.any()), intern!(node.py(), "url")),
    ];
    for (holder, name) in indices {
        if let Some(holder) = holder
            && let Some(label) = Node::of(holder).text(name)?
            && is_label(spelled(Some(&label)))
        {
            return Ok(labeled(draft, media, spelled(Some(&label))));
        }
    }
    Ok(labeled(draft, media, ""))
}

/// Return whether a text can be the name of something.
pub(crate) fn is_label(text: &str) -> bool {
    !text.is_empty() && !text.starts_with("data:") && text.chars().nth(LONGEST_LABEL).is_none()
}

/// Return the placeholder for media of that kind and name.
pub(crate) fn labeled<'py>(draft: &mut Draft<'py>, media: &str, label: &str) -> Words<'py> {
    draft.write(&if label.is_empty() { format!("[{media}]") } else { format!("[{media} {label}]") })
}

/// Return the named fields of a block that are text.
fn lines<'py>(draft: &mut Draft<'py>, node: Node<'_, 'py>, names: &[&str], found: &mut Found<'py>) -> PyResult<()> {
    for name in names {
        found.text(draft, node.text(&PyString::intern(node.py(), name))?)?;
    }
    Ok(())
}
