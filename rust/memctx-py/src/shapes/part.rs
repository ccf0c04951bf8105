//! One part of a message, be it a dictionary, another mapping, or any object with attributes.

use std::sync::Arc;

use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyMapping, PyString, PyTuple};

use crate::boundary::text_of;

/// A part whose fields can be read, with its sort found out once.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a, 'py> {
    Dict(&'a Bound<'py, PyDict>),
    Mapping(&'a Bound<'py, PyMapping>),
    Object(&'a Bound<'py, PyAny>),
}

/// A field of a part by its name, which is made a Python string once.
macro_rules! field {
    ($part:expr, $name:literal) => {
        $part.get(pyo3::intern!($part.py(), $name))
    };
}

/// A field that is text.
macro_rules! text {
    ($part:expr, $name:literal) => {
        $part.text(pyo3::intern!($part.py(), $name))
    };
}

pub(crate) use {field, text};

impl<'a, 'py> Part<'a, 'py> {
    pub(crate) fn of(value: &'a Bound<'py, PyAny>) -> Self {
        if let Ok(dict) = value.cast::<PyDict>() {
            Self::Dict(dict)
        } else if let Ok(mapping) = value.cast::<PyMapping>() {
            Self::Mapping(mapping)
        } else {
            Self::Object(value)
        }
    }

    pub(crate) fn py(self) -> Python<'py> {
        self.any().py()
    }

    /// The object itself.
    pub(crate) fn any(self) -> &'a Bound<'py, PyAny> {
        match self {
            Self::Dict(dict) => dict.as_any(),
            Self::Mapping(mapping) => mapping.as_any(),
            Self::Object(object) => object,
        }
    }

    /// A field; none where there is no such field or nothing in it.
    pub(crate) fn get(self, name: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = match self {
            Self::Dict(dict) => return Ok(dict.get_item(name)?.filter(|value| !value.is_none())),
            Self::Mapping(mapping) => mapping.get_item(name),
            Self::Object(object) => match object.getattr(name) {
                Ok(value) if value.is_callable() => return behind_method(object, name),
                found => found,
            },
        };
        match found {
            Ok(value) => Ok(Some(value).filter(|value| !value.is_none())),
            // A field that cannot be read is as good as none; an interrupt is not.
            Err(error) if error.is_instance_of::<PyException>(self.py()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A field that is text.
    pub(crate) fn text(self, name: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyString>>> {
        Ok(self.get(name)?.and_then(|value| value.cast_into::<PyString>().ok()))
    }
}

/// The field of a pydantic model that one of its methods hides, as `json` does. A method itself is no field.
fn behind_method<'py>(object: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
    match object.getattr(intern!(object.py(), "__pydantic_extra__")) {
        Ok(more) if more.is_instance_of::<PyDict>() => Part::of(&more).get(name),
        _ => Ok(None),
    }
}

/// A text as the core keeps it; none where it is empty.
pub(crate) fn word(text: Option<Bound<'_, PyString>>) -> PyResult<Option<Arc<str>>> {
    let Some(text) = text else { return Ok(None) };
    let text = text_of(&text)?;
    Ok((!text.is_empty()).then(|| text.into()))
}

/// What a text says, for comparing; what is no text says nothing.
pub(crate) fn spelled<'a>(text: Option<&'a Bound<'_, PyString>>) -> &'a str {
    text.and_then(|text| text.to_str().ok()).unwrap_or_default()
}

/// Whether a flag is set, and is one.
pub(crate) fn is_true(value: Option<&Bound<'_, PyAny>>) -> bool {
    value.and_then(|value| value.cast::<PyBool>().ok()).is_some_and(PyBoolMethods::is_true)
}

/// Call `each` with the items of a list or tuple; false if it is neither.
pub(crate) fn for_each_item<'py>(
    value: &Bound<'py, PyAny>,
    mut each: impl FnMut(&Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<bool> {
    if let Ok(list) = value.cast::<PyList>() {
        for item in list {
            each(&item)?;
        }
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        for item in tuple {
            each(&item)?;
        }
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// The same for the blocks of a message's content, which may be just one of them, text, or missing.
pub(crate) fn for_each_block<'py>(
    content: Option<&Bound<'py, PyAny>>,
    mut each: impl FnMut(&Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    let Some(content) = content else { return Ok(()) };
    if !for_each_item(content, &mut each)? {
        each(content)?;
    }
    Ok(())
}
