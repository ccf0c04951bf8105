//! The disk indexes of a process, one for each directory.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex, TryLockError, Weak};
use std::thread;
use std::time::Duration;

use super::shared::DiskIndex;
use crate::store::{Directory, Model};

/// By process, directory and model. A child of a fork must not share the disk indexes of its parent, whose threads it
/// lacks.
type Key = (u32, PathBuf, String);

static INDEXES: Mutex<Option<HashMap<Key, Weak<DiskIndex>>>> = Mutex::new(None);

/// Return the disk index that all stores of a directory in this process share.
pub(crate) fn shared_index(directory: &Directory, model: &Model) -> Arc<DiskIndex> {
    let make = || Arc::new(DiskIndex::new(directory.clone(), model.clone()));
    let path = directory.path().canonicalize().unwrap_or_else(|_| directory.path().to_owned());
    let key = (process::id(), path, model.words());
    // The parent may have held the lock when the process forked, and then it is never released.
    for _ in 0..50 {
        let mut indexes = match INDEXES.try_lock() {
            Ok(indexes) => indexes,
            Err(TryLockError::Poisoned(indexes)) => indexes.into_inner(),
            Err(TryLockError::WouldBlock) => {
                thread::sleep(Duration::from_millis(1));
                continue;
            }
        };
        let indexes = indexes.get_or_insert_default();
        indexes.retain(|_, index| index.strong_count() > 0);
        if let Some(index) = indexes.get(&key).and_then(Weak::upgrade) {
            return index;
        }
        let index = make();
        indexes.insert(key, Arc::downgrade(&index));
        return index;
    }
    make()
}
