//! Pool of frequent Python strings.
#![allow(unsafe_code)]

use std::hint::select_unpredictable;
use std::ptr;

use memctx_core::text::Word;
use memctx_core::{ask_for_large_pages, prefetch};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Bytes that the processor fetches at once.
const LINE: usize = 64;

/// Key of a string. The default means none.
pub(crate) trait Key: Copy + Default + PartialEq {
    /// Return a number of so many bits that differs between most keys.
    fn spread(self, bits: u32) -> usize;
}

impl Key for u32 {
    #[inline]
    fn spread(self, bits: u32) -> usize {
        (u64::from(self).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - bits)) as usize
    }
}

impl Key for Word {
    #[inline]
    fn spread(self, bits: u32) -> usize {
        let [low, high] = self.halves();
        let mixed = (low ^ high.wrapping_mul(0xC2B2_AE3D_27D4_EB4F)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> (u64::BITS - bits)) as usize
    }
}

/// The strings of a few keys that the same number leads to; of short keys, one line of the processor's cache.
#[repr(align(64))]
struct Row<K, const WAYS: usize> {
    keys: [K; WAYS],
    /// The key that was offered last when there was no place. Its string is kept when it is offered again, so that keys
    /// which come up once evict no other, and their strings live and die in memory that is at hand.
    candidate: K,
    strings: [Option<Py<PyString>>; WAYS],
}

/// Begin where a large page does, and fill some of them.
#[repr(align(0x20_0000))]
struct Rows<K, const COUNT: usize, const WAYS: usize>([Row<K, WAYS>; COUNT]);

/// At most `COUNT * WAYS` strings, where `COUNT` is a power of two.
pub(crate) struct StringPool<K, const COUNT: usize, const WAYS: usize>(Box<Rows<K, COUNT, WAYS>>);

impl<K: Key, const COUNT: usize, const WAYS: usize> StringPool<K, COUNT, WAYS> {
    pub(crate) fn new() -> Self {
        let mut rows = Box::<Rows<K, COUNT, WAYS>>::new_uninit();
        ask_for_large_pages(std::slice::from_mut(&mut *rows));
        let first = rows.as_mut_ptr().cast::<Row<K, WAYS>>();
        let row = || Row { keys: [K::default(); WAYS], candidate: K::default(), strings: [const { None }; WAYS] };
        // SAFETY: there is room for so many, one behind the other, and all of them are written.
        Self(unsafe {
            (0..COUNT).for_each(|at| first.add(at).write(row()));
            rows.assume_init()
        })
    }

    /// Get ready to find the string of a key.
    #[inline]
    pub(crate) fn prepare(&self, key: K) {
        let row = ptr::from_ref(self.row(key)).cast::<u8>();
        for line in 0..size_of::<Row<K, WAYS>>() / LINE {
            prefetch(row.wrapping_add(line * LINE));
        }
    }

    /// Return the string of a key, or null.
    #[inline]
    pub(crate) fn find(&self, key: K) -> *mut ffi::PyObject {
        let row = self.row(key);
        // No branches: which key it is, if any, cannot be foretold.
        row.keys.iter().zip(&row.strings).fold(ptr::null_mut(), |found, (&kept, string)| {
            let string = string.as_ref().map_or(ptr::null_mut(), Py::as_ptr);
            select_unpredictable(kept == key, string, found)
        })
    }

    #[inline]
    fn row_index(key: K) -> usize {
        key.spread(const { COUNT.trailing_zeros() }) % COUNT
    }

    #[inline]
    fn row(&self, key: K) -> &Row<K, WAYS> {
        &self.0.0[Self::row_index(key)]
    }

    /// Return the string of a key, made if it is not there, and kept if there is a place or it was not there before;
    /// what has to go for it is moved to `removed`.
    pub(crate) fn get<'py>(
        &mut self,
        py: Python<'py>,
        key: K,
        make: impl FnOnce() -> Bound<'py, PyString>,
        removed: &mut Vec<Py<PyString>>,
    ) -> Bound<'py, PyString> {
        let row = &mut self.0.0[Self::row_index(key)];
        if let Some(Some(string)) = row.keys.iter().position(|&kept| kept == key).map(|way| &row.strings[way]) {
            return string.bind(py).clone();
        }
        let string = make();
        if row.candidate == key || row.strings[WAYS - 1].is_none() {
            row.keys.rotate_right(1);
            row.strings.rotate_right(1);
            row.keys[0] = key;
            removed.extend(row.strings[0].replace(string.clone().unbind()));
        } else {
            row.candidate = key;
        }
        string
    }
}
