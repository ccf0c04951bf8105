//! One process of many does the work.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::file::open_private;
use crate::{Error, Result};

/// The right to do the work, given back when it goes; the kernel gives it back for a process that dies.
#[derive(Debug)]
pub(crate) struct Elected(File);

impl Drop for Elected {
    fn drop(&mut self) {
        // Closing is not enough where a child was forked meanwhile. It can only fail if the lock is not held.
        let _ = self.0.unlock();
    }
}

/// The right that a lock file stands for; none if another has it.
pub(crate) fn elect(path: &Path) -> Result<Option<Elected>> {
    let file = open_private(OpenOptions::new().read(true).append(true).create(true), path).map_err(Error::io(path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Elected(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(fault)) => Err(Error::io(path)(fault)),
    }
}
