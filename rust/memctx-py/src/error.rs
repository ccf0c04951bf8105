//! Faults of the core as Python exceptions, which are defined in `memctx/errors.py`.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use memctx_core::Error;
use pyo3::PyErr;
use pyo3::exceptions::PyOSError;

pyo3::import_exception!(memctx.errors, ConfigError);
pyo3::import_exception!(memctx.errors, CorruptStoreError);
pyo3::import_exception!(memctx.errors, DimensionMismatchError);
pyo3::import_exception!(memctx.errors, MemctxError);
pyo3::import_exception!(memctx.errors, MessageFormatError);
pyo3::import_exception!(memctx.errors, StoreError);
pyo3::import_exception!(memctx.errors, StoreLockedError);
pyo3::import_exception!(memctx.errors, UnsupportedVersionError);
pyo3::import_exception!(memctx.errors, VectorError);

/// Return the exception that stands for a fault.
pub(crate) fn to_python(fault: &Error) -> PyErr {
    let message = fault.to_string();
    match fault {
        Error::Argument { .. } | Error::Model { .. } => ConfigError::new_err(message),
        Error::Dimension { .. } => DimensionMismatchError::new_err(message),
        Error::NotFinite { .. } => VectorError::new_err(message),
        Error::Io { path, source } => os_error(path, source),
        Error::Corrupt { .. } => CorruptStoreError::new_err(message),
        Error::Version { .. } => UnsupportedVersionError::new_err(message),
        Error::Refused { .. } | Error::Exposed { .. } | Error::Full { .. } | Error::Line { .. } => {
            StoreError::new_err(message)
        }
        Error::Locked { .. } => StoreLockedError::new_err(message),
    }
}

/// Return the path, or the ends of one that no file system takes.
fn shortened(path: &Path) -> OsString {
    const LONGEST: usize = 4096;
    if path.as_os_str().len() <= LONGEST {
        return path.as_os_str().to_owned();
    }
    path.to_string_lossy().chars().take(100).chain("…".chars()).collect::<String>().into()
}

/// Return the exception of `open()`: the number selects `FileNotFoundError`, `PermissionError` and so on.
fn os_error(path: &Path, source: &io::Error) -> PyErr {
    let Some(number) = source.raw_os_error() else {
        return io::Error::new(source.kind(), format!("{}: {source}", path.display())).into();
    };
    let words = source.to_string();
    let words = words.split(" (os error").next().unwrap_or_default().to_owned();
    let path = shortened(path);
    if cfg!(windows) {
        // There the number is not an errno; Python finds the one that belongs to it.
        PyOSError::new_err((0, words, path, number))
    } else {
        PyOSError::new_err((number, words, path))
    }
}
