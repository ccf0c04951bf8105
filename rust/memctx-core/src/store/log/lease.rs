//! Leases for leader election: of many processes, one at a time does the work.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::file::open_private;
use crate::{Error, Result};

/// An exclusive lease on a lock file, released on drop. The kernel releases it when its holder dies.
#[derive(Debug)]
pub struct Lease {
    file: File,
    /// The process that acquired it: a forked child inherits the file, but not the lease.
    holder: u32,
}

impl Lease {
    /// Acquire the lease on a lock file, created if missing; `None` if another holder has it.
    pub fn acquire(path: &Path) -> Result<Option<Self>> {
        let options = &mut OpenOptions::new();
        let file = open_private(options.read(true).append(true).create(true), path).map_err(Error::io(path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file, holder: std::process::id() })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(fault)) => Err(Error::io(path)(fault)),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.holder == std::process::id() {
            // Closing is not enough: a child forked meanwhile has the file open too. It fails only if not locked.
            let _ = self.file.unlock();
        }
    }
}
