//! `memctx.tokenize` and `memctx.estimate_tokens`.

use memctx_core::text::{Estimator, Mode, for_each_token};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::boundary::{enter_core, text_of};

/// The terms that search sees in a text.
#[pyfunction]
#[pyo3(signature = (text, mode = "memctx"))]
pub(crate) fn tokenize<'py>(py: Python<'py>, text: &Bound<'py, PyString>, mode: &str) -> PyResult<Bound<'py, PyList>> {
    let text = text_of(text)?;
    let tokens = enter_core(py, || {
        let mut tokens = Tokens::default();
        for_each_token(&text, Mode::parse(mode)?, |token| tokens.push(token));
        Ok(tokens)
    })?;
    PyList::new(py, tokens.iter().map(|token| PyString::new(py, token)))
}

/// About how many model tokens a text costs, never less than 1.
#[pyfunction]
#[pyo3(signature = (text, estimator = "utf16"))]
pub(crate) fn estimate_tokens(py: Python<'_>, text: &Bound<'_, PyString>, estimator: &str) -> PyResult<usize> {
    let text = text_of(text)?;
    enter_core(py, || Ok(Estimator::parse(estimator)?.estimate(&text)))
}

/// Many tokens in two allocations.
#[derive(Default)]
struct Tokens {
    joined: String,
    ends: Vec<usize>,
}

impl Tokens {
    fn push(&mut self, token: &str) {
        self.joined.push_str(token);
        self.ends.push(self.joined.len());
    }

    fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.joined[std::mem::replace(&mut start, end)..end])
    }
}
