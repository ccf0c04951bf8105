//! Prefix cache: lists of messages that were read before, with their conversations.
//!
//! A host's list is mostly the one of the turn before with something behind it. Then what was there is compared with
//! what it was, and not read, looked up or put together again.

use std::slice::Iter;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memctx_core::messages::{Conversation, Format, Growth, MessageView};
use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::cache::fingerprints::{DICT, LIST, OwnedFingerprint, SORTS, TUPLE, all_items, all_pairs};
use crate::formats::Detection;

/// A turn scans the host's list, and what it makes of that.
const KEPT: usize = 2;

/// The lists that were scanned last, the newest behind.
#[derive(Default)]
pub(crate) struct PrefixCache(Mutex<Vec<Prefix>>);

/// A list that was scanned.
pub(crate) struct Prefix {
    pub(crate) format: Format,
    /// Evidence of the format in the messages; None if it was given.
    pub(crate) detection: Option<Detection>,
    /// The fingerprints of all messages, one behind the other.
    words: Vec<usize>,
    /// The same apart, since they keep what they point to where it is.
    fingerprints: Vec<OwnedFingerprint>,
    conversation: Arc<Conversation>,
    growth: Growth,
}

/// The fingerprints of messages that come behind others.
#[derive(Default)]
pub(crate) struct Suffix {
    pub(crate) words: Vec<usize>,
    /// A message's each.
    pub(crate) fingerprints: Vec<OwnedFingerprint>,
}

impl PrefixCache {
    /// Return the longest list that another one begins with, if there is one: of a given format, or of those whose
    /// format was detected. It is gone from here until it is kept again.
    pub(crate) fn take(&self, given: Option<Format>, messages: &Bound<'_, PyList>) -> Option<Prefix> {
        let mut prefixes = self.prefixes();
        let is_asked = |prefix: &Prefix| given.map_or(prefix.detection.is_some(), |format| prefix.format == format);
        let leading = prefixes.iter().enumerate().filter(|(_, prefix)| is_asked(prefix) && prefix.leads_to(messages));
        let (longest, _) = leading.max_by_key(|(_, prefix)| prefix.len())?;
        Some(prefixes.remove(longest))
    }

    /// Keep a list for the next scan.
    pub(crate) fn keep(&self, prefix: Prefix) {
        let forgotten = {
            let mut prefixes = self.prefixes();
            prefixes.push(prefix);
            (prefixes.len() > KEPT).then(|| prefixes.remove(0))
        };
        // Outside of the lock, since what goes may be the last to hold objects of the host's.
        drop(forgotten);
    }

    fn prefixes(&self) -> MutexGuard<'_, Vec<Prefix>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prefix {
    /// Create an empty list, of a given format or of one to be detected.
    pub(crate) fn new(given: Option<Format>) -> Self {
        let format = given.unwrap_or(Detection::default().format());
        Self {
            format,
            detection: given.is_none().then(Detection::default),
            words: Vec::new(),
            fingerprints: Vec::new(),
            conversation: Arc::new(Conversation::new(format, Vec::new())),
            growth: Growth::default(),
        }
    }

    /// Set the evidence of the format, which may only change before there are any messages.
    pub(crate) fn detect(&mut self, detection: Detection) {
        self.detection = Some(detection);
        if self.format != detection.format() {
            self.format = detection.format();
            self.conversation = Arc::new(Conversation::new(self.format, Vec::new()));
        }
    }

    /// Return the number of messages.
    pub(crate) fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Go on with more messages. They are put to the conversation in place, unless somebody still has that.
    pub(crate) fn extend(&mut self, suffix: Suffix, views: Vec<MessageView>) {
        self.words.extend(suffix.words);
        self.fingerprints.extend(suffix.fingerprints);
        self.growth.extend(Arc::make_mut(&mut self.conversation), views);
    }

    /// Return the conversation of the messages.
    pub(crate) fn conversation(&self) -> Arc<Conversation> {
        Arc::clone(&self.conversation)
    }

    /// Return whether a list begins with the messages of this one, as they were when they were scanned.
    fn leads_to(&self, messages: &Bound<'_, PyList>) -> bool {
        let mut words = self.words.iter();
        all_items(messages, self.len(), |message| reads_as(message, &mut words))
    }
}

/// Return whether a value has the fingerprint that comes next.
///
/// What the fingerprint points to is held, so that only the same object can lie there, and need not be looked at.
fn reads_as(value: Borrowed<'_, '_, PyAny>, words: &mut Iter<'_, usize>) -> bool {
    let Some(&word) = words.next() else { return false };
    let is_same = |sort: usize, len: usize| len << SORTS | sort == word;
    match word & ((1 << SORTS) - 1) {
        DICT => value.cast_exact::<PyDict>().is_ok_and(|dict| {
            is_same(DICT, dict.len()) && all_pairs(&dict, |name, value| reads_as(name, words) && reads_as(value, words))
        }),
        LIST => value
            .cast_exact::<PyList>()
            .is_ok_and(|list| is_same(LIST, list.len()) && all_items(&list, list.len(), |item| reads_as(item, words))),
        TUPLE => value
            .cast_exact::<PyTuple>()
            .is_ok_and(|tuple| is_same(TUPLE, tuple.len()) && tuple.iter_borrowed().all(|item| reads_as(item, words))),
        _ => value.as_ptr() as usize == word,
    }
}
