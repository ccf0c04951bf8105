//! The cold tiers of a process, one for each directory.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex, TryLockError, Weak};
use std::thread;
use std::time::Duration;

use super::tier::ColdTier;
use crate::store::{Directory, Model};

/// By process, directory and model. A child of a fork must not share the tiers of its parent, whose threads it lacks.
type Key = (u32, PathBuf, String);

static TIERS: Mutex<Option<HashMap<Key, Weak<ColdTier>>>> = Mutex::new(None);

/// The tier that all stores of a directory in this process share.
pub(crate) fn tier_of(directory: &Directory, model: &Model) -> Arc<ColdTier> {
    let make = || Arc::new(ColdTier::new(directory.clone(), model.clone()));
    let path = directory.path().canonicalize().unwrap_or_else(|_| directory.path().to_owned());
    let key = (process::id(), path, model.words());
    // The parent may have held the lock when the process forked, and then nobody will ever give it back.
    for _ in 0..50 {
        let mut tiers = match TIERS.try_lock() {
            Ok(tiers) => tiers,
            Err(TryLockError::Poisoned(tiers)) => tiers.into_inner(),
            Err(TryLockError::WouldBlock) => {
                thread::sleep(Duration::from_millis(1));
                continue;
            }
        };
        let tiers = tiers.get_or_insert_default();
        tiers.retain(|_, tier| tier.strong_count() > 0);
        if let Some(tier) = tiers.get(&key).and_then(Weak::upgrade) {
            return tier;
        }
        let tier = make();
        tiers.insert(key, Arc::downgrade(&tier));
        return tier;
    }
    make()
}
