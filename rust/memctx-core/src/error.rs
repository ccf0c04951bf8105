//! The error type of the crate.

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
        /// Description of valid values.
        expected: &'static str,
        /// Value that was given.
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
        /// Index of the vector.
        row: usize,
        /// Index of the value in its vector.
        column: usize,
        /// The value.
        value: f32,
    },
    /// The operating system refused.
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A file's bytes are not what its format says.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Offset in bytes.
        offset: u64,
        /// Description of the damage.
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
        /// Path that was to be opened.
        path: PathBuf,
        /// Reason, and advice.
        why: &'static str,
    },
    /// Others than its owner may write to a directory.
    Exposed {
        /// The directory.
        path: PathBuf,
        /// Its mode, as `chmod` takes it.
        mode: u32,
    },
    /// A line is none of the log it is meant for.
    Line {
        /// Index of the line among those given.
        index: usize,
        /// Description of the fault, without the text of the line.
        fault: String,
    },
    /// A file of a model is not what it must be.
    Model {
        /// The file, or the folder it should be in.
        path: PathBuf,
        /// Description of the error, and of what was expected.
        fault: String,
    },
    /// Another process kept the lock for too long.
    Locked {
        /// The lock.
        path: PathBuf,
        /// Time waited.
        seconds: f64,
    },
    /// A structure cannot number one more item.
    Full {
        /// Name of the container that is full.
        what: &'static str,
        /// Capacity.
        limit: usize,
    },
}

impl Error {
    pub(crate) fn argument(what: &'static str, expected: &'static str, found: impl Into<String>) -> Self {
        Self::Argument { what, expected, found: found.into() }
    }

    /// Return a function for `map_err` on any operation on `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn model(path: &Path, fault: impl Into<String>) -> Self {
        Self::Model { path: path.to_owned(), fault: fault.into() }
    }

    /// Return whether a file is not what was written, so that trying again cannot help.
    #[cfg(feature = "disk-index")]
    pub(crate) fn is_damage(&self) -> bool {
        use io::ErrorKind::{InvalidData, InvalidInput, IsADirectory, NotADirectory, NotFound, UnexpectedEof};
        match self {
            Self::Io { source, .. } => {
                matches!(
                    source.kind(),
                    InvalidData | InvalidInput | IsADirectory | NotADirectory | NotFound | UnexpectedEof
                )
            }
            Self::Corrupt { .. } | Self::Version { .. } | Self::Refused { .. } => true,
            _ => false,
        }
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
            Self::Line { index, fault } => {
                write!(f, "lines[{index}] is no line of the log: {fault}; nothing was written")
            }
            Self::Model { path, fault } => write!(f, "{}: {fault}", path.display()),
            Self::Exposed { path, mode } => write!(
                f,
                "{0}: its mode is {mode:04o}, so others than its owner may write to it; take that right away with \
                 chmod 700 {0}",
                path.display()
            ),
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
