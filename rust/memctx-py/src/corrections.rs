//! `memctx._core.Corrections`: facts that a conversation corrects.

use std::sync::{Mutex, PoisonError};

use memctx_core::facts::{self, Stated};
use pyo3::prelude::*;

use crate::boundary::{checked, enter_core};
use crate::conversation::Conversation;

/// Finds the facts that a conversation corrects, at next to no cost while it only gets longer.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Corrections(Mutex<facts::Corrections>);

#[pymethods]
impl Corrections {
    #[new]
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// Return for each fact whether the conversation contradicts it after the messages that state it.
    fn find(
        &self,
        py: Python<'_>,
        conversation: &Conversation,
        #[pyo3(from_py_with = checked)] facts: Vec<(String, Vec<String>)>,
    ) -> PyResult<Vec<bool>> {
        enter_core(py, || {
            let facts: Vec<Stated<'_>> = facts
                .iter()
                .map(|(content, sources)| Stated { content, sources: sources.iter().map(String::as_str).collect() })
                .collect();
            let mut corrections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(corrections.find(&conversation.0, &facts))
        })
    }

    /// Return for each stored content whether the conversation takes back something it says, later on: True if that is
    /// all of it, None if nothing.
    fn take_back(
        &self,
        py: Python<'_>,
        conversation: &Conversation,
        #[pyo3(from_py_with = checked)] contents: Vec<String>,
    ) -> PyResult<Vec<Option<bool>>> {
        enter_core(py, || {
            let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
            let mut corrections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(corrections.take_back(&conversation.0, &contents))
        })
    }
}
