//! `memctx.tokenize`, `memctx.estimate_tokens`, `has_topic` and keyed hashes of terms.

use memctx_core::store;
use memctx_core::text::{self, Estimator, Mode, TokenSink};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::boundary::{checked, enter_core, guarded, text_of};

/// Return the terms that search sees in a text.
#[pyfunction]
#[pyo3(signature = (text, mode = "memctx"))]
pub(crate) fn tokenize<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    #[pyo3(from_py_with = checked)] mode: &str,
) -> PyResult<Bound<'py, PyList>> {
    let text = text_of(text)?;
    // Most of the work is making strings, which takes the interpreter, so it is not released in between.
    let strings = guarded(|| {
        let mut strings = Strings { py, strings: Vec::new() };
        text::tokenize(&text, Mode::parse(mode)?, &mut strings);
        Ok(strings.strings)
    })?;
    PyList::new(py, strings)
}

/// Collects tokens as Python strings.
struct Strings<'py> {
    py: Python<'py>,
    strings: Vec<Bound<'py, PyString>>,
}

impl TokenSink for Strings<'_> {
    fn token(&mut self, token: &str) {
        self.strings.push(PyString::new(self.py, token));
    }

    fn start_over(&mut self) {
        self.strings.clear();
    }
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

/// Return the distinct terms of a document as the text index has them, hashed with a key.
#[pyfunction]
pub(crate) fn term_hashes(py: Python<'_>, text: &Bound<'_, PyString>, key: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let (text, key) = (text_of(text)?, key_of(key)?);
    enter_core(py, || Ok(store::term_hashes(&text, key)))
}

/// Return the distinct terms that a search for a query looks up, hashed with a key.
#[pyfunction]
pub(crate) fn query_term_hashes(
    py: Python<'_>,
    query: &Bound<'_, PyString>,
    key: &Bound<'_, PyAny>,
) -> PyResult<Vec<i64>> {
    let (query, key) = (text_of(query)?, key_of(key)?);
    enter_core(py, || Ok(store::query_term_hashes(&query, key)))
}

/// Return a key of 64 bits, which may be given as a signed number.
fn key_of(key: &Bound<'_, PyAny>) -> PyResult<u64> {
    key.extract::<i64>().map(i64::cast_unsigned).or_else(|_| checked(key))
}
