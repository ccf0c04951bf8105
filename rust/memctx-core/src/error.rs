//! What can go wrong in the core, as one enum.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A result of the core.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong. Each message names the place, the value and what was expected.
#[derive(Debug)]
pub enum Error {
    /// An argument has a value that cannot be used.
    Argument {
        /// The argument's name.
        what: &'static str,
        /// What would have done.
        expected: &'static str,
        /// What was given.
        found: String,
    },
    /// A vector has another length than the index or file it is meant for.
    Dimension {
        /// The length it should have.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// A vector holds NaN or an infinity.
    NotFinite {
        /// Which of the vectors passed, from 0.
        row: usize,
        /// Which of its values, from 0.
        column: usize,
        /// The value.
        value: f32,
    },
    /// The operating system refused.
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A file's bytes are not what its format says.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where in it, in bytes.
        offset: u64,
        /// What is wrong there.
        fault: String,
    },
    /// A file has a version that this code does not know.
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version this code knows.
        supported: u32,
    },
    /// A directory or file is there but must not be used.
    Refused {
        /// What was to be opened.
        path: PathBuf,
        /// Why it was not, and what to do.
        why: &'static str,
    },
    /// A file of a model is not what it must be.
    Model {
        /// The file, or the folder it should be in.
        path: PathBuf,
        /// What is wrong with it, and what was expected.
        fault: String,
    },
    /// Another process kept the lock for too long.
    Locked {
        /// The lock.
        path: PathBuf,
        /// How long it was waited for.
        seconds: f64,
    },
    /// A structure cannot number one more item.
    Full {
        /// What is full.
        what: &'static str,
        /// How many it holds.
        limit: usize,
    },
}

impl Error {
    pub(crate) fn argument(what: &'static str, expected: &'static str, found: impl Into<String>) -> Self {
        Self::Argument { what, expected, found: found.into() }
    }

    /// For `map_err` on anything done to `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn model(path: &Path, fault: impl Into<String>) -> Self {
        Self::Model { path: path.to_owned(), fault: fault.into() }
    }

    pub(crate) fn corrupt(path: &Path, offset: u64, fault: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), offset, fault: fault.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument { what, expected, found } => write!(f, "{what} must be {expected}, not {found}"),
            Self::Dimension { expected, found } => {
                write!(f, "the vector has {found} values where {expected} are expected")
            }
            Self::NotFinite { row, column, value } => {
                write!(f, "value {column} of vector {row} is {value}; every value must be a finite number")
            }
            Self::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Corrupt { path, offset, fault } => write!(f, "{} at byte {offset}: {fault}", path.display()),
            Self::Version { path, found, supported } => {
                write!(f, "{}: version {found} of the format; this memctx reads version {supported}", path.display())
            }
            Self::Model { path, fault } => write!(f, "{}: {fault}", path.display()),
            Self::Refused { path, why } => write!(f, "{}: {why}", path.display()),
            Self::Locked { path, seconds } => {
                write!(
                    f,
                    "{}: another process has held the lock for {seconds} seconds; nothing was written",
                    path.display()
                )
            }
            Self::Full { what, limit } => write!(f, "{what} is full: it holds {limit} at most"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
