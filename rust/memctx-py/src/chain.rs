//! Chains of what was sent.

use memctx_core::scan;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::text_of;

/// A link for each key, made of it and of all keys before it.
#[pyfunction]
#[pyo3(signature = (keys, *, start = 0))]
pub(crate) fn chain(keys: Vec<u64>, start: u64) -> Vec<u64> {
    scan::chain(start, keys)
}

/// The chain of some keys, and the places of the signed ones that do not stand behind the link given with them.
#[pyfunction]
#[pyo3(signature = (keys, signed, *, strip))]
pub(crate) fn bind(keys: Vec<u64>, signed: Vec<(u32, u64)>, strip: bool) -> (Vec<u64>, Vec<u32>) {
    scan::bind(&keys, &signed, strip)
}

/// The key of a text.
#[pyfunction]
pub(crate) fn text_key(text: &Bound<'_, PyString>) -> PyResult<u64> {
    Ok(scan::key_of(&text_of(text)?))
}
