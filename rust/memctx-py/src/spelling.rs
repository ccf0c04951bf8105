//! Python strings for tokens.
//!
//! Making a string costs several times as much as finding the token. Single characters and short words come up again
//! all the time, so the strings of a few thousand of them are kept. Pairs of characters hardly do, but they make half
//! the tokens of CJK text, so theirs are made the shortest way there is.
#![allow(unsafe_code)]

use std::sync::{Mutex, MutexGuard};

use memctx_core::text::Term;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Strings that are kept: few enough for the processor's cache, some half a megabyte in all.
const PLACES: usize = 1 << 13;

type Kept = Vec<Option<(Term, Py<PyString>)>>;

/// Each string at a place that its term decides; a newer one takes the place of an older one.
static KEPT: Mutex<Kept> = Mutex::new(Vec::new());

/// The strings, borrowed for the length of a call.
pub(crate) struct Spellings<'py> {
    py: Python<'py>,
    /// None while another thread has them; then every string is made anew.
    kept: Option<MutexGuard<'static, Kept>>,
}

impl<'py> Spellings<'py> {
    pub(crate) fn borrow(py: Python<'py>) -> Self {
        let mut kept = KEPT.try_lock().ok();
        if let Some(kept) = &mut kept {
            kept.resize_with(PLACES, || None);
        }
        Self { py, kept }
    }

    /// The token as a Python string.
    #[inline]
    pub(crate) fn spell(&mut self, token: &str) -> PyResult<Bound<'py, PyString>> {
        if let [a, b, c, d, e, f] = *token.as_bytes()
            && matches!((a, d), (0xE0..0xF0, 0xE0..0xF0))
        {
            return self.pair(three_byte(a, b, c), three_byte(d, e, f));
        }
        let term = Term::new(token);
        let Some(kept) = self.kept.as_mut().filter(|_| term.is_exact()) else {
            return Ok(PyString::new(self.py, token));
        };
        let place = &mut kept[(term.to_u64().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 51) as usize % PLACES];
        match place {
            Some((known, string)) if *known == term => Ok(string.bind(self.py).clone()),
            _ => {
                let string = PyString::new(self.py, token);
                *place = Some((term, string.clone().unbind()));
                Ok(string)
            }
        }
    }

    /// Two characters of three bytes each, without going through a UTF-8 decoder.
    #[inline]
    fn pair(&self, first: u16, second: u16) -> PyResult<Bound<'py, PyString>> {
        let wide = [first.into(), second.into()];
        // SAFETY: the function reads the two characters and gives a new string or null, which is an error.
        let string = unsafe { Bound::from_owned_ptr_or_err(self.py, ffi::PyUnicode_FromWideChar(wide.as_ptr(), 2))? };
        Ok(string.cast_into::<PyString>()?)
    }
}

/// The character of a UTF-8 sequence of three bytes.
#[inline]
fn three_byte(a: u8, b: u8, c: u8) -> u16 {
    u16::from(a & 0x0F) << 12 | u16::from(b & 0x3F) << 6 | u16::from(c & 0x3F)
}
