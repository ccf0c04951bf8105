//! Recalled blocks that a session sent, distinguished from text that only reads like one.

use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memctx_core::messages::Text;
use rustc_hash::FxHashSet;

/// The blocks that a session sent, by the keys of their texts.
pub(crate) struct OwnBlocks(Mutex<Keys>);

#[derive(Default)]
struct Keys {
    own: FxHashSet<u64>,
    /// Blocks that were read and are not among them.
    foreign: FxHashSet<u64>,
}

impl OwnBlocks {
    pub(crate) fn new(keys: impl IntoIterator<Item = u64>) -> Self {
        Self(Mutex::new(Keys { own: keys.into_iter().collect(), foreign: FxHashSet::default() }))
    }

    /// Add keys. Return false if a text was read as a person's that turns out to be one of these blocks.
    pub(crate) fn add(&self, keys: impl IntoIterator<Item = u64>) -> bool {
        let mut known = self.keys();
        let mut is_consistent = true;
        for key in keys {
            known.own.insert(key);
            is_consistent &= !known.foreign.remove(&key);
        }
        is_consistent
    }

    /// Return whether there is a block of that key.
    pub(crate) fn has(&self, key: u64) -> bool {
        self.keys().own.contains(&key)
    }

    /// Return a text that was read, as a person's if it is a block that the session did not send.
    pub(crate) fn judged<B: Deref<Target = str>>(&self, text: Text<B>) -> Text<B> {
        let Some(key) = text.block_key() else { return text };
        let mut keys = self.keys();
        if keys.own.contains(&key) {
            return text;
        }
        keys.foreign.insert(key);
        text.quoted()
    }

    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
