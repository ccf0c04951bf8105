//! `memctx._core.plan_trim`: the units that leave a conversation.

use std::sync::Arc;

use memctx_core::trim::{self, Request};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::boundary::{amount_of, checked, enter_core, text_of};
use crate::conversation::Conversation;
use crate::error::ConfigError;

/// Return the messages of the units that answer a query best, of those with one of some messages; best unit first.
#[pyfunction]
pub(crate) fn most_relevant(
    py: Python<'_>,
    conversation: &Conversation,
    #[pyo3(from_py_with = checked)] indices: Vec<i64>,
    query: &Bound<'_, PyString>,
    #[pyo3(from_py_with = checked)] limit: i64,
) -> PyResult<Vec<u32>> {
    let (places, query, limit) = (conversation.checked(&indices)?, text_of(query)?, amount_of("limit", limit)?);
    enter_core(py, || Ok(trim::most_relevant(&conversation.0, &places, &query, limit)))
}

/// Plan which units a trim removes from a conversation.
#[pyfunction]
#[pyo3(signature = (
    conversation, query, *, limit, target = None, ceiling = None, protected_recent = 6, protect_task = true,
    spare_people = false, pinned = Vec::new(), sticky = Vec::new(), costs = None
))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn plan_trim(
    py: Python<'_>,
    conversation: &Bound<'_, Conversation>,
    query: &Bound<'_, PyString>,
    #[pyo3(from_py_with = checked)] limit: i64,
    #[pyo3(from_py_with = checked)] target: Option<i64>,
    #[pyo3(from_py_with = checked)] ceiling: Option<i64>,
    #[pyo3(from_py_with = checked)] protected_recent: i64,
    protect_task: bool,
    spare_people: bool,
    #[pyo3(from_py_with = checked)] pinned: Vec<i64>,
    #[pyo3(from_py_with = checked)] sticky: Vec<u64>,
    #[pyo3(from_py_with = checked)] costs: Option<Vec<i64>>,
) -> PyResult<Trim> {
    let conversation = conversation.get();
    let (query, pinned) = (text_of(query)?, conversation.checked(&pinned)?);
    let limit = amount_of("limit", limit)?;
    let target = target.map_or(Ok(limit), |target| amount_of("target", target))?;
    if target > limit {
        return Err(ConfigError::new_err(format!("target must be at most the limit {limit}, not {target}")));
    }
    let costs = costs.map(|costs| costs_of(&costs, conversation.0.views.len())).transpose()?;
    let request = Request {
        query: &query,
        limit,
        target,
        ceiling: ceiling.map(|ceiling| amount_of("ceiling", ceiling)).transpose()?,
        protected_recent: amount_of("protected_recent", protected_recent)?,
        protects_task: protect_task,
        spares_people: spare_people,
        pinned: &pinned,
        sticky: &sticky,
        costs: costs.as_deref(),
    };
    enter_core(py, || Ok(Trim(Arc::new(trim::plan(&conversation.0, &request)))))
}

fn costs_of(costs: &[i64], count: usize) -> PyResult<Vec<u32>> {
    if costs.len() != count {
        let found = costs.len();
        return Err(ConfigError::new_err(format!(
            "costs must have one item for each of {count} messages, not {found}"
        )));
    }
    costs.iter().map(|&cost| amount_of("a cost", cost)).collect()
}

/// Plan of a trim.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Trim(pub(crate) Arc<trim::Plan>);

#[pymethods]
impl Trim {
    /// The units that leave, in the order that was decided.
    #[getter]
    fn removed(&self) -> Vec<Removed> {
        self.0.removed.iter().cloned().map(Removed).collect()
    }

    /// The keys of the units that leave.
    #[getter]
    fn removed_keys(&self) -> Vec<u64> {
        self.0.removed.iter().map(|removed| removed.key).collect()
    }

    /// The messages that leave, in order.
    #[getter]
    fn removed_messages(&self) -> Vec<u32> {
        self.0.removed_messages()
    }

    /// The messages that had to stay, and why; none if nothing had to leave.
    #[getter]
    fn protected(&self) -> Vec<(u32, &'static str)> {
        self.0.protected.iter().map(|(index, reason)| (*index, reason.name())).collect()
    }

    /// Tokens of the conversation.
    #[getter]
    fn tokens_before(&self) -> u64 {
        self.0.tokens_before
    }

    /// Tokens left after the trim.
    #[getter]
    fn tokens_after(&self) -> u64 {
        self.0.tokens_after
    }

    /// True if a trim is due but waits until the tools have finished.
    #[getter]
    fn is_deferred(&self) -> bool {
        self.0.is_deferred
    }

    /// Number of units trimmed before that are still there.
    #[getter]
    fn recognized(&self) -> usize {
        self.0.recognized
    }

    /// Return the number of units removed.
    fn __len__(&self) -> usize {
        self.0.removed.len()
    }

    fn __repr__(&self) -> String {
        let trim::Plan { removed, tokens_before, tokens_after, .. } = &*self.0;
        format!("<Trim of {} units, {tokens_before} to {tokens_after} tokens>", removed.len())
    }
}

/// A unit that leaves.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Removed(trim::Removed);

#[pymethods]
impl Removed {
    /// Index among the units.
    #[getter]
    fn unit(&self) -> u32 {
        self.0.unit
    }

    /// Its key.
    #[getter]
    fn key(&self) -> u64 {
        self.0.key
    }

    /// Indices of its messages.
    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &*self.0.messages)
    }

    /// Tokens of the unit.
    #[getter]
    fn tokens(&self) -> u64 {
        self.0.tokens
    }

    /// Relevance to the query.
    #[getter]
    fn score(&self) -> f64 {
        self.0.score
    }

    /// Reason for the removal.
    #[getter]
    fn layer(&self) -> &'static str {
        self.0.layer.name()
    }

    /// The reason as a sentence.
    #[getter]
    fn reason(&self) -> &'static str {
        self.0.layer.reason()
    }

    fn __repr__(&self) -> String {
        let trim::Removed { messages, tokens, score, .. } = &self.0;
        format!("Removed(messages={messages:?}, tokens={tokens}, score={score:.6}, layer={:?})", self.layer())
    }
}
