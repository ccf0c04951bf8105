//! Length of a value as JSON, and a hash of it, without writing it.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use xxhash_rust::xxh3::Xxh3Default;

use super::json::plain;
use crate::boundary::text_of;

const DEEPEST: usize = 64;
/// A block of more parts than this is identified by its first ones.
const MOST_PARTS: usize = 100_000;
/// Pictures come as megabytes of text: such is identified by its length, its beginning and its end.
const LONG: usize = 1 << 16;

/// Length and hash of a value.
pub(crate) struct Measure {
    hash: Xxh3Default,
    /// Its length as compact JSON, about.
    pub(crate) length: usize,
    parts: usize,
}

impl Measure {
    pub(crate) fn new() -> Self {
        Self { hash: Xxh3Default::new(), length: 0, parts: 0 }
    }

    /// Measure a value.
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut measure = Self::new();
        measure.add(value)?;
        Ok(measure)
    }

    /// Return the hash of all that was taken in.
    pub(crate) fn mark(&self) -> u64 {
        self.hash.digest()
    }

    /// Return the tokens of a value of an unknown kind.
    pub(crate) fn tokens(&self) -> u32 {
        u32::try_from(self.length.div_ceil(3)).unwrap_or(u32::MAX)
    }

    /// Return the tokens of an encrypted value: base64 is a third longer than the bytes, and four characters are a
    /// token.
    pub(crate) fn opaque_tokens(&self) -> u32 {
        u32::try_from(self.length * 3 / 16).unwrap_or(u32::MAX)
    }

    /// Take in one more value. Fields that hold nothing, and marks for the prompt cache, count for nothing.
    pub(crate) fn add(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.value(value, 0)
    }

    fn value(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        self.parts += 1;
        if depth > DEEPEST || self.parts > MOST_PARTS {
            return Ok(());
        }
        if let Ok(text) = value.cast::<PyString>() {
            self.bytes(b's', text_of(text)?.as_bytes());
        } else if let Ok(bytes) = value.cast::<PyBytes>() {
            self.bytes(b'b', bytes.as_bytes());
        } else if let Ok(dict) = value.cast::<PyDict>() {
            self.members(dict, depth)?;
        } else if let Ok(list) = value.cast::<PyList>() {
            self.items(list.iter(), depth)?;
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.items(tuple.iter(), depth)?;
        } else if value.is_none() || value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
            match value.str() {
                Ok(text) => self.bytes(b'n', text_of(&text)?.as_bytes()),
                Err(error) => passable(error, value.py())?,
            }
        } else {
            match plain(value) {
                Ok(value) => self.value(&value, depth + 1)?,
                Err(error) => passable(error, value.py())?,
            }
        }
        Ok(())
    }

    fn members(&mut self, dict: &Bound<'_, PyDict>, depth: usize) -> PyResult<()> {
        self.bytes(b'{', b"");
        for (name, value) in dict {
            let is_mark =
                name.cast::<PyString>().is_ok_and(|name| name.to_str().is_ok_and(|name| name == "cache_control"));
            if !value.is_none() && !is_mark {
                self.value(&name, depth + 1)?;
                self.value(&value, depth + 1)?;
            }
        }
        self.bytes(b'}', b"");
        Ok(())
    }

    fn items<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> PyResult<()> {
        self.bytes(b'[', b"");
        items.into_iter().try_for_each(|item| self.value(&item, depth + 1))?;
        self.bytes(b']', b"");
        Ok(())
    }

    fn bytes(&mut self, kind: u8, bytes: &[u8]) {
        self.length += bytes.len() + usize::from(matches!(kind, b's' | b'b')) * 3 + usize::from(kind != b's');
        self.hash.update(&[kind]);
        self.hash.update(&(bytes.len() as u64).to_le_bytes());
        if bytes.len() <= LONG {
            self.hash.update(bytes);
        } else {
            self.hash.update(&bytes[..LONG / 2]);
            self.hash.update(&bytes[bytes.len() - LONG / 2..]);
        }
    }
}

/// Skip a value that cannot be read; pass an interrupt on.
fn passable(error: PyErr, py: Python<'_>) -> PyResult<()> {
    if error.is_instance_of::<PyException>(py) { Ok(()) } else { Err(error) }
}
