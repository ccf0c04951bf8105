//! Field access for dictionaries, other mappings, and objects with attributes.

use std::sync::Arc;

use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyMapping, PyString, PyTuple};

use crate::boundary::text_of;

/// A part whose fields can be read, with its sort found out once.
#[derive(Clone, Copy)]
pub(crate) enum Node<'a, 'py> {
    Dict(&'a Bound<'py, PyDict>),
    Mapping(&'a Bound<'py, PyMapping>),
    Object(&'a Bound<'py, PyAny>),
}

/// A field of a part by its name, which is made a Python string once.
macro_rules! field {
    ($node:expr, $name:literal) => {
        $node.get(pyo3::intern!($node.py(), $name))
    };
}

/// A field that is text.
macro_rules! text {
    ($node:expr, $name:literal) => {
        $node.text(pyo3::intern!($node.py(), $name))
    };
}

/// Test whether a field exists, even if it is None.
macro_rules! has {
    ($node:expr, $name:literal) => {
        $node.has(pyo3::intern!($node.py(), $name))
    };
}

/// The first of several fields that has something in it.
macro_rules! first {
    ($node:expr, $($name:literal),+) => {{
        let mut found = None;
        $(
            if found.is_none() {
                found = $node.get(pyo3::intern!($node.py(), $name))?;
            }
        )+
        found
    }};
}

pub(crate) use {field, first, has, text};

impl<'a, 'py> Node<'a, 'py> {
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

    /// Return the object itself.
    pub(crate) fn any(self) -> &'a Bound<'py, PyAny> {
        match self {
            Self::Dict(dict) => dict.as_any(),
            Self::Mapping(mapping) => mapping.as_any(),
            Self::Object(object) => object,
        }
    }

    /// Return a field; none where there is no such field or nothing in it.
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

    /// Return whether there is such a field, be it with nothing in it.
    pub(crate) fn has(self, name: &Bound<'py, PyString>) -> PyResult<bool> {
        match self {
            Self::Dict(dict) => dict.contains(name),
            Self::Mapping(mapping) => Ok(mapping.contains(name).unwrap_or(false)),
            Self::Object(object) => match object.getattr(name) {
                Ok(_) => Ok(true),
                Err(error) if error.is_instance_of::<PyException>(self.py()) => Ok(false),
                Err(error) => Err(error),
            },
        }
    }

    /// Return a field that is text.
    pub(crate) fn text(self, name: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyString>>> {
        Ok(self.get(name)?.and_then(|value| value.cast_into::<PyString>().ok()))
    }
}

/// Return the field of a pydantic model that one of its methods hides, as `json` does. A method itself is no field.
fn behind_method<'py>(object: &Bound<'py, PyAny>, name: &Bound<'py, PyString>) -> PyResult<Option<Bound<'py, PyAny>>> {
    match object.getattr(intern!(object.py(), "__pydantic_extra__")) {
        Ok(more) if more.is_instance_of::<PyDict>() => Node::of(&more).get(name),
        _ => Ok(None),
    }
}

/// Return a text as the core keeps it; none where it is empty.
pub(crate) fn word(text: Option<Bound<'_, PyString>>) -> PyResult<Option<Arc<str>>> {
    let Some(text) = text else { return Ok(None) };
    let text = text_of(&text)?;
    Ok((!text.is_empty()).then(|| text.into()))
}

/// Return a field as the core keeps it; none if it is not text.
pub(crate) fn word_in(value: Option<Bound<'_, PyAny>>) -> PyResult<Option<Arc<str>>> {
    word(value.and_then(|value| value.cast_into::<PyString>().ok()))
}

/// Return the characters of a text for comparison; empty if it is not a text.
pub(crate) fn spelled<'a>(text: Option<&'a Bound<'_, PyString>>) -> &'a str {
    text.and_then(|text| text.to_str().ok()).unwrap_or_default()
}

/// Return whether a flag is set, and is one.
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

/// Call `each` with the blocks of a content, which may be just one of them, text, or missing.
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
