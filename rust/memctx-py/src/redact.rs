//! `memctx.Redactor` and `memctx._core.Masked`.

use std::borrow::Cow;

use memctx_core::redact::{Redaction, Redactor as Core};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};

use crate::boundary::{checked, enter_core, text_of};

/// Finds secrets in a text and masks them.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Redactor(Core);

#[pymethods]
impl Redactor {
    #[new]
    #[pyo3(signature = (mode = "mask", *, pii = false, patterns = None))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] mode: &str,
        pii: bool,
        patterns: Option<&Bound<'_, PyMapping>>,
    ) -> PyResult<Self> {
        let patterns = match patterns {
            Some(patterns) => {
                patterns.items()?.iter().map(|item| checked(&item)).collect::<PyResult<Vec<(String, String)>>>()?
            }
            None => Vec::new(),
        };
        enter_core(py, || Core::new(Redaction::parse(mode)?, pii, &patterns)).map(Self)
    }

    /// Mask every secret in a text.
    fn mask(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<Masked> {
        let read = text_of(text)?;
        let masked = enter_core(py, || Ok(self.0.mask(&read)))?;
        let text = match (&masked.text, &read) {
            (Cow::Borrowed(_), Cow::Borrowed(_)) => text.clone(),
            (changed, _) => PyString::new(py, changed),
        };
        Ok(Masked { text: text.unbind(), kinds: masked.kinds })
    }
}

/// A text without its secrets.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Masked {
    text: Py<PyString>,
    kinds: Vec<(Box<str>, u32)>,
}

#[pymethods]
impl Masked {
    /// The text, each secret replaced by its mask.
    #[getter]
    fn text(&self, py: Python<'_>) -> Py<PyString> {
        self.text.clone_ref(py)
    }

    /// Number of masked secrets of each kind, ordered by the name of the kind.
    #[getter]
    fn kinds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kinds = PyDict::new(py);
        for (kind, count) in &self.kinds {
            kinds.set_item(&**kind, count)?;
        }
        Ok(kinds)
    }

    fn __repr__(&self) -> String {
        let kinds: Vec<String> = self.kinds.iter().map(|(kind, count)| format!("{kind:?}: {count}")).collect();
        format!("Masked(kinds={{{}}})", kinds.join(", "))
    }
}
