//! Time stamps of messages.

use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyType};

use super::node::{Node, first};

/// A number below this is taken for seconds: as milliseconds it would be before 1974.
const FIRST_MILLISECOND: f64 = 1e11;
/// The end of time in JavaScript, which shares our files.
const LAST_MILLISECOND: f64 = 8.64e15;

/// Return the time of a message in milliseconds since 1970; UTC where it names no zone.
pub(crate) fn timestamp(message: Node<'_, '_>) -> PyResult<Option<f64>> {
    let Some(value) = first!(message, "timestamp", "created_at", "createdAt") else { return Ok(None) };
    let found = if value.is_instance_of::<PyBool>() {
        None
    } else if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        value.extract::<f64>().ok().map(|number| if number < FIRST_MILLISECOND { number * 1000.0 } else { number })
    } else {
        match milliseconds(&value) {
            Err(error) if error.is_instance_of::<PyException>(value.py()) => None,
            found => found?,
        }
    };
    Ok(found.filter(|&moment| moment > 0.0 && moment <= LAST_MILLISECOND))
}

fn milliseconds(value: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    static DATETIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static UTC: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = value.py();
    let datetime = DATETIME.import(py, "datetime", "datetime")?;
    let moment = if value.is_instance_of::<PyString>() {
        datetime.call_method1(intern!(py, "fromisoformat"), (value,))?
    } else if value.is_instance(datetime)? {
        value.clone()
    } else {
        return Ok(None);
    };
    let zoned = if moment.getattr(intern!(py, "tzinfo"))?.is_none() {
        let utc = UTC.get_or_try_init(py, || Ok::<_, PyErr>(py.import("datetime")?.getattr("UTC")?.unbind()))?;
        let zone = PyDict::new(py);
        zone.set_item(intern!(py, "tzinfo"), utc)?;
        moment.call_method(intern!(py, "replace"), (), Some(&zone))?
    } else {
        moment
    };
    Ok(Some(zoned.call_method0(intern!(py, "timestamp"))?.extract::<f64>()? * 1000.0))
}
