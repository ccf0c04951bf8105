//! Cache of the host's strings, by address.

use std::sync::{Arc, Mutex, PoisonError};

use memctx_core::messages::Text;
use pyo3::prelude::*;
use pyo3::types::PyString;
use rustc_hash::FxHashMap;

/// Shorter strings are looked up by content as quickly.
pub(crate) const SHORTEST: usize = 64;
/// A string that so many scans have not seen is let go.
const SCANS: u64 = 4;

/// Strings with what was found out about them. Strings do not change, and one that is held here cannot make room for
/// another in the same place: so the same place means the same text, and it need not be looked at.
#[derive(Default)]
pub(crate) struct Strings(Mutex<Held>);

#[derive(Default)]
struct Held {
    by_address: FxHashMap<usize, Known>,
    scans: u64,
}

struct Known {
    /// Keeps the string, and so its place.
    _string: Py<PyString>,
    text: Arc<Text>,
    seen: u64,
}

impl Strings {
    /// Return the texts of some strings, as far as they are known.
    pub(crate) fn look<'a, 'py: 'a>(
        &self,
        strings: impl Iterator<Item = Option<&'a Bound<'py, PyString>>>,
    ) -> Vec<Option<Arc<Text>>> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.scans += 1;
        let scan = held.scans;
        let find = |string: Option<&Bound<'_, PyString>>| {
            let known = held.by_address.get_mut(&address_of(string?))?;
            known.seen = scan;
            Some(Arc::clone(&known.text))
        };
        strings.map(find).collect()
    }

    /// Hold strings with their texts, and let go of those that were not seen of late.
    pub(crate) fn hold<'a, 'py: 'a>(&self, new: impl Iterator<Item = (&'a Bound<'py, PyString>, &'a Arc<Text>)>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = held.scans;
        for (string, text) in new.filter(|(_, text)| text.body().len() >= SHORTEST) {
            let known = Known { _string: string.clone().unbind(), text: Arc::clone(text), seen };
            held.by_address.insert(address_of(string), known);
        }
        if seen.is_multiple_of(SCANS) {
            held.by_address.retain(|_, known| seen - known.seen < SCANS);
        }
    }
}

fn address_of(string: &Bound<'_, PyString>) -> usize {
    string.as_ptr() as usize
}
