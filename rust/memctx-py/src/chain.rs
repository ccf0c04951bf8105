//! Chains of sent messages.

use memctx_core::messages;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{checked, text_of};
use crate::numbers::{keys_of, new_keys};

/// Return a link for each key, made of it and of all keys before it.
#[pyfunction]
#[pyo3(signature = (keys, *, start = 0))]
pub(crate) fn chain<'py>(
    keys: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = checked)] start: u64,
) -> PyResult<Bound<'py, PyAny>> {
    new_keys(keys.py(), &messages::chain(start, keys_of(keys)?))
}

/// Return the chain of some keys, and the indices of the signed ones that do not follow the link given with them.
#[pyfunction]
#[pyo3(signature = (keys, signed, *, strip))]
pub(crate) fn bind<'py>(
    keys: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = checked)] signed: Vec<(u32, u64)>,
    strip: bool,
) -> PyResult<(Bound<'py, PyAny>, Vec<u32>)> {
    let (links, stale) = messages::bind(&keys_of(keys)?, &signed, strip);
    Ok((new_keys(keys.py(), &links)?, stale))
}

/// Return the key of a text.
#[pyfunction]
pub(crate) fn text_key(text: &Bound<'_, PyString>) -> PyResult<u64> {
    Ok(messages::key_of(&text_of(text)?))
}
