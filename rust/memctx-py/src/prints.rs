//! Messages that were read before, told by where their parts lie in memory.
//!
//! Every turn walks all messages, so the walk takes no reference of its own to anything it passes: that alone would cost
//! more than the rest of it. Hence the `unsafe` code.
#![allow(unsafe_code)]

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::TransparentWrapper;
use memctx_core::scan::{Shape, View};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use pyo3::{Borrowed, ffi};
use rustc_hash::FxHashMap;

/// Containers in containers are followed this deep; what goes deeper, or round in circles, is read anew.
const DEEPEST: usize = 32;
/// A message of more parts is read anew.
const LARGEST: usize = 1 << 12;
/// A message that so many scans have not seen is let go.
const SCANS: u64 = 4;

/// Messages with what was read off them.
///
/// A message is told by its print: how its dictionaries and lists lie in each other, and the places in memory of all that
/// is in them. What is in them cannot change and is held here, so that its place cannot become another's: the same print
/// means that the message reads the same, whatever its host did to it in between.
#[derive(Default)]
pub(crate) struct Prints(Mutex<Held>);

#[derive(Default)]
struct Held {
    by_print: FxHashMap<Taken, Known>,
    scans: u64,
}

struct Known {
    print: Taken,
    view: View,
    seen: u64,
}

/// What was found of one message.
pub(crate) enum Sought {
    /// It reads as it did before.
    Known(View, Taken),
    /// It has to be read. It has no print if there is something in it that can change unseen.
    New(Option<Taken>),
}

/// The print of a message that keeps all that it points to, and so its places.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Taken(Arc<[Word]>);

impl Borrow<[usize]> for Taken {
    fn borrow(&self) -> &[usize] {
        Word::peel_slice(&self.0)
    }
}

/// As the numbers it is looked for by.
impl Hash for Taken {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Borrow::<[usize]>::borrow(self).hash(state);
    }
}

/// A word of a print. If it is a place, one reference to what lies there is this word's.
#[derive(PartialEq, Eq)]
#[repr(transparent)]
struct Word(usize);

// SAFETY: it is one number and nothing else.
unsafe impl TransparentWrapper<usize> for Word {}

impl Word {
    fn holding(word: usize, py: Python<'_>) -> Self {
        if is_place(word) {
            // SAFETY: it is the place of something in a message that is there.
            mem::forget(unsafe { Bound::from_borrowed_ptr(py, ptr::with_exposed_provenance_mut(word)) });
        }
        Self(word)
    }
}

impl Drop for Word {
    fn drop(&mut self) {
        if let Some(held) = NonNull::new(ptr::with_exposed_provenance_mut::<ffi::PyObject>(self.0))
            && is_place(self.0)
        {
            // SAFETY: a `Py` is such a pointer, with a reference of its own; and this word had one.
            drop(unsafe { mem::transmute::<NonNull<ffi::PyObject>, Py<PyAny>>(held) });
        }
    }
}

/// Places in memory are even, all else is odd.
fn is_place(word: usize) -> bool {
    word.is_multiple_of(2)
}

impl Prints {
    /// What is known of some messages of one shape, and the prints of all that have one, one behind the other.
    pub(crate) fn look(&self, shape: Shape, messages: &[Bound<'_, PyAny>]) -> (Vec<Sought>, Vec<usize>) {
        let mut held = self.held();
        held.scans += 1;
        let scan = held.scans;
        let mut print = Print::default();
        let mut all_words = Vec::new();
        let mut seek = |message: &Bound<'_, PyAny>| {
            if !print.take(shape, message) {
                return Sought::New(None);
            }
            all_words.extend_from_slice(print.of_message());
            match held.by_print.get_mut(&*print.words) {
                Some(known) => {
                    known.seen = scan;
                    Sought::Known(known.view.clone(), known.print.clone())
                }
                None => Sought::New(Some(print.taken(message.py()))),
            }
        };
        (messages.iter().map(&mut seek).collect(), all_words)
    }

    /// Hold messages that were read, and let go of those that were not seen of late.
    pub(crate) fn hold(&self, new: Vec<(Taken, View)>) {
        let mut held = self.held();
        let seen = held.scans;
        held.by_print.reserve(new.len());
        for (print, view) in new {
            held.by_print.insert(print.clone(), Known { print, view, seen });
        }
        if seen.is_multiple_of(SCANS) {
            /// As key and with what is known.
            const OWN: usize = 2;
            // What is in a list that was followed is not looked for, but may be if that list changes.
            held.by_print.retain(|print, known| seen - known.seen < SCANS || Arc::strong_count(&print.0) > OWN);
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The print of a message.
#[derive(Default)]
struct Print {
    /// Places in memory, and between them the shape and how containers begin.
    words: Vec<usize>,
}

/// How containers begin, beside their length.
pub(crate) const DICT: usize = 1;
pub(crate) const LIST: usize = 3;
pub(crate) const TUPLE: usize = 5;
/// Bits that tell these apart from each other and from places in memory.
pub(crate) const SORTS: u32 = 3;

impl Print {
    /// Become the print of a message, holding nothing yet; false if it has none.
    fn take(&mut self, shape: Shape, message: &Bound<'_, PyAny>) -> bool {
        self.words.clear();
        self.words.push(shape as usize * 2 + 1);
        self.add(message.as_borrowed(), 0)
    }

    /// All but the shape.
    fn of_message(&self) -> &[usize] {
        &self.words[1..]
    }

    /// The same with what it points to, in a message that is as it was when this became its print.
    fn taken(&self, py: Python<'_>) -> Taken {
        Taken(self.words.iter().map(|&word| Word::holding(word, py)).collect())
    }

    /// Nothing in here runs code of the host's, so what is borrowed stays where it is.
    fn add(&mut self, value: Borrowed<'_, '_, PyAny>, depth: usize) -> bool {
        if value.is_exact_instance_of::<PyString>() {
            self.words.push(value.as_ptr().expose_provenance());
            return true;
        }
        if depth > DEEPEST || self.words.len() > LARGEST {
            return false;
        }
        if let Ok(dict) = value.cast_exact::<PyDict>() {
            self.words.push(dict.len() << SORTS | DICT);
            return all_pairs(&dict, |name, value| self.add(name, depth + 1) && self.add(value, depth + 1));
        }
        if let Ok(list) = value.cast_exact::<PyList>() {
            self.words.push(list.len() << SORTS | LIST);
            return all_items(&list, list.len(), |item| self.add(item, depth + 1));
        }
        if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            self.words.push(tuple.len() << SORTS | TUPLE);
            return tuple.iter_borrowed().all(|item| self.add(item, depth + 1));
        }
        self.words.push(value.as_ptr().expose_provenance());
        value.is_none()
            || value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyFloat>()
            || value.is_exact_instance_of::<PyBool>()
            || value.is_exact_instance_of::<PyBytes>()
    }
}

/// Whether `each` is true of all pairs of a dictionary, which it does not change.
pub(crate) fn all_pairs<'py>(
    dict: &Bound<'py, PyDict>,
    mut each: impl FnMut(Borrowed<'_, 'py, PyAny>, Borrowed<'_, 'py, PyAny>) -> bool,
) -> bool {
    let (mut place, mut name, mut value) = (0, ptr::null_mut(), ptr::null_mut());
    // SAFETY: the dictionary is one, and the places to write to are ours.
    while unsafe { ffi::PyDict_Next(dict.as_ptr(), &raw mut place, &raw mut name, &raw mut value) } != 0 {
        // SAFETY: both are set now, and the dictionary keeps them as long as nobody changes it.
        let (name, value) = unsafe { (Borrowed::from_ptr(dict.py(), name), Borrowed::from_ptr(dict.py(), value)) };
        if !each(name, value) {
            return false;
        }
    }
    true
}

/// Whether there are so many items in a list and `each`, which does not change it, is true of these.
pub(crate) fn all_items<'py>(
    list: &Bound<'py, PyList>,
    count: usize,
    mut each: impl FnMut(Borrowed<'_, 'py, PyAny>) -> bool,
) -> bool {
    count <= list.len()
        && (0..count).all(|place| {
            // SAFETY: there is an item in each place, and the list keeps it as long as nobody changes it.
            each(unsafe { Borrowed::from_ptr(list.py(), ffi::PyList_GetItem(list.as_ptr(), place.cast_signed())) })
        })
}
