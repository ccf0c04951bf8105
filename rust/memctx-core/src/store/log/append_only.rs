//! A file of lines that only grows.
//!
//! A batch of lines is one write under the directory's lock, acknowledged once it is on disk. A write that failed
//! halfway is cut back to its last whole line; what a crash left unfinished is closed with a line feed by the next
//! writer and stays as a line that readers pass over. Nothing that a reader may have read ever changes.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::directory::Directory;
use super::lines::LONGEST;
use crate::file::{Identity, open_private, read_exact_at};
use crate::store::settings::Durability;
use crate::{Error, Result};

/// An open log.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: Arc<File>,
    identity: Identity,
    is_writable: bool,
    durability: Durability,
    /// Held by the one who syncs for all.
    turn: Mutex<()>,
    commit: Mutex<Commit>,
}

/// The part of the file that is on disk.
#[derive(Debug, Default)]
struct Commit {
    /// Everything before this place is.
    reached: u64,
    /// Our own bytes that may not be, and where they belong.
    unsynced: Vec<(u64, Vec<u8>)>,
    /// A sync failed. The kernel may since have dropped what it could not write, so only writing it again helps.
    is_poisoned: bool,
}

impl Commit {
    /// Return the end of our own bytes that may not be on disk; 0 if there are none.
    fn end(&self) -> u64 {
        self.unsynced.iter().map(|(start, bytes)| start + bytes.len() as u64).max().unwrap_or_default()
    }
}

/// The range of an appended batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// True if an unfinished line had to be closed first.
    pub(crate) repaired: bool,
}

impl Log {
    /// Open the log for reading and, unless the directory forbids it, for writing; none if it does not exist.
    pub(crate) fn open(directory: &Directory, name: &str, durability: Durability) -> Result<Option<Self>> {
        let path = directory.file(name);
        match open_private(OpenOptions::new().read(true).append(true), &path) {
            Ok(file) => Self::of(path, file, true, durability).map(Some),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) if is_forbidden(&fault) => {
                directory.read(name)?.map(|file| Self::of(path, file, false, durability)).transpose()
            }
            Err(fault) => Err(Error::io(&path)(fault)),
        }
    }

    /// Open the log for writing, making it if it is missing.
    pub(crate) fn create(directory: &Directory, name: &str, durability: Durability) -> Result<Self> {
        Self::of(directory.file(name), directory.append(name)?, true, durability)
    }

    fn of(path: PathBuf, file: File, is_writable: bool, durability: Durability) -> Result<Self> {
        let identity = Identity::of(&file.metadata().map_err(Error::io(&path))?);
        let (turn, commit) = (Mutex::default(), Mutex::default());
        Ok(Self { path, file: Arc::new(file), identity, is_writable, durability, turn, commit })
    }

    /// The file, to be read from at any time.
    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.is_writable
    }

    /// Return whether the path still stands for this file, and how long it is then.
    pub(crate) fn current_len(&self) -> Option<u64> {
        let found = std::fs::symlink_metadata(&self.path).ok()?;
        (Identity::of(&found) == self.identity).then_some(found.len())
    }

    /// Close a last line that lacks its end: it may be a whole record, which then counts before anything is added.
    /// Gives whether there was one. To be called under the directory's lock.
    pub(crate) fn close_last_line(&self) -> Result<bool> {
        let len = self.len()?;
        if len == 0 || self.ends_in_line_feed(len).map_err(Error::io(&self.path))? {
            return Ok(false);
        }
        self.write(b"\n").map_err(|(_, fault)| Error::io(&self.path)(fault))?;
        self.keep_until_synced(len, b"\n".to_vec());
        Ok(true)
    }

    /// Write lines, each with its end, behind all others. To be called under the directory's lock.
    pub(crate) fn append(&self, lines: Vec<u8>) -> Result<Place> {
        if lines.len() > LONGEST && lines.split(|byte| *byte == b'\n').any(|line| line.len() > LONGEST) {
            // No reader would look at it.
            return Err(Error::argument("content", "at most 256 MiB long as JSON", "longer"));
        }
        self.append_any(lines)
    }

    /// Append lines of any length, as [`Log::append`] does.
    pub(crate) fn append_any(&self, mut lines: Vec<u8>) -> Result<Place> {
        self.repair().map_err(Error::io(&self.path))?;
        let before = self.len()?;
        let repaired = before > 0 && !self.ends_in_line_feed(before).map_err(Error::io(&self.path))?;
        if repaired {
            lines.insert(0, b'\n');
        }
        if let Err((written, fault)) = self.write(&lines) {
            let whole = memchr::memrchr(b'\n', &lines[..written]).map_or(0, |at| at + 1);
            // Someone who takes no lock may have written behind us; that is not ours to cut.
            if self.len()? == before + written as u64 {
                // If it fails the next writer closes the line.
                let _ = self.file.set_len(before + whole as u64);
            }
            return Err(Error::io(&self.path)(fault));
        }
        let end = before + lines.len() as u64;
        self.keep_until_synced(before, lines);
        Ok(Place { start: before + u64::from(repaired), end, repaired })
    }

    /// Remember what was written at a place, so that it can be written again if a sync fails.
    fn keep_until_synced(&self, start: u64, bytes: Vec<u8>) {
        if self.durability == Durability::Fsync {
            let mut commit = lock(&self.commit);
            // A sync may have counted bytes here that another writer has cut back since.
            commit.reached = commit.reached.min(start);
            commit.unsynced.push((start, bytes));
        }
    }

    /// Return once everything before this place is on disk. One call serves all who wait.
    pub(crate) fn sync(&self, end: u64) -> Result<()> {
        if self.durability == Durability::Os || self.is_synced(end) {
            return Ok(());
        }
        let _turn = lock(&self.turn);
        // A caller that retries a failed sync has nothing new to write, so this cannot be left to `append`.
        self.repair().map_err(Error::io(&self.path))?;
        if self.is_synced(end) {
            return Ok(());
        }
        let commit = lock(&self.commit);
        let known = commit.unsynced.len();
        // What was written before this moment will be on disk: all of ours, and all that the caller has read of others.
        let target = commit.end().max(end);
        drop(commit);
        let synced = self.file.sync_data();
        let mut commit = lock(&self.commit);
        if let Err(fault) = synced {
            commit.is_poisoned = true;
            return Err(Error::io(&self.path)(fault));
        }
        // What was written meanwhile may lie where a failed write had been cut back, before the end as it was then.
        let target = commit.unsynced.iter().skip(known).map(|(start, _)| *start).fold(target, u64::min);
        commit.reached = commit.reached.max(target);
        commit.unsynced.retain(|(start, lines)| start + lines.len() as u64 > target);
        Ok(())
    }

    /// Up to where the log was written here without having reached the disk.
    pub(crate) fn unsynced_end(&self) -> Option<u64> {
        Some(lock(&self.commit).end()).filter(|&end| end > 0)
    }

    fn is_synced(&self, end: u64) -> bool {
        let commit = lock(&self.commit);
        !commit.is_poisoned && commit.reached >= end
    }

    /// After a failed sync: write the bytes it may have lost again, through a handle that has not failed.
    fn repair(&self) -> io::Result<()> {
        let mut commit = lock(&self.commit);
        if !commit.is_poisoned {
            return Ok(());
        }
        let mut file = open_private(OpenOptions::new().write(true), &self.path)?;
        if Identity::of(&file.metadata()?) != self.identity {
            return Err(io::Error::other("the log was replaced before a write to it reached the disk"));
        }
        for (start, lines) in &commit.unsynced {
            file.seek(SeekFrom::Start(*start))?;
            file.write_all(lines)?;
        }
        let end = file.metadata()?.len();
        file.sync_all()?;
        *commit = Commit { reached: end, ..Commit::default() };
        Ok(())
    }

    /// Return whether a sync failed and what it left has not been written again.
    pub(crate) fn is_poisoned(&self) -> bool {
        lock(&self.commit).is_poisoned
    }

    fn len(&self) -> Result<u64> {
        self.file.metadata().map(|found| found.len()).map_err(Error::io(&self.path))
    }

    fn ends_in_line_feed(&self, len: u64) -> io::Result<bool> {
        let mut last = [0];
        read_exact_at(&self.file, &mut last, len - 1)?;
        Ok(last == *b"\n")
    }

    /// Write all; an error comes with the number of bytes that were written before it.
    fn write(&self, bytes: &[u8]) -> std::result::Result<(), (usize, io::Error)> {
        let mut written = 0;
        while written < bytes.len() {
            match (&*self.file).write(&bytes[written..]) {
                Ok(0) => return Err((written, io::ErrorKind::WriteZero.into())),
                Ok(more) => written += more,
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                Err(fault) => return Err((written, fault)),
            }
        }
        Ok(())
    }
}

/// Lock; each change of what is locked here is one assignment, so a panic of another thread left it whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Return whether the operating system will not have the file written by us.
fn is_forbidden(fault: &io::Error) -> bool {
    matches!(fault.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
