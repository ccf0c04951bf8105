//! `memctx._core.Conversation`: a list of messages, read.

use std::sync::Arc;

use memctx_core::scan::{self, Role};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::boundary::enter_core;
use crate::error::ConfigError;
use crate::numbers::new_keys;

/// What was read off a list of messages. The messages themselves are not kept.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Conversation(pub(crate) Arc<scan::Conversation>);

type Rows = Vec<(&'static str, String, Option<f64>, Option<String>)>;

#[pymethods]
impl Conversation {
    /// What the messages are.
    #[getter]
    fn shape(&self) -> &'static str {
        self.0.shape.name()
    }

    /// What all messages cost the model.
    #[getter]
    fn tokens(&self) -> u64 {
        self.0.tokens()
    }

    /// What each message costs.
    #[getter]
    fn message_tokens(&self) -> Vec<u32> {
        self.0.views.iter().map(scan::View::tokens).collect()
    }

    /// A hash of each message.
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        new_keys(py, &self.0.views.iter().map(|view| view.key).collect::<Vec<_>>())
    }

    /// The messages of each unit, by their places.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.0.units.iter().map(|unit| PyTuple::new(py, &*unit.messages)).collect()
    }

    /// A hash of each unit.
    #[getter]
    fn unit_keys(&self) -> Vec<u64> {
        self.0.units.iter().map(|unit| unit.key).collect()
    }

    /// Who speaks in each message.
    #[getter]
    fn roles(&self) -> Vec<&'static str> {
        self.0.views.iter().map(|view| name_of(view.role)).collect()
    }

    /// The messages that are blocks of ours and nothing else.
    #[getter]
    fn recalled(&self) -> Vec<usize> {
        self.places(|view| view.is_recalled)
    }

    /// The messages that are summaries of a compaction.
    #[getter]
    fn summaries(&self) -> Vec<usize> {
        self.places(|view| view.is_summary)
    }

    /// The newest message that a person wrote.
    #[getter]
    fn newest_user(&self) -> Option<usize> {
        self.0.newest_user()
    }

    /// The same without some messages.
    fn without(&self, py: Python<'_>, indices: Vec<i64>) -> PyResult<Self> {
        let places = self.checked(&indices)?;
        enter_core(py, || Ok(Self(Arc::new(self.0.without(&places)))))
    }

    /// What memory is asked: the last texts that a person wrote, oldest first, joined by a space.
    #[pyo3(signature = (count = 3))]
    fn query(&self, py: Python<'_>, count: i64) -> PyResult<String> {
        let count = usize::try_from(count)
            .map_err(|_| ConfigError::new_err(format!("count must be 0 or more, not {count}")))?;
        enter_core(py, || Ok(self.0.query(count)))
    }

    /// For each message, or those named, what is archived of it.
    #[pyo3(signature = (indices = None))]
    fn records(&self, py: Python<'_>, indices: Option<Vec<i64>>) -> PyResult<Vec<Rows>> {
        let places = match indices {
            Some(indices) => self.checked(&indices)?,
            None => (0..self.0.views.len() as u32).collect(),
        };
        enter_core(py, || {
            let rows = |&place: &u32| {
                let rows = scan::rows(&self.0.views[place as usize]).into_iter();
                rows.map(|row| (row.role, row.text.into_owned(), row.timestamp, row.metadata)).collect()
            };
            Ok(places.iter().map(rows).collect())
        })
    }

    /// For each message how many of the same key stand before it.
    #[getter]
    fn ordinals(&self) -> Vec<u32> {
        self.0.ordinals()
    }

    /// The messages with thinking that the provider signed.
    #[getter]
    fn signed(&self) -> Vec<usize> {
        self.places(scan::View::has_signed_thinking)
    }

    /// The user's messages that hold a block of ours beside other things.
    #[getter]
    fn carriers(&self) -> Vec<usize> {
        self.places(scan::View::carries_recalled)
    }

    /// Whether the model waits for tools, or tools have answered and the model has not.
    #[getter]
    fn is_running(&self) -> bool {
        self.0.is_running()
    }

    /// The key of a message, and how many of the same stand before it.
    fn place(&self, index: i64) -> PyResult<(u64, usize)> {
        let place = self.checked(&[index])?[0] as usize;
        let key = self.0.views[place].key;
        Ok((key, self.0.views[..place].iter().filter(|view| view.key == key).count()))
    }

    /// For each key and ordinal the message of that key of which so many of the same come before.
    fn find(&self, places: Vec<(u64, usize)>) -> Vec<Option<usize>> {
        self.0.find(&places)
    }

    /// Whether a message is the host's own, or the summary of a compaction.
    fn is_preamble(&self, index: i64) -> PyResult<bool> {
        let view = &self.0.views[self.checked(&[index])?[0] as usize];
        Ok(view.role == Role::System || view.is_summary)
    }

    /// Whether a message belongs to a tool group.
    fn in_group(&self, index: i64) -> PyResult<bool> {
        Ok(self.0.is_in_group(self.checked(&[index])?[0]))
    }

    /// The conversation with some results shortened, each given as message, ordinal, text and tokens.
    fn with_results(&self, edits: Vec<(i64, u32, String, u32)>) -> PyResult<Self> {
        let shortened = |(index, ordinal, text, tokens): &(i64, u32, String, u32)| {
            let text = Arc::new(scan::Text::new(text, *tokens));
            Ok(scan::Shortened { message: self.checked(&[*index])?[0], ordinal: *ordinal, text })
        };
        let edits = edits.iter().map(shortened).collect::<PyResult<Vec<_>>>()?;
        Ok(Self(Arc::new(scan::Conversation::clone(&self.0).with_results(&edits))))
    }

    fn __len__(&self) -> usize {
        self.0.views.len()
    }

    fn __repr__(&self) -> String {
        format!("<Conversation of {} {} messages, {} tokens>", self.0.views.len(), self.shape(), self.tokens())
    }
}

impl Conversation {
    fn places(&self, wanted: impl Fn(&scan::View) -> bool) -> Vec<usize> {
        let views = self.0.views.iter().enumerate();
        views.filter(|(_, view)| wanted(view)).map(|(place, _)| place).collect()
    }

    /// Places that there are.
    pub(crate) fn checked(&self, indices: &[i64]) -> PyResult<Vec<u32>> {
        let count = self.0.views.len();
        let place = |&index: &i64| {
            let place = u32::try_from(index).ok().filter(|&place| (place as usize) < count);
            place.ok_or_else(|| {
                ConfigError::new_err(format!("index {index} is no message: the conversation has {count} of them"))
            })
        };
        indices.iter().map(place).collect()
    }
}

fn name_of(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Other => "other",
    }
}
