//! Translation of tantivy's errors.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

use crate::{Error, Result};

/// Do something with the index in a folder. Tantivy panics where it reads what it did not write; that is a fault like
/// any other here.
pub(super) fn guarded<T>(folder: &Path, work: impl FnOnce() -> tantivy::Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|fault| translated(folder, fault)),
        Err(panic) => Err(Error::corrupt(folder, 0, format!("the index of texts cannot be read: {}", words(&*panic)))),
    }
}

/// Return whether a file was not there.
pub(super) fn is_missing(fault: &TantivyError) -> bool {
    matches!(fault, TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_)))
}

fn translated(folder: &Path, fault: TantivyError) -> Error {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let (path, source) = match fault {
        TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(path)) => (folder.join(path), missing()),
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, filepath }) => {
            (folder.join(filepath), again(&io_error))
        }
        TantivyError::OpenDirectoryError(OpenDirectoryError::DoesNotExist(path)) => (path, missing()),
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, directory_path }) => {
            (directory_path, again(&io_error))
        }
        TantivyError::IoError(source) => (folder.to_owned(), again(&source)),
        TantivyError::LockFailure(LockError::LockBusy, _) => {
            return Error::Locked { path: folder.to_owned(), seconds: 0.0 };
        }
        TantivyError::IncompatibleIndex(_) | TantivyError::SchemaError(_) => {
            return Error::Refused { path: folder.to_owned(), why: "the index of texts is of another version" };
        }
        other => return Error::corrupt(folder, 0, other.to_string()),
    };
    if source.kind() == io::ErrorKind::InvalidData {
        return Error::corrupt(&path, 0, source.to_string());
    }
    Error::Io { path, source }
}

/// Return a copy of a fault that is shared.
fn again(fault: &io::Error) -> io::Error {
    fault.raw_os_error().map_or_else(|| io::Error::new(fault.kind(), fault.to_string()), io::Error::from_raw_os_error)
}

fn words(panic: &(dyn Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("?")
}
