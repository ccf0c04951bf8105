//! Columns of keys, links and indices across the boundary, as `array.array`: in and out by one copy.
//!
//! Every turn hands some for all messages of the conversation back and forth, and a list would be an object for each.

use bytemuck::{NoUninit, cast_slice};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyType};

/// Create a new array of keys or links.
pub(crate) fn new_keys<'py>(py: Python<'py>, keys: &[u64]) -> PyResult<Bound<'py, PyAny>> {
    new_array(py, "Q", keys)
}

/// Create an array of indices into a list. They are signed, so that -1 can stand for none.
pub(crate) fn new_indices<'py>(py: Python<'py>, indices: &[u32]) -> PyResult<Bound<'py, PyAny>> {
    new_array(py, "i", indices)
}

fn new_array<'py, T: NoUninit>(py: Python<'py>, kind: &str, numbers: &[T]) -> PyResult<Bound<'py, PyAny>> {
    static ARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    ARRAY.import(py, "array", "array")?.call1((kind, PyBytes::new(py, cast_slice(numbers))))
}

/// Return the keys of an array or of any other sequence.
pub(crate) fn keys_of(source: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    if !source.is_exact_instance_of::<PyList>()
        && let Ok(buffer) = PyBuffer::<u64>::get(source)
    {
        return buffer.to_vec(source.py());
    }
    source.extract()
}

/// Return the items of a sequence at some indices.
#[pyfunction]
pub(crate) fn items_at<'py>(items: &Bound<'py, PyAny>, indices: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let py = items.py();
    let indices = match PyBuffer::<i32>::get(indices) {
        Ok(buffer) => buffer.to_vec(py)?,
        Err(_) => indices.extract()?,
    };
    let index = |&index: &i32| usize::try_from(index).map_err(|_| PyIndexError::new_err(format!("place {index}")));
    let indices = indices.iter().map(index).collect::<PyResult<Vec<_>>>()?;
    let list = items.cast::<PyList>().ok();
    let item = |index: usize| list.map_or_else(|| items.get_item(index), |list| list.get_item(index));
    PyList::new(py, indices.into_iter().map(item).collect::<PyResult<Vec<_>>>()?)
}
