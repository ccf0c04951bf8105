//! `memctx.lowlevel.Explanation`.

use memctx_core::Explanation as Core;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// Explanation of a score: a named number and its operands.
#[pyclass(frozen, eq, module = "memctx._core")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Explanation(pub(crate) Core);

#[pymethods]
impl Explanation {
    /// Name of the number.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The number.
    #[getter]
    fn value(&self) -> f64 {
        self.0.value
    }

    /// The numbers it was made of, in the order they were combined.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.parts.iter().map(|part| Self(part.clone())))
    }

    /// Return the same tree as plain dictionaries, ready for JSON.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        to_dict(py, &self.0)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Explanation {} {}>", self.0.name, self.0.value)
    }
}

fn to_dict<'py>(py: Python<'py>, explanation: &Core) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &*explanation.name)?;
    dict.set_item("value", explanation.value)?;
    let parts: Vec<Bound<'py, PyDict>> =
        explanation.parts.iter().map(|part| to_dict(py, part)).collect::<PyResult<_>>()?;
    dict.set_item("parts", PyList::new(py, parts)?)?;
    Ok(dict)
}
