//! `memctx._core.Conversation`: a list of messages, read.

use std::sync::Arc;

use memctx_core::messages::{self, Role};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::boundary::{checked, enter_core};
use crate::error::ConfigError;
use crate::numbers::new_keys;

/// Parsed list of messages. The messages themselves are not kept.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Conversation(pub(crate) Arc<messages::Conversation>);

type Rows = Vec<(&'static str, String, Option<f64>, Option<String>)>;

#[pymethods]
impl Conversation {
    /// Format of the messages.
    #[getter]
    fn format(&self) -> &'static str {
        self.0.format.name()
    }

    /// Tokens of all messages.
    #[getter]
    fn tokens(&self) -> u64 {
        self.0.tokens()
    }

    /// Tokens of each message.
    #[getter]
    fn message_tokens(&self) -> Vec<u32> {
        self.0.views.iter().map(messages::MessageView::tokens).collect()
    }

    /// A hash of each message.
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        new_keys(py, &self.0.views.iter().map(|view| view.key).collect::<Vec<_>>())
    }

    /// Indices of the messages of each unit.
    #[getter]
    fn units<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        self.0.units.iter().map(|unit| PyTuple::new(py, &*unit.messages)).collect()
    }

    /// A hash of each unit.
    #[getter]
    fn unit_keys(&self) -> Vec<u64> {
        self.0.units.iter().map(|unit| unit.key).collect()
    }

    /// Role of each message.
    #[getter]
    fn roles(&self) -> Vec<&'static str> {
        self.0.views.iter().map(|view| name_of(view.role)).collect()
    }

    /// The messages that are blocks of ours and nothing else.
    #[getter]
    fn recalled(&self) -> Vec<usize> {
        self.indices(|view| view.is_recalled)
    }

    /// The messages that are summaries of a compaction.
    #[getter]
    fn summaries(&self) -> Vec<usize> {
        self.indices(|view| view.is_summary)
    }

    /// The newest message that a person wrote.
    #[getter]
    fn newest_user(&self) -> Option<usize> {
        self.0.newest_user()
    }

    /// Return the same without some messages.
    fn without(&self, py: Python<'_>, #[pyo3(from_py_with = checked)] indices: Vec<i64>) -> PyResult<Self> {
        let places = self.checked(&indices)?;
        enter_core(py, || Ok(Self(Arc::new(self.0.without(&places)))))
    }

    /// Return the query: the last texts that a person wrote, oldest first, joined by a space.
    #[pyo3(signature = (count = 3, *, head = None))]
    fn query(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] count: i64,
        #[pyo3(from_py_with = checked)] head: Option<i64>,
    ) -> PyResult<String> {
        let size = |name: &str, value: i64| {
            let refused = |_| ConfigError::new_err(format!("{name} must be 0 or more, not {value}"));
            usize::try_from(value).map_err(refused)
        };
        let count = size("count", count)?;
        let head = head.map(|head| size("head", head)).transpose()?;
        enter_core(py, || {
            Ok(match head {
                Some(chars) => self.0.query_heads(count, chars),
                None => self.0.query(count),
            })
        })
    }

    /// Return the archived records of each message, or of those named.
    #[pyo3(signature = (indices = None))]
    fn records(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] indices: Option<Vec<i64>>,
    ) -> PyResult<Vec<Rows>> {
        let places = match indices {
            Some(indices) => self.checked(&indices)?,
            None => (0..self.0.views.len() as u32).collect(),
        };
        enter_core(py, || {
            let rows = |&place: &u32| {
                let rows = messages::rows(&self.0.views[place as usize]).into_iter();
                rows.map(|row| (row.role, row.text.into_owned(), row.timestamp, row.metadata)).collect()
            };
            Ok(places.iter().map(rows).collect())
        })
    }

    /// Return for each message the number of earlier ones of the same key.
    #[getter]
    fn ordinals(&self) -> Vec<u32> {
        self.0.ordinals()
    }

    /// Return the reason for each message without archived records.
    fn silences(&self, py: Python<'_>) -> PyResult<Vec<&'static str>> {
        enter_core(py, || {
            let silent = self.0.views.iter().filter(|view| messages::rows(view).is_empty());
            Ok(silent.map(messages::silence).collect())
        })
    }

    /// The messages with thinking that its provider refuses behind anything but what it was written behind.
    #[getter]
    fn signed(&self) -> Vec<usize> {
        self.indices(messages::MessageView::has_bound_thinking)
    }

    /// The user's messages that hold a block of ours beside other things.
    #[getter]
    fn carriers(&self) -> Vec<usize> {
        self.indices(messages::MessageView::carries_recalled)
    }

    /// True if the model waits for tools, or tools have answered and the model has not.
    #[getter]
    fn is_running(&self) -> bool {
        self.0.is_running()
    }

    /// Return the key of a message, and the number of earlier ones of the same key.
    fn occurrence(&self, #[pyo3(from_py_with = checked)] index: i64) -> PyResult<(u64, usize)> {
        let index = self.checked(&[index])?[0] as usize;
        let key = self.0.views[index].key;
        Ok((key, self.0.views[..index].iter().filter(|view| view.key == key).count()))
    }

    /// Find the message of each key with that many of the same key before it.
    fn find(&self, #[pyo3(from_py_with = checked)] occurrences: Vec<(u64, usize)>) -> Vec<Option<usize>> {
        self.0.find(&occurrences)
    }

    /// Return whether a message is the host's own, or the summary of a compaction.
    fn is_preamble(&self, #[pyo3(from_py_with = checked)] index: i64) -> PyResult<bool> {
        let view = &self.0.views[self.checked(&[index])?[0] as usize];
        Ok(view.role == Role::System || view.is_summary)
    }

    /// Return whether a message belongs to a tool group.
    fn in_group(&self, #[pyo3(from_py_with = checked)] index: i64) -> PyResult<bool> {
        Ok(self.0.is_in_group(self.checked(&[index])?[0]))
    }

    /// Return the conversation with some results shortened, each given as message, ordinal, text and tokens.
    fn with_results(&self, #[pyo3(from_py_with = checked)] edits: Vec<(i64, u32, String, u32)>) -> PyResult<Self> {
        let shortened = |(index, ordinal, text, tokens): &(i64, u32, String, u32)| {
            let text = Arc::new(messages::Text::new(text, *tokens));
            Ok(messages::Shortened { message: self.checked(&[*index])?[0], ordinal: *ordinal, text })
        };
        let edits = edits.iter().map(shortened).collect::<PyResult<Vec<_>>>()?;
        Ok(Self(Arc::new(messages::Conversation::clone(&self.0).with_results(&edits))))
    }

    fn __len__(&self) -> usize {
        self.0.views.len()
    }

    fn __repr__(&self) -> String {
        format!("<Conversation of {} {} messages, {} tokens>", self.0.views.len(), self.format(), self.tokens())
    }
}

impl Conversation {
    fn indices(&self, wanted: impl Fn(&messages::MessageView) -> bool) -> Vec<usize> {
        let views = self.0.views.iter().enumerate();
        views.filter(|(_, view)| wanted(view)).map(|(index, _)| index).collect()
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
