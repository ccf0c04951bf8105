//! `memctx.tokenize`, `memctx.estimate_tokens` and `has_topic`.

use memctx_core::text::{self, Estimator, Mode};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::boundary::{checked, enter_core, guarded, text_of};
use crate::cache::string_builder::build_strings;

/// Return the terms that search sees in a text.
#[pyfunction]
#[pyo3(signature = (text, mode = "memctx"))]
pub(crate) fn tokenize<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    #[pyo3(from_py_with = checked)] mode: &str,
) -> PyResult<Bound<'py, PyList>> {
    let text = text_of(text)?;
    // Most of the work is finding and making strings, which takes the interpreter, so it is not released in between.
    guarded(|| Ok(build_strings(py, &text, Mode::parse(mode)?)))?
}

/// Estimate the model tokens of a text, never less than 1.
#[pyfunction]
#[pyo3(signature = (text, estimator = "utf16"))]
pub(crate) fn estimate_tokens(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    #[pyo3(from_py_with = checked)] estimator: &str,
) -> PyResult<usize> {
    let text = text_of(text)?;
    enter_core(py, || Ok(Estimator::parse(estimator)?.estimate(&text)))
}

/// Return whether a text is about something.
#[pyfunction]
pub(crate) fn has_topic(py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<bool> {
    let text = text_of(text)?;
    enter_core(py, || Ok(text::has_topic(&text)))
}
