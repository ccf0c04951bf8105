//! Python values as compact JSON.

use std::fmt::Write;

use memctx_core::messages::quote;
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyIterator, PyList, PyMapping, PyString, PyTuple,
};

use crate::boundary::text_of;

/// Lists in lists go this deep; a thread's stack is small.
const DEEPEST: usize = 200;
/// No host sends more in one call.
const LONGEST: usize = 64 << 20;

/// Write a value as compact JSON; text stays as it came, for it often is JSON already.
pub(super) fn compact(value: &Bound<'_, PyAny>, into: &mut String) -> PyResult<()> {
    if let Ok(text) = value.cast::<PyString>() {
        into.push_str(&text_of(text)?);
        return Ok(());
    }
    let start = into.len();
    let mut writer = Writer { into, path: Vec::new(), most: start + LONGEST };
    match writer.value(value) {
        Err(error) if error.is_instance_of::<PyException>(value.py()) => {
            into.truncate(start);
            let kind = value.get_type().name()?;
            // Writing to a string cannot fail.
            let _ = write!(into, "[{kind} that cannot be written as JSON]");
            Ok(())
        }
        outcome => outcome,
    }
}

struct Writer<'a> {
    into: &'a mut String,
    /// The containers that are being written, by their addresses.
    path: Vec<usize>,
    most: usize,
}

impl Writer<'_> {
    fn value(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(text) = value.cast::<PyString>() {
            quote(&text_of(text)?, self.into);
        } else if value.is_none() {
            self.into.push_str("null");
        } else if let Ok(flag) = value.cast::<PyBool>() {
            self.into.push_str(if flag.is_true() { "true" } else { "false" });
        } else if let Ok(number) = value.cast::<PyInt>() {
            self.integer(number)?;
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.number(number)?;
        } else {
            return self.container(value);
        }
        Ok(())
    }

    fn container(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let address = value.as_ptr() as usize;
        if self.path.len() == DEEPEST || self.path.contains(&address) || self.into.len() > self.most {
            return Err(PyValueError::new_err("too deep, endless or too long"));
        }
        self.path.push(address);
        if let Ok(dict) = value.cast::<PyDict>() {
            self.members(dict)?;
        } else if let Ok(list) = value.cast::<PyList>() {
            self.items(list.iter())?;
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.items(tuple.iter())?;
        } else {
            self.value(&plain(value)?)?;
        }
        self.path.pop();
        Ok(())
    }

    fn items<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<()> {
        self.into.push('[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.into.push(',');
            }
            self.value(&item)?;
        }
        self.into.push(']');
        Ok(())
    }

    fn members(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<()> {
        self.into.push('{');
        for (index, (name, value)) in dict.iter().enumerate() {
            if index > 0 {
                self.into.push(',');
            }
            self.name(&name)?;
            self.into.push(':');
            self.value(&value)?;
        }
        self.into.push('}');
        Ok(())
    }

    fn name(&mut self, name: &Bound<'_, PyAny>) -> PyResult<()> {
        if name.is_instance_of::<PyString>() {
            return self.value(name);
        }
        if !(name.is_none() || name.is_instance_of::<PyInt>() || name.is_instance_of::<PyFloat>()) {
            return Err(PyTypeError::new_err("a name that is no text"));
        }
        self.into.push('"');
        self.value(name)?;
        self.into.push('"');
        Ok(())
    }

    fn integer(&mut self, number: &Bound<'_, PyInt>) -> PyResult<()> {
        if let Ok(small) = number.extract::<i64>() {
            // Writing to a string cannot fail.
            let _ = write!(self.into, "{small}");
            return Ok(());
        }
        // Not its own `repr`, which an enumeration may have changed.
        let digits = number.py().get_type::<PyInt>().call_method1(intern!(number.py(), "__repr__"), (number,))?;
        self.into.push_str(digits.cast::<PyString>()?.to_str()?);
        Ok(())
    }

    fn number(&mut self, number: &Bound<'_, PyFloat>) -> PyResult<()> {
        let value = number.value();
        if value.is_nan() {
            self.into.push_str("NaN");
        } else if value.is_infinite() {
            self.into.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
        } else {
            self.into.push_str(PyFloat::new(number.py(), value).repr()?.to_str()?);
        }
        Ok(())
    }
}

/// Convert a value that JSON cannot represent: an SDK's model, another container, any object.
pub(super) fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if let Ok(dump) = value.getattr(intern!(py, "model_dump"))
        && dump.is_callable()
    {
        let mode = PyDict::new(py);
        mode.set_item(intern!(py, "mode"), intern!(py, "json"))?;
        return dump.call((), Some(&mode));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let dict = PyDict::new(py);
        dict.update(mapping)?;
        return Ok(dict.into_any());
    }
    let bytes = value.cast::<PyBytes>().map(|bytes| bytes.as_bytes().len());
    if let Ok(length) = bytes.or_else(|_| value.cast::<PyByteArray>().map(PyByteArrayMethods::len)) {
        return Ok(PyString::new(py, &format!("[{length} bytes]")).into_any());
    }
    if let Ok(items) = PyIterator::from_object(value) {
        return Ok(PyList::new(py, items.take(LONGEST).collect::<PyResult<Vec<_>>>()?)?.into_any());
    }
    match value.getattr(intern!(py, "__dict__")) {
        Ok(fields) if fields.is_instance_of::<PyDict>() => Ok(fields),
        _ => Ok(value.str()?.into_any()),
    }
}
