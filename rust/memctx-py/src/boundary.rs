//! The boundary between Python and the core: releases the interpreter, catches panics, converts arguments and errors.

use std::any::Any;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::Duration;

use memctx_core::{Filter, Result};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::error::{self, ConfigError, MemctxError};

/// Run work of the core with the interpreter released, and turn a fault or a panic into an exception.
pub(crate) fn enter_core<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    to_python(py.detach(|| catch_unwind(AssertUnwindSafe(work))))
}

/// Run work that needs the interpreter at every step.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> PyResult<T> {
    to_python(catch_unwind(AssertUnwindSafe(work)))
}

fn to_python<T>(outcome: thread::Result<Result<T>>) -> PyResult<T> {
    match outcome {
        Ok(outcome) => outcome.map_err(|fault| error::to_python(&fault)),
        Err(panic) => Err(MemctxError::new_err(format!("internal error, please report it: {}", words_of(&*panic)))),
    }
}

fn words_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

const UNUSABLE: &str = "this object is unusable after an earlier internal error";

/// Lock for reading. To be called inside [`enter_core`] only, so that no thread waits while it holds the interpreter.
pub(crate) fn reading<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().expect(UNUSABLE)
}

/// Lock for writing, likewise.
pub(crate) fn writing<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().expect(UNUSABLE)
}

/// Extract an argument. What has the right type and cannot be held, such as an integer beyond 64 bits, a number beyond
/// a float or a lone surrogate in a name, is a `ConfigError`; Python itself has another exception for each.
pub(crate) fn checked<'a, 'py, T>(value: &'a Bound<'py, PyAny>) -> PyResult<T>
where
    T: FromPyObject<'a, 'py>,
    T::Error: Into<PyErr>,
{
    value.extract::<T>().map_err(|fault| unfit(value.py(), fault.into()))
}

/// Translate an exception of a conversion: a wrong type, or a value that cannot be used.
pub(crate) fn unfit(py: Python<'_>, fault: PyErr) -> PyErr {
    if fault.is_instance_of::<PyOverflowError>(py) || fault.is_instance_of::<PyValueError>(py) {
        if fault.is_instance_of::<MemctxError>(py) {
            return fault;
        }
        let why = if fault.is_instance_of::<PyUnicodeError>(py) {
            "a text holds half of a surrogate pair; expected valid Unicode".to_owned()
        } else if fault.is_instance_of::<PyOverflowError>(py) {
            "a number is beyond 64 bits; expected one that fits".to_owned()
        } else {
            fault.value(py).to_string()
        };
        return ConfigError::new_err(format!("an argument has a value that cannot be used: {why}"));
    }
    fault
}

/// Return a text as the core reads it; each lone surrogate, which no UTF-8 can hold, becomes U+FFFD.
pub(crate) fn text_of<'a>(text: &'a Bound<'_, PyString>) -> PyResult<Cow<'a, str>> {
    if let Ok(text) = text.to_str() {
        return Ok(Cow::Borrowed(text));
    }
    let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
    let mut bytes = encoded.cast::<PyBytes>()?.as_bytes().to_vec();
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(2).position(|pair| pair[0] == 0xED && pair[1] >= 0xA0) {
        // A surrogate takes as many bytes as U+FFFD.
        bytes[at + found..at + found + 3].copy_from_slice("\u{FFFD}".as_bytes());
        at += found + 3;
    }
    Ok(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Return the texts of an iterable.
pub(crate) fn texts_of<'py>(texts: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyString>>> {
    if texts.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("expected several strings, got one; put it in a list"));
    }
    texts.try_iter()?.map(|text| Ok(text?.cast_into::<PyString>()?)).collect()
}

/// Return the texts of a list.
pub(crate) fn all_of<'a>(texts: &'a [Bound<'_, PyString>]) -> PyResult<Vec<Cow<'a, str>>> {
    texts.iter().map(text_of).collect()
}

/// Return a session id. No UTF-8 can hold a lone surrogate, and replacing it would make two sessions one.
pub(crate) fn session_of<'a>(id: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    let refused = |_| ConfigError::new_err("session_id must be valid Unicode, without lone surrogates");
    id.to_str().map_err(refused)
}

/// Return a duration given in seconds.
pub(crate) fn seconds(name: &str, value: f64) -> PyResult<Duration> {
    let refused = |_| ConfigError::new_err(format!("{name} must be 0 or more seconds, not {value}"));
    Duration::try_from_secs_f64(value).map_err(refused)
}

/// Return a duration given in milliseconds.
pub(crate) fn milliseconds(name: &str, value: f64) -> PyResult<Duration> {
    let refused = |_| ConfigError::new_err(format!("{name} must be 0 or more milliseconds, not {value}"));
    Duration::try_from_secs_f64(value / 1000.0).map_err(refused)
}

/// Ids, which must be valid Unicode since they are compared and stored.
pub(crate) fn ids_of<'a>(ids: &'a [Bound<'_, PyString>]) -> PyResult<Vec<&'a str>> {
    ids.iter().map(|id| valid(id)).collect()
}

/// Return a text that must be valid Unicode.
pub(crate) fn valid<'a>(text: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    text.to_str().map_err(|fault| unfit(text.py(), fault))
}

/// Return the number of results asked for.
pub(crate) fn count_of(k: i64) -> PyResult<usize> {
    usize::try_from(k).map_err(|_| ConfigError::new_err(format!("k must be 0 or more, not {k}")))
}

/// Return a number of things, of tokens or characters say.
pub(crate) fn amount_of<T: TryFrom<i64>>(what: &str, amount: i64) -> PyResult<T> {
    T::try_from(amount).map_err(|_| ConfigError::new_err(format!("{what} must be 0 or more, not {amount}")))
}

/// Return the length of vectors that was asked for; the core checks all but the sign.
pub(crate) fn dim_of(dim: i64, most: usize) -> PyResult<usize> {
    usize::try_from(dim).map_err(|_| ConfigError::new_err(format!("dim must be between 1 and {most}, not {dim}")))
}

/// The `group` and `within` of a search, kept alive for the call.
pub(crate) struct Limits<'py> {
    group: Option<Bound<'py, PyString>>,
    within: Option<Vec<Bound<'py, PyString>>>,
}

impl<'py> Limits<'py> {
    pub(crate) fn new(group: Option<Bound<'py, PyString>>, within: Option<&Bound<'py, PyAny>>) -> PyResult<Self> {
        Ok(Self { group, within: within.map(texts_of).transpose()? })
    }

    /// Call `search` with the filter they make.
    pub(crate) fn apply<T>(&self, search: impl FnOnce(Filter<'_>) -> PyResult<T>) -> PyResult<T> {
        let group = self.group.as_ref().map(valid).transpose()?;
        let within = self.within.as_deref().map(ids_of).transpose()?;
        search(Filter { group, within: within.as_deref() })
    }
}
