//! `memctx._core.Replay`: repetition of earlier trims.

use std::sync::{Mutex, PoisonError};

use memctx_core::trim;
use pyo3::prelude::*;

use crate::boundary::{amount_of, checked, enter_core};
use crate::conversation::Conversation;
use crate::numbers::{keys_of, new_indices};
use crate::trim::Trim;

/// Takes the same units out of a conversation turn after turn, at next to no cost while it only gets longer.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Replay(Mutex<trim::Replay>);

#[pymethods]
impl Replay {
    #[new]
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// Repeat the removal of the units of these keys. Return the plan, the rest, and the earlier index of each message
    /// left.
    #[pyo3(signature = (conversation, sticky, *, protected_recent = 6, protect_task = true, pinned = Vec::new()))]
    fn of<'py>(
        &self,
        py: Python<'py>,
        conversation: &Conversation,
        sticky: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = checked)] protected_recent: i64,
        protect_task: bool,
        #[pyo3(from_py_with = checked)] pinned: Vec<i64>,
    ) -> PyResult<(Trim, Conversation, Bound<'py, PyAny>)> {
        let (sticky, pinned) = (keys_of(sticky)?, conversation.checked(&pinned)?);
        let recent = amount_of("protected_recent", protected_recent)?;
        let protected = trim::Protected { recent, task: protect_task, pinned: &pinned };
        let trim::Replayed { plan, kept, indices } = enter_core(py, || {
            let mut replay = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(replay.of(&conversation.0, &sticky, protected))
        })?;
        Ok((Trim(plan), Conversation(kept), new_indices(py, &indices)?))
    }
}
