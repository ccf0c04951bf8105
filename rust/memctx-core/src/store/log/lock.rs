//! The write lock of a store: one process writes at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use super::checksum::{self, Checksum};
use super::directory::Directory;
use crate::file::open_private_sized;
use crate::{Error, Result};

/// The file that is locked. It is never replaced, and the kernel lets go of the lock when its holder dies.
const NAME: &str = "LOCK";
/// The file's content: the format, and the oldest version that may read and write the directory. It is sealed, so that a
/// flipped bit cannot make a version of it that locks us out.
const FORMAT: &[u8] = b"{\"format\":1,\"min_reader\":1,\"min_writer\":1";

/// More than any version has to say.
const LONGEST: u64 = 4096;

/// The right to write to a directory.
#[derive(Debug)]
pub(crate) struct Lock {
    directory: Directory,
    timeout: Duration,
}

/// Gives the lock back when it goes.
///
/// The file is open only for as long as the lock is held: a child of this process that inherited the handle would keep
/// the lock of a parent that died.
#[derive(Debug)]
pub(crate) struct Held(File);

impl Drop for Held {
    fn drop(&mut self) {
        // Closing is not enough: a child that was forked meanwhile has the file open too. It can only fail if the lock is
        // not held, and then all is well.
        let _ = self.0.unlock();
    }
}

impl Lock {
    pub(crate) fn new(directory: Directory, timeout: Duration) -> Self {
        Self { directory, timeout }
    }

    /// Wait for the lock, but not longer than the time set, which began at `start`.
    pub(crate) fn acquire(&self, start: Instant) -> Result<Held> {
        let path = self.directory.file(NAME);
        let file = open(&self.directory)?;
        let mut pause = Duration::from_micros(50);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Held(file)),
                Err(TryLockError::Error(fault)) => return Err(Error::io(&path)(fault)),
                Err(TryLockError::WouldBlock) if start.elapsed() >= self.timeout => {
                    return Err(Error::Locked { path, seconds: self.timeout.as_secs_f64() });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(pause),
            }
            pause = (pause * 2).min(Duration::from_millis(5));
        }
    }
}

fn open(directory: &Directory) -> Result<File> {
    directory.ensure()?;
    let path = directory.file(NAME);
    let options = &mut OpenOptions::new();
    let (mut file, length) =
        open_private_sized(options.read(true).append(true).create(true), &path).map_err(Error::io(&path))?;
    if length == 0 {
        // Two processes may both write it; the first line counts. Without it the directory is of version 1 too.
        let mut line = FORMAT.to_vec();
        checksum::seal(&mut line);
        line.push(b'\n');
        let _ = file.write_all(&line);
    }
    Ok(file)
}

/// The versions of the format that may read and write a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
pub(crate) struct Format {
    #[serde(rename = "format")]
    pub(crate) version: u32,
    pub(crate) min_reader: u32,
    pub(crate) min_writer: u32,
}

impl Format {
    /// The version this code reads and writes.
    pub(crate) const OURS: u32 = 1;

    /// Return the format of a directory; an error if it needs a newer reader.
    pub(crate) fn check_readable(directory: &Directory) -> Result<Self> {
        let format = Self::of(directory);
        if format.min_reader > Self::OURS { Err(format.unsupported(directory)) } else { Ok(format) }
    }

    /// Return the format of a directory; an error if it needs a newer reader or writer.
    pub(crate) fn check_writable(directory: &Directory) -> Result<Self> {
        let format = Self::check_readable(directory)?;
        if format.min_writer > Self::OURS { Err(format.unsupported(directory)) } else { Ok(format) }
    }

    fn unsupported(self, directory: &Directory) -> Error {
        Error::Version { path: directory.path().to_owned(), found: self.version, supported: Self::OURS }
    }

    /// Return the format that a directory declares; version 1 if the declaration is damaged or missing.
    fn of(directory: &Directory) -> Self {
        let mut text = Vec::new();
        if let Ok(Some(file)) = directory.read(NAME) {
            let _ = file.take(LONGEST).read_to_end(&mut text);
        }
        let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let said = (checksum::check(first) != Checksum::Broken).then(|| serde_json::from_slice(first).ok()).flatten();
        said.unwrap_or(Self { version: 1, min_reader: 1, min_writer: 1 })
    }
}
