//! Which host a list of messages comes from, told by the first message that only one of them writes.

use memctx_core::scan::Shape;
use pyo3::prelude::*;

use super::part::{Part, field, for_each_item, spelled, text};

/// The shape of messages; Anthropic's where all shapes would read them alike.
pub(crate) fn detect(messages: &[Bound<'_, PyAny>]) -> PyResult<Shape> {
    for message in messages {
        if let Some(shape) = told_by(Part::of(message))? {
            return Ok(shape);
        }
    }
    Ok(Shape::Anthropic)
}

fn told_by(message: Part<'_, '_>) -> PyResult<Option<Shape>> {
    let role = text!(message, "role")?;
    let Some(role) = role else { return told_by_item(message) };
    match spelled(Some(&role)) {
        "toolResult" | "bashExecution" | "branchSummary" | "compactionSummary" => return Ok(Some(Shape::Pi)),
        "custom" if text!(message, "customType")?.is_some() => return Ok(Some(Shape::Pi)),
        "model" => return Ok(Some(Shape::Gemini)),
        "tool" | "function" => return Ok(Some(Shape::OpenAi)),
        _ => {}
    }
    let content = field!(message, "content")?;
    let mut shape = None;
    if let Some(content) = &content {
        for_each_item(content, |block| {
            if shape.is_none() {
                shape = told_by_block(Part::of(block))?;
            }
            Ok(())
        })?;
    } else if field!(message, "parts")?.is_some() {
        return Ok(Some(Shape::Gemini));
    }
    if shape.is_some() {
        return Ok(shape);
    }
    let called = |calls: Option<Bound<'_, PyAny>>| calls.is_some_and(|calls| calls.is_truthy().unwrap_or(false));
    if called(field!(message, "tool_calls")?) || called(field!(message, "function_call")?) {
        return Ok(Some(Shape::OpenAi));
    }
    Ok(text!(message, "stopReason")?.map(|_| Shape::Pi))
}

fn told_by_block(block: Part<'_, '_>) -> PyResult<Option<Shape>> {
    let Some(kind) = text!(block, "type")? else { return told_by_untyped(block) };
    Ok(match spelled(Some(&kind)) {
        "toolCall" => Some(Shape::Pi),
        "input_text" | "output_text" | "input_image" | "input_file" => Some(Shape::Responses),
        "image_url" | "input_audio" => Some(Shape::OpenAi),
        "tool_use" | "tool_result" | "server_tool_use" | "mcp_tool_use" | "redacted_thinking" | "compaction" => {
            Some(Shape::Anthropic)
        }
        "thinking" if field!(block, "signature")?.is_some() => Some(Shape::Anthropic),
        "thinking" if field!(block, "thinkingSignature")?.is_some() => Some(Shape::Pi),
        "image" if field!(block, "source")?.is_some() => Some(Shape::Anthropic),
        "image" if text!(block, "mimeType")?.is_some() => Some(Shape::Pi),
        _ => None,
    })
}

/// Only Bedrock's blocks say what they are by the name of their one field.
fn told_by_untyped(block: Part<'_, '_>) -> PyResult<Option<Shape>> {
    let is_one = text!(block, "text")?.is_some()
        || field!(block, "toolUse")?.is_some()
        || field!(block, "toolResult")?.is_some()
        || field!(block, "reasoningContent")?.is_some()
        || field!(block, "cachePoint")?.is_some();
    Ok(is_one.then_some(Shape::Bedrock))
}

/// What has no role is an item of the Responses API, a line of Pi's session file, or one of Gemini's contents.
fn told_by_item(message: Part<'_, '_>) -> PyResult<Option<Shape>> {
    let Some(kind) = text!(message, "type")? else {
        return Ok(field!(message, "parts")?.map(|_| Shape::Gemini));
    };
    if text!(message, "summary")?.is_some() || text!(message, "customType")?.is_some() {
        return Ok(Some(Shape::Pi));
    }
    Ok(match spelled(Some(&kind)) {
        "reasoning" | "item_reference" => Some(Shape::Responses),
        "compaction" if field!(message, "encrypted_content")?.is_some() => Some(Shape::Responses),
        kind if kind.ends_with("_call") || kind.ends_with("_call_output") => Some(Shape::Responses),
        _ => None,
    })
}
