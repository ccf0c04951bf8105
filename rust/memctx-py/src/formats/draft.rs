//! Draft of messages: their parts before tokens are counted.

use std::ops::Range;
use std::sync::Arc;

use memctx_core::messages::{Format, Kind, Part};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::json::compact;
use super::measure::Measure;
use super::node::{Node, first, for_each_item, word_in};
use crate::boundary::text_of;

/// A text that was found in a message: the host's own string, or a stretch of what we wrote ourselves.
#[derive(Clone)]
pub(crate) enum Words<'py> {
    Held(Bound<'py, PyString>),
    Made(Range<usize>),
}

impl<'py> Words<'py> {
    /// Return the host's own string, if that is what it is.
    pub(crate) fn string(&self) -> Option<&Bound<'py, PyString>> {
        match self {
            Self::Held(string) => Some(string),
            Self::Made(_) => None,
        }
    }
}

/// A part of a message whose text is yet to be priced.
pub(crate) struct DraftPart<'py> {
    pub(crate) part: Part,
    pub(crate) words: Option<Words<'py>>,
    /// The text only stands for something that has its own price.
    pub(crate) is_label: bool,
}

/// The parts of all messages read so far, one after the other.
pub(crate) struct Draft<'py> {
    pub(crate) format: Format,
    pub(crate) parts: Vec<DraftPart<'py>>,
    /// The message that is being read was cut off.
    pub(crate) is_aborted: bool,
    /// Index of the first part of the message that is being read.
    pub(crate) first: usize,
    /// First reason to refuse the message that is being read.
    pub(crate) unsupported: Option<Unsupported>,
    /// The field and the index of the block that is being read.
    block: Option<(&'static str, Option<usize>)>,
    made: String,
}

/// A field of a message that is not understood.
pub(crate) struct Unsupported {
    /// Path of the field, such as `content[2].id`.
    pub(crate) field: String,
    /// Description of the error.
    pub(crate) fault: String,
}

impl<'py> Draft<'py> {
    pub(crate) fn new(format: Format, count: usize) -> Self {
        Self {
            format,
            parts: Vec::with_capacity(count * 2),
            is_aborted: false,
            first: 0,
            unsupported: None,
            block: None,
            made: String::new(),
        }
    }

    /// Begin with the next message.
    pub(crate) fn begin(&mut self) {
        (self.first, self.is_aborted, self.block) = (self.parts.len(), false, None);
    }

    /// Note that a field of the message, or of the block that is being read, is not understood.
    pub(crate) fn refuse(&mut self, field: &str, fault: impl Into<String>) {
        if self.unsupported.is_some() {
            return;
        }
        let field = match self.block {
            None => field.to_owned(),
            Some((holder, index)) => {
                let index = index.map_or_else(String::new, |index| format!("[{index}]"));
                let dot = if field.is_empty() { "" } else { "." };
                format!("{holder}{index}{dot}{field}")
            }
        };
        self.unsupported = Some(Unsupported { field, fault: fault.into() });
    }

    /// Read the blocks in a field of the message, which may be just one of them, text, or missing.
    pub(crate) fn blocks(
        &mut self,
        field: &'static str,
        content: Option<&Bound<'py, PyAny>>,
        mut each: impl FnMut(&mut Self, &Bound<'py, PyAny>) -> PyResult<()>,
    ) -> PyResult<()> {
        let Some(content) = content else { return Ok(()) };
        let mut count = 0;
        let is_list = for_each_item(content, |block| {
            self.block = Some((field, Some(count)));
            count += 1;
            each(self, block)
        })?;
        if !is_list {
            self.block = Some((field, None));
            each(self, content)?;
        }
        self.block = None;
        Ok(())
    }

    /// Append a block of an unknown kind. It is kept whole and never edited; parts with the id it names are bound to
    /// it.
    pub(crate) fn opaque(&mut self, node: Node<'_, 'py>) -> PyResult<()> {
        let id = reference(node)?;
        let measure = Measure::of(node.any())?;
        let part = &mut self.push(Kind::Other, None).part;
        (part.id, part.is_opaque) = (id, true);
        (part.tokens, part.mark) = (measure.tokens(), measure.mark());
        Ok(())
    }

    /// Append a part with its text.
    pub(crate) fn push(&mut self, kind: Kind, words: Option<Words<'py>>) -> &mut DraftPart<'py> {
        let index = self.parts.len();
        self.parts.push(DraftPart { part: Part::new(kind, None), words, is_label: false });
        &mut self.parts[index]
    }

    /// Append a part with a text of the host, if there is one.
    pub(crate) fn push_text(&mut self, kind: Kind, text: Option<Bound<'py, PyString>>) -> PyResult<()> {
        if let Some(text) = text {
            let words = self.hold(text)?;
            self.push(kind, Some(words));
        }
        Ok(())
    }

    /// Return the host's own string, or, where it is no Unicode, a copy of what can be read of it.
    pub(crate) fn hold(&mut self, text: Bound<'py, PyString>) -> PyResult<Words<'py>> {
        if text.to_str().is_ok() {
            return Ok(Words::Held(text));
        }
        Ok(self.write(&text_of(&text)?))
    }

    /// Append a text of our own.
    pub(crate) fn write(&mut self, text: &str) -> Words<'py> {
        let start = self.made.len();
        self.made.push_str(text);
        Words::Made(start..self.made.len())
    }

    /// Return the arguments of a call: text unchanged, anything else as compact JSON.
    pub(crate) fn asked(&mut self, question: Option<Bound<'py, PyAny>>) -> PyResult<Option<Words<'py>>> {
        let Some(question) = question else { return Ok(None) };
        match question.cast_into::<PyString>() {
            Ok(text) => self.hold(text).map(Some),
            Err(other) => self.json(&other.into_inner()).map(Some),
        }
    }

    /// Append a value as compact JSON.
    pub(crate) fn json(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Words<'py>> {
        let start = self.made.len();
        compact(value, &mut self.made)?;
        Ok(Words::Made(start..self.made.len()))
    }

    /// Several texts as one, a line feed between them; none if there are none.
    pub(crate) fn joined(&mut self, mut texts: Vec<Words<'py>>) -> Option<Words<'py>> {
        if texts.len() < 2 {
            return texts.pop();
        }
        let start = self.made.len();
        for (index, text) in texts.into_iter().enumerate() {
            if index > 0 {
                self.made.push('\n');
            }
            match text {
                Words::Held(text) => self.made.push_str(text.to_str().unwrap_or_default()),
                Words::Made(range) => self.made.extend_from_within(range),
            }
        }
        Some(Words::Made(start..self.made.len()))
    }

    /// Return the characters of a text.
    pub(crate) fn spelled<'a>(&'a self, words: &'a Words<'py>) -> &'a str {
        match words {
            Words::Held(text) => text.to_str().unwrap_or_default(),
            Words::Made(range) => &self.made[range.clone()],
        }
    }
}

/// Return the id by which a block of a kind that is not known may belong to a call or a result: that of the call it
/// names, or its own.
pub(crate) fn reference(node: Node<'_, '_>) -> PyResult<Option<Arc<str>>> {
    word_in(first!(node, "tool_use_id", "toolUseId", "toolCallId", "tool_call_id", "call_id", "id"))
}
