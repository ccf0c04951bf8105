//! Lists of messages that were scanned before, and what was read off them.
//!
//! A host's list is mostly the one of the turn before with something behind it. Then what was there is compared with what
//! it was, and not read, looked up or put together again.

use std::slice::Iter;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memctx_core::scan::{Conversation, Growth, Shape, View};
use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::prints::{DICT, LIST, SORTS, TUPLE, Taken, all_items, all_pairs};

/// A turn scans the host's list, and what it makes of that.
const KEPT: usize = 2;

/// The lists that were scanned last, the newest behind.
#[derive(Default)]
pub(crate) struct Trails(Mutex<Vec<Trail>>);

/// A list that was scanned.
pub(crate) struct Trail {
    shape: Shape,
    /// The prints of all messages, one behind the other.
    words: Vec<usize>,
    /// The same apart, since they keep what they point to where it is.
    prints: Vec<Taken>,
    conversation: Arc<Conversation>,
    growth: Growth,
}

/// The prints of messages that come behind others.
#[derive(Default)]
pub(crate) struct Steps {
    pub(crate) words: Vec<usize>,
    /// A message's each.
    pub(crate) prints: Vec<Taken>,
}

impl Trails {
    /// The longest list that another one begins with, if there is one. It is gone from here until it is kept again.
    pub(crate) fn take(&self, shape: Shape, messages: &Bound<'_, PyList>) -> Option<Trail> {
        let mut trails = self.trails();
        let leading = trails.iter().enumerate().filter(|(_, trail)| trail.shape == shape && trail.leads_to(messages));
        let (longest, _) = leading.max_by_key(|(_, trail)| trail.len())?;
        Some(trails.remove(longest))
    }

    /// Keep a list for the next scan.
    pub(crate) fn keep(&self, trail: Trail) {
        let forgotten = {
            let mut trails = self.trails();
            trails.push(trail);
            (trails.len() > KEPT).then(|| trails.remove(0))
        };
        // Outside of the lock, since what goes may be the last to hold objects of the host's.
        drop(forgotten);
    }

    fn trails(&self) -> MutexGuard<'_, Vec<Trail>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Trail {
    /// An empty list.
    pub(crate) fn new(shape: Shape) -> Self {
        let conversation = Arc::new(Conversation::new(shape, Vec::new()));
        Self { shape, words: Vec::new(), prints: Vec::new(), conversation, growth: Growth::default() }
    }

    /// How many messages there are.
    pub(crate) fn len(&self) -> usize {
        self.prints.len()
    }

    /// Go on with more messages. They are put to the conversation in place, unless somebody still has that.
    pub(crate) fn extend(&mut self, steps: Steps, views: Vec<View>) {
        self.words.extend(steps.words);
        self.prints.extend(steps.prints);
        self.growth.extend(Arc::make_mut(&mut self.conversation), views);
    }

    /// What was read off the messages.
    pub(crate) fn conversation(&self) -> Arc<Conversation> {
        Arc::clone(&self.conversation)
    }

    /// Whether a list begins with the messages of this one, as they were when they were scanned.
    fn leads_to(&self, messages: &Bound<'_, PyList>) -> bool {
        let mut words = self.words.iter();
        all_items(messages, self.len(), |message| reads_as(message, &mut words))
    }
}

/// Whether a value has the print that comes next.
///
/// What the print points to is held, so that only the same object can lie there, and need not be looked at.
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
