//! Detection of the message format.
//!
//! It is identified by the first message that only one host writes: by its role, its type, its fields, or where it has
//! its results. The spelling of a block tells where nothing else does, since hosts take over each other's.

use memctx_core::messages::Format;
use pyo3::prelude::*;

use super::node::{Node, field, for_each_item, has, spelled, text};
use super::tool::is_result;

/// Evidence for a format in one message.
enum Evidence {
    /// Only this one writes such a message.
    Surely(Format),
    /// This one writes such a block, and others may.
    Maybe(Format),
}

/// Return the format of messages; Anthropic's where all formats would read them alike.
pub(crate) fn detect(messages: &[Bound<'_, PyAny>]) -> PyResult<Format> {
    let mut maybe = None;
    for message in messages {
        match evidence_of(Node::of(message))? {
            Some(Evidence::Surely(format)) => return Ok(format),
            Some(Evidence::Maybe(format)) => maybe = maybe.or(Some(format)),
            None => {}
        }
    }
    Ok(maybe.unwrap_or(Format::Anthropic))
}

fn evidence_of(message: Node<'_, '_>) -> PyResult<Option<Evidence>> {
    let role = text!(message, "role")?;
    let Some(role) = role else { return Ok(format_of_item(message)?.map(Evidence::Surely)) };
    let surely = |format| Ok(Some(Evidence::Surely(format)));
    match spelled(Some(&role)) {
        "toolResult" | "bashExecution" | "branchSummary" | "compactionSummary" => return surely(Format::Pi),
        "custom" if text!(message, "customType")?.is_some() => return surely(Format::Pi),
        "model" => return surely(Format::Gemini),
        "tool" | "function" if has!(message, "parts")? => return surely(Format::Gemini),
        "tool" | "function" => return surely(Format::OpenAi),
        _ => {}
    }
    let content = field!(message, "content")?;
    let mut evidence = None;
    if let Some(content) = &content {
        for_each_item(content, |block| {
            if !matches!(evidence, Some(Evidence::Surely(_))) {
                evidence = evidence_of_block(Node::of(block))?.or(evidence.take());
            }
            Ok(())
        })?;
    } else if field!(message, "parts")?.is_some() {
        return surely(Format::Gemini);
    }
    if matches!(evidence, Some(Evidence::Surely(_))) {
        return Ok(evidence);
    }
    let called = |calls: Option<Bound<'_, PyAny>>| calls.is_some_and(|calls| calls.is_truthy().unwrap_or(false));
    if called(field!(message, "tool_calls")?) || called(field!(message, "function_call")?) {
        return surely(Format::OpenAi);
    }
    if text!(message, "stopReason")?.is_some() {
        return surely(Format::Pi);
    }
    Ok(evidence)
}

fn evidence_of_block(block: Node<'_, '_>) -> PyResult<Option<Evidence>> {
    let Some(kind) = text!(block, "type")? else { return Ok(format_of_untyped(block)?.map(Evidence::Surely)) };
    Ok(Some(match spelled(Some(&kind)) {
        kind if is_result(kind) => Evidence::Surely(Format::Anthropic),
        "input_text" | "output_text" | "input_image" | "input_file" => Evidence::Surely(Format::Responses),
        "toolCall" | "toolUse" | "functionCall" => Evidence::Maybe(Format::Pi),
        "image_url" | "input_audio" => Evidence::Maybe(Format::OpenAi),
        "tool_use" | "server_tool_use" | "mcp_tool_use" | "redacted_thinking" | "compaction" => {
            Evidence::Maybe(Format::Anthropic)
        }
        "thinking" if field!(block, "signature")?.is_some() => Evidence::Maybe(Format::Anthropic),
        "thinking" if field!(block, "thinkingSignature")?.is_some() => Evidence::Maybe(Format::Pi),
        "image" if field!(block, "source")?.is_some() => Evidence::Maybe(Format::Anthropic),
        "image" if text!(block, "mimeType")?.is_some() => Evidence::Maybe(Format::Pi),
        _ => return Ok(None),
    }))
}

/// Only Bedrock's blocks say what they are by the name of their one field.
fn format_of_untyped(block: Node<'_, '_>) -> PyResult<Option<Format>> {
    let is_one = text!(block, "text")?.is_some()
        || field!(block, "toolUse")?.is_some()
        || field!(block, "toolResult")?.is_some()
        || field!(block, "reasoningContent")?.is_some()
        || field!(block, "cachePoint")?.is_some();
    Ok(is_one.then_some(Format::Bedrock))
}

/// Return the format of a message without a role: an item of the Responses API, a line of Pi's session file, or one of
/// Gemini's contents.
fn format_of_item(message: Node<'_, '_>) -> PyResult<Option<Format>> {
    let Some(kind) = text!(message, "type")? else {
        return Ok(field!(message, "parts")?.map(|_| Format::Gemini));
    };
    if text!(message, "summary")?.is_some() || text!(message, "customType")?.is_some() {
        return Ok(Some(Format::Pi));
    }
    Ok(match spelled(Some(&kind)) {
        "reasoning" | "item_reference" => Some(Format::Responses),
        "compaction" if field!(message, "encrypted_content")?.is_some() => Some(Format::Responses),
        "session" | "model_change" | "thinking_level_change" => Some(Format::Pi),
        kind if kind.ends_with("_call") || kind.ends_with("_call_output") => Some(Format::Responses),
        _ => None,
    })
}
