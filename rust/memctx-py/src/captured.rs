//! `memctx._core.Captured`: the messages of a session that are stored.

use std::sync::{Mutex, MutexGuard, PoisonError};

use memctx_core::store;
use pyo3::prelude::*;

use crate::boundary::{checked, enter_core};
use crate::conversation::Conversation;
use crate::error::ConfigError;

/// Messages that are stored, by their keys, with the segments they became.
#[pyclass(frozen, module = "memctx._core")]
#[derive(Default)]
pub(crate) struct Captured(Mutex<store::Captured>);

impl Captured {
    fn held(&self) -> MutexGuard<'_, store::Captured> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Note messages with the digests of their segments.
    pub(crate) fn note_all(&self, stored: impl IntoIterator<Item = (u64, Vec<u64>)>) {
        let mut held = self.held();
        for (message, digests) in stored {
            held.note(message, digests);
        }
    }
}

/// Segments that the model sees in messages.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct VisibleSegments(pub(crate) store::Digests);

#[pymethods]
impl Captured {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Return the indices of the messages that are not stored yet.
    fn missing(&self, py: Python<'_>, conversation: &Conversation) -> PyResult<Vec<u32>> {
        enter_core(py, || Ok(self.held().missing(conversation.0.views.iter().map(|view| view.key))))
    }

    /// Return the segments of the messages that are not hidden, by ascending indices, for a search to leave out.
    fn visible(
        &self,
        py: Python<'_>,
        conversation: &Conversation,
        #[pyo3(from_py_with = checked)] hidden: Vec<u32>,
    ) -> PyResult<VisibleSegments> {
        enter_core(py, || {
            let mut hidden = hidden.iter().copied().peekable();
            let shown = (0..).zip(&conversation.0.views).filter(|(index, _)| hidden.next_if_eq(index).is_none());
            Ok(VisibleSegments(self.held().segments_of(shown.map(|(_, view)| view.key))))
        })
    }

    /// Note that some messages are stored as segments of these digests.
    fn note(
        &self,
        py: Python<'_>,
        conversation: &Conversation,
        #[pyo3(from_py_with = checked)] indices: Vec<i64>,
        #[pyo3(from_py_with = checked)] digests: Vec<Vec<u64>>,
    ) -> PyResult<()> {
        let places = conversation.checked(&indices)?;
        if places.len() != digests.len() {
            return Err(ConfigError::new_err(format!(
                "digests must be a list for each of {} messages, not {}",
                places.len(),
                digests.len()
            )));
        }
        enter_core(py, || {
            let keys = places.iter().map(|&place| conversation.0.views[place as usize].key);
            self.note_all(keys.zip(digests));
            Ok(())
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        enter_core(py, || Ok(self.held().len()))
    }
}
