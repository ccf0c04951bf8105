//! `memctx._core.plan_prune`: the form of each tool result.

use std::borrow::Cow;
use std::collections::HashMap;

use memctx_core::prune::{self, Cut, Form, Globs, Mode, Note, Overflow, Request};
use memctx_core::text::Estimator;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{amount_of, checked, enter_core, guarded, text_of, texts_of};
use crate::conversation::Conversation;
use crate::error::ConfigError;

/// `memctx.config.Pruning`, read once per call.
#[derive(FromPyObject)]
pub(crate) struct Pruning<'py> {
    mode: Bound<'py, PyString>,
    #[pyo3(from_py_with = checked)]
    keep_last_assistants: i64,
    #[pyo3(from_py_with = checked)]
    soft_trim_ratio: f64,
    #[pyo3(from_py_with = checked)]
    hard_clear_ratio: f64,
    #[pyo3(from_py_with = checked)]
    min_prunable_tool_chars: i64,
    #[pyo3(from_py_with = checked)]
    soft_trim_max_chars: i64,
    #[pyo3(from_py_with = checked)]
    soft_trim_head_chars: i64,
    #[pyo3(from_py_with = checked)]
    soft_trim_tail_chars: i64,
    hard_clear: bool,
    placeholder: Bound<'py, PyString>,
    allow: Bound<'py, PyAny>,
    deny: Bound<'py, PyAny>,
}

/// Plan which results are sent shortened or cleared.
#[pyfunction]
#[pyo3(signature = (
    conversation, pruning, *, context_window, sticky = HashMap::new(), is_cold = false, overflow = None,
    estimator = "script"
))]
#[allow(clippy::too_many_arguments)] // named in Python
pub(crate) fn plan_prune(
    py: Python<'_>,
    conversation: &Bound<'_, Conversation>,
    pruning: Pruning<'_>,
    #[pyo3(from_py_with = checked)] context_window: i64,
    sticky: HashMap<u64, String>,
    is_cold: bool,
    overflow: Option<(u64, u64, Vec<u32>)>,
    #[pyo3(from_py_with = checked)] estimator: &str,
) -> PyResult<Vec<Pruned>> {
    if context_window <= 0 {
        return Err(ConfigError::new_err(format!("context_window must be above 0, not {context_window}")));
    }
    let (mode, placeholder) = (text_of(&pruning.mode)?, text_of(&pruning.placeholder)?.into_owned());
    let (mode, estimator, sticky) = guarded(|| {
        let sticky = sticky.iter().map(|(&key, form)| Ok((key, Form::parse(form)?)));
        Ok((Mode::parse(&mode)?, Estimator::parse(estimator)?, sticky.collect::<memctx_core::Result<_>>()?))
    })?;
    let request = Request {
        mode,
        context_window: context_window.unsigned_abs(),
        keep_last_assistants: usize::try_from(pruning.keep_last_assistants).unwrap_or(0),
        soft_trim_ratio: share("soft_trim_ratio", pruning.soft_trim_ratio)?,
        hard_clear_ratio: share("hard_clear_ratio", pruning.hard_clear_ratio)?,
        min_prunable_tool_chars: amount_of("min_prunable_tool_chars", pruning.min_prunable_tool_chars)?,
        cut: Cut {
            max_chars: amount_of("soft_trim_max_chars", pruning.soft_trim_max_chars)?,
            head_chars: amount_of("soft_trim_head_chars", pruning.soft_trim_head_chars)?,
            tail_chars: amount_of("soft_trim_tail_chars", pruning.soft_trim_tail_chars)?,
        },
        hard_clear: pruning.hard_clear,
        placeholder,
        tools: Globs::new(patterns(&pruning.allow)?, patterns(&pruning.deny)?),
        sticky,
        is_cold,
        overflow: overflow.map(|(above_target, above_limit, removed)| Overflow { above_target, above_limit, removed }),
        estimator,
    };
    let conversation = &conversation.get().0;
    enter_core(py, || Ok(prune::plan(conversation, &request).into_iter().map(Pruned).collect()))
}

fn share(what: &str, share: f64) -> PyResult<f64> {
    if share >= 0.0 {
        return Ok(share);
    }
    Err(ConfigError::new_err(format!("{what} must be a share of the window, 0 or more, not {share}")))
}

fn patterns(patterns: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    texts_of(patterns)?.iter().map(|pattern| Ok(text_of(pattern)?.into_owned())).collect()
}

/// Return the shortened text; None if it stays whole.
#[pyfunction]
pub(crate) fn shorten(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    #[pyo3(from_py_with = checked)] max_chars: i64,
    #[pyo3(from_py_with = checked)] head_chars: i64,
    #[pyo3(from_py_with = checked)] tail_chars: i64,
) -> PyResult<Option<String>> {
    let (text, cut) = (text_of(text)?, cut_of(max_chars, head_chars, tail_chars)?);
    enter_core(py, || Ok(cut.apply(&text, Note::BeforeFirstSend)))
}

/// Return the results that are too long: the indices of their messages, their ordinals, what the tool gave, and what is
/// sent of it.
#[pyfunction]
pub(crate) fn shorten_results(
    py: Python<'_>,
    conversation: &Bound<'_, Conversation>,
    #[pyo3(from_py_with = checked)] max_chars: i64,
    #[pyo3(from_py_with = checked)] head_chars: i64,
    #[pyo3(from_py_with = checked)] tail_chars: i64,
) -> PyResult<Vec<(u32, u32, String, String)>> {
    let (conversation, cut) = (&conversation.get().0, cut_of(max_chars, head_chars, tail_chars)?);
    let row = |short: prune::Shortened| (short.message, short.ordinal, short.whole.body().to_owned(), short.text);
    enter_core(py, || Ok(prune::truncate_results(conversation, cut).into_iter().map(row).collect()))
}

fn cut_of(max_chars: i64, head_chars: i64, tail_chars: i64) -> PyResult<Cut> {
    Ok(Cut {
        max_chars: amount_of("max_chars", max_chars)?,
        head_chars: amount_of("head_chars", head_chars)?,
        tail_chars: amount_of("tail_chars", tail_chars)?,
    })
}

/// A result that is sent in another form.
#[pyclass(frozen, eq, module = "memctx._core")]
#[derive(PartialEq)]
pub(crate) struct Pruned(prune::Pruned);

#[pymethods]
impl Pruned {
    /// Index of its message.
    #[getter]
    fn message(&self) -> u32 {
        self.0.message
    }

    /// Index among the message's results.
    #[getter]
    fn ordinal(&self) -> u32 {
        self.0.ordinal
    }

    /// A hash of its call's id and its text.
    #[getter]
    fn key(&self) -> u64 {
        self.0.key
    }

    /// Form of the result.
    #[getter]
    fn form(&self) -> Cow<'static, str> {
        self.0.form.name()
    }

    /// Text that is sent.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// Tokens before.
    #[getter]
    fn tokens_before(&self) -> u32 {
        self.0.tokens_before
    }

    /// Tokens after.
    #[getter]
    fn tokens_after(&self) -> u32 {
        self.0.tokens_after
    }

    fn __repr__(&self) -> String {
        let prune::Pruned { message, ordinal, tokens_before, tokens_after, .. } = &self.0;
        let form = self.form();
        format!("Pruned(message={message}, ordinal={ordinal}, form={form:?}, tokens={tokens_before}->{tokens_after})")
    }
}
