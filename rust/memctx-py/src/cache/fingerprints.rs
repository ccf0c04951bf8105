//! Fingerprints: known messages, identified by the addresses of their parts.
//!
//! Every turn walks all messages, so the walk takes no reference of its own to anything it passes: that alone would
//! cost more than the rest of it. Hence the `unsafe` code.
#![allow(unsafe_code)]

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytemuck::TransparentWrapper;
use memctx_core::messages::{Format, MessageView};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use pyo3::{Borrowed, ffi};
use rustc_hash::FxHashMap;

/// Containers in containers are followed this deep; what goes deeper, or round in circles, is read again.
const DEEPEST: usize = 32;
/// A message of more parts is read again.
const LARGEST: usize = 1 << 12;
/// A message that so many scans have not seen is let go.
const SCANS: u64 = 4;

/// Messages with what was read off them.
///
/// A message is identified by its fingerprint: how its dictionaries and lists lie in each other, and the addresses of
/// all that is in them. What is in them cannot change and is held here, so that its place cannot become another's: the
/// same fingerprint means that the message reads the same, whatever its host did to it in between.
#[derive(Default)]
pub(crate) struct Fingerprints(Mutex<Held>);

#[derive(Default)]
struct Held {
    by_fingerprint: FxHashMap<OwnedFingerprint, Known>,
    scans: u64,
}

struct Known {
    fingerprint: OwnedFingerprint,
    view: MessageView,
    seen: u64,
}

/// Result of a lookup of one message.
pub(crate) enum Sought {
    /// It reads as it did before.
    Known(MessageView, OwnedFingerprint),
    /// It has to be read. It has no fingerprint if there is something in it that can change unseen.
    New(Option<OwnedFingerprint>),
}

/// The fingerprint of a message that keeps all that it points to, and so its places.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct OwnedFingerprint(Arc<[Word]>);

impl Borrow<[usize]> for OwnedFingerprint {
    fn borrow(&self) -> &[usize] {
        Word::peel_slice(&self.0)
    }
}

/// Equal to the hash of the words that it is looked up by.
impl Hash for OwnedFingerprint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Borrow::<[usize]>::borrow(self).hash(state);
    }
}

/// A word of a fingerprint. If it is a place, one reference to what lies there is this word's.
#[derive(PartialEq, Eq)]
#[repr(transparent)]
struct Word(usize);

// SAFETY: it is one number and nothing else.
unsafe impl TransparentWrapper<usize> for Word {}

impl Word {
    fn holding(word: usize, py: Python<'_>) -> Self {
        if is_address(word) {
            // SAFETY: it is the place of something in a message that is there.
            mem::forget(unsafe { Bound::from_borrowed_ptr(py, ptr::with_exposed_provenance_mut(word)) });
        }
        Self(word)
    }
}

impl Drop for Word {
    fn drop(&mut self) {
        if let Some(held) = NonNull::new(ptr::with_exposed_provenance_mut::<ffi::PyObject>(self.0))
            && is_address(self.0)
        {
            // SAFETY: a `Py` is such a pointer, with a reference of its own; and this word had one.
            drop(unsafe { mem::transmute::<NonNull<ffi::PyObject>, Py<PyAny>>(held) });
        }
    }
}

/// Addresses are even, all else is odd.
fn is_address(word: usize) -> bool {
    word.is_multiple_of(2)
}

impl Fingerprints {
    /// Look messages of one format up. Return what is known of each, and the fingerprints of all that have one,
    /// concatenated.
    pub(crate) fn look(&self, format: Format, messages: &[Bound<'_, PyAny>]) -> (Vec<Sought>, Vec<usize>) {
        let mut held = self.held();
        held.scans += 1;
        let scan = held.scans;
        let mut fingerprint = Fingerprint::default();
        let mut all_words = Vec::new();
        let mut seek = |message: &Bound<'_, PyAny>| {
            if !fingerprint.take(format, message) {
                return Sought::New(None);
            }
            all_words.extend_from_slice(fingerprint.of_message());
            match held.by_fingerprint.get_mut(&*fingerprint.words) {
                Some(known) => {
                    known.seen = scan;
                    Sought::Known(known.view.clone(), known.fingerprint.clone())
                }
                None => Sought::New(Some(fingerprint.taken(message.py()))),
            }
        };
        (messages.iter().map(&mut seek).collect(), all_words)
    }

    /// Hold messages that were read, and let go of those that were not seen of late.
    pub(crate) fn hold(&self, new: Vec<(OwnedFingerprint, MessageView)>) {
        let mut held = self.held();
        let seen = held.scans;
        held.by_fingerprint.reserve(new.len());
        for (fingerprint, view) in new {
            held.by_fingerprint.insert(fingerprint.clone(), Known { fingerprint, view, seen });
        }
        if seen.is_multiple_of(SCANS) {
            /// References held by the map itself: the key and the entry.
            const OWN: usize = 2;
            // What is in a list that was followed is not looked for, but may be if that list changes.
            held.by_fingerprint
                .retain(|fingerprint, known| seen - known.seen < SCANS || Arc::strong_count(&fingerprint.0) > OWN);
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The fingerprint of a message.
#[derive(Default)]
struct Fingerprint {
    /// Addresses, and between them the format and how containers begin.
    words: Vec<usize>,
}

/// Tags of containers, combined with their length.
pub(crate) const DICT: usize = 1;
pub(crate) const LIST: usize = 3;
pub(crate) const TUPLE: usize = 5;
/// Bits that tell these apart from each other and from addresses.
pub(crate) const SORTS: u32 = 3;

impl Fingerprint {
    /// Become the fingerprint of a message, holding nothing yet; false if it has none.
    fn take(&mut self, format: Format, message: &Bound<'_, PyAny>) -> bool {
        self.words.clear();
        self.words.push(format as usize * 2 + 1);
        self.add(message.as_borrowed(), 0)
    }

    /// Return all but the format.
    fn of_message(&self) -> &[usize] {
        &self.words[1..]
    }

    /// Return the same with what it points to, in a message that is as it was when this became its fingerprint.
    fn taken(&self, py: Python<'_>) -> OwnedFingerprint {
        OwnedFingerprint(self.words.iter().map(|&word| Word::holding(word, py)).collect())
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

/// Return whether `each` is true of all pairs of a dictionary, which it does not change.
pub(crate) fn all_pairs<'py>(
    dict: &Bound<'py, PyDict>,
    mut each: impl FnMut(Borrowed<'_, 'py, PyAny>, Borrowed<'_, 'py, PyAny>) -> bool,
) -> bool {
    let (mut position, mut name, mut value) = (0, ptr::null_mut(), ptr::null_mut());
    // SAFETY: the dictionary is one, and the places to write to are ours.
    while unsafe { ffi::PyDict_Next(dict.as_ptr(), &raw mut position, &raw mut name, &raw mut value) } != 0 {
        // SAFETY: both are set now, and the dictionary keeps them as long as it is not changed.
        let (name, value) = unsafe { (Borrowed::from_ptr(dict.py(), name), Borrowed::from_ptr(dict.py(), value)) };
        if !each(name, value) {
            return false;
        }
    }
    true
}

/// Return whether there are so many items in a list and `each`, which does not change it, is true of these.
pub(crate) fn all_items<'py>(
    list: &Bound<'py, PyList>,
    count: usize,
    mut each: impl FnMut(Borrowed<'_, 'py, PyAny>) -> bool,
) -> bool {
    count <= list.len()
        && (0..count).all(|position| {
            // SAFETY: there is an item in each place, and the list keeps it as long as it is not changed.
            each(unsafe { Borrowed::from_ptr(list.py(), ffi::PyList_GetItem(list.as_ptr(), position.cast_signed())) })
        })
}
