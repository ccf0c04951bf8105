//! What is being read, before it is priced.

use std::ops::Range;

use memctx_core::scan::{Kind, Piece, Shape};
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::json::compact;
use crate::boundary::text_of;

/// A text that was found in a message: the host's own string, or a stretch of what we wrote ourselves.
#[derive(Clone)]
pub(crate) enum Words<'py> {
    Held(Bound<'py, PyString>),
    Made(Range<usize>),
}

impl<'py> Words<'py> {
    /// The host's own string, if that is what it is.
    pub(crate) fn string(&self) -> Option<&Bound<'py, PyString>> {
        match self {
            Self::Held(string) => Some(string),
            Self::Made(_) => None,
        }
    }
}

/// A piece of a message whose text is yet to be priced.
pub(crate) struct Drafted<'py> {
    pub(crate) piece: Piece,
    pub(crate) words: Option<Words<'py>>,
    /// The text only stands for something that has its own price.
    pub(crate) is_label: bool,
}

/// The pieces of all messages read so far, one after the other.
pub(crate) struct Sheet<'py> {
    pub(crate) shape: Shape,
    pub(crate) pieces: Vec<Drafted<'py>>,
    /// The message that is being read was cut off.
    pub(crate) is_aborted: bool,
    made: String,
}

impl<'py> Sheet<'py> {
    pub(crate) fn new(shape: Shape, count: usize) -> Self {
        Self { shape, pieces: Vec::with_capacity(count * 2), is_aborted: false, made: String::new() }
    }

    /// A piece with its text.
    pub(crate) fn push(&mut self, kind: Kind, words: Option<Words<'py>>) -> &mut Drafted<'py> {
        let place = self.pieces.len();
        self.pieces.push(Drafted { piece: Piece::new(kind, None), words, is_label: false });
        &mut self.pieces[place]
    }

    /// A piece with a text of the host, if there is one.
    pub(crate) fn push_text(&mut self, kind: Kind, text: Option<Bound<'py, PyString>>) -> PyResult<()> {
        if let Some(text) = text {
            let words = self.hold(text)?;
            self.push(kind, Some(words));
        }
        Ok(())
    }

    /// The host's own string, or, where it is no Unicode, a copy of what can be read of it.
    pub(crate) fn hold(&mut self, text: Bound<'py, PyString>) -> PyResult<Words<'py>> {
        if text.to_str().is_ok() {
            return Ok(Words::Held(text));
        }
        Ok(self.write(&text_of(&text)?))
    }

    /// A text of our own.
    pub(crate) fn write(&mut self, text: &str) -> Words<'py> {
        let start = self.made.len();
        self.made.push_str(text);
        Words::Made(start..self.made.len())
    }

    /// What a tool was asked: text as it came, anything else as compact JSON.
    pub(crate) fn asked(&mut self, question: Option<Bound<'py, PyAny>>) -> PyResult<Option<Words<'py>>> {
        let Some(question) = question else { return Ok(None) };
        match question.cast_into::<PyString>() {
            Ok(text) => self.hold(text).map(Some),
            Err(other) => self.json(&other.into_inner()).map(Some),
        }
    }

    /// A value as compact JSON.
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
        for (place, text) in texts.into_iter().enumerate() {
            if place > 0 {
                self.made.push('\n');
            }
            match text {
                Words::Held(text) => self.made.push_str(text.to_str().unwrap_or_default()),
                Words::Made(range) => self.made.extend_from_within(range),
            }
        }
        Some(Words::Made(start..self.made.len()))
    }

    /// What a text says.
    pub(crate) fn spelled<'a>(&'a self, words: &'a Words<'py>) -> &'a str {
        match words {
            Words::Held(text) => text.to_str().unwrap_or_default(),
            Words::Made(range) => &self.made[range.clone()],
        }
    }
}
