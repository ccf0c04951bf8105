//! Chains of what was sent.

use memctx_core::scan;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::text_of;
use crate::numbers::{keys_of, new_keys};

/// A link for each key, made of it and of all keys before it.
#[pyfunction]
#[pyo3(signature = (keys, *, start = 0))]
pub(crate) fn chain<'py>(keys: &Bound<'py, PyAny>, start: u64) -> PyResult<Bound<'py, PyAny>> {
    new_keys(keys.py(), &scan::chain(start, keys_of(keys)?))
}

/// The chain of some keys, and the places of the signed ones that do not stand behind the link given with them.
#[pyfunction]
#[pyo3(signature = (keys, signed, *, strip))]
pub(crate) fn bind<'py>(
    keys: &Bound<'py, PyAny>,
    signed: Vec<(u32, u64)>,
    strip: bool,
) -> PyResult<(Bound<'py, PyAny>, Vec<u32>)> {
    let (links, stale) = scan::bind(&keys_of(keys)?, &signed, strip);
    Ok((new_keys(keys.py(), &links)?, stale))
}

/// The key of a text.
#[pyfunction]
pub(crate) fn text_key(text: &Bound<'_, PyString>) -> PyResult<u64> {
    Ok(scan::key_of(&text_of(text)?))
}
