//! The folder that tantivy writes into.
//!
//! Nothing in it is mapped: a mapped file that another process cuts short ends this one with a signal at the next
//! access. Postings, the largest files, are read by position as queries want them, and so would be stored documents, of
//! which there are none but their places; all others are read whole, as tantivy keeps them in memory anyway.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use rustc_hash::FxHashMap;
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::{Directory, HasLen};

use crate::file::{open_private, open_private_sized, read_exact_at, read_private, sync_folder};
use crate::store::Lease;

/// The file whose replacement is a commit.
pub(super) const META: &str = "meta.json";
/// File extensions of what is read by position: postings and stored documents.
const POSITIONED: [&str; 2] = ["idx", "store"];
/// Files of up to so many bytes are read whole: each one that is read by position stays open.
const SMALL: u64 = if cfg!(test) { 64 } else { 1 << 20 };
/// More than any list of files takes.
const LARGEST_LIST: u64 = 64 << 20;
/// Eight hexadecimal digits and the end of a line.
const SEAL: usize = 9;
/// Number of attempts to take a lock that is waited for.
const ATTEMPTS: usize = 1000;
const PAUSE: Duration = Duration::from_millis(10);

/// The files of a text index. The two lists of files get a checksum, as all others have one, and a commit is on disk
/// before the files it replaces go.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Files that are in use, so that none is read twice.
    opened: Arc<Mutex<FxHashMap<PathBuf, Weak<dyn FileHandle>>>>,
}

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self, OpenDirectoryError> {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_dir() => Ok(Self { path: path.to_owned(), opened: Arc::default() }),
            Ok(_) => Err(OpenDirectoryError::NotADirectory(path.to_owned())),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
                Err(OpenDirectoryError::DoesNotExist(path.to_owned()))
            }
            Err(fault) => Err(OpenDirectoryError::wrap_io_error(fault, path.to_owned())),
        }
    }

    /// Return the length that a file has now; none if it is not there.
    pub(super) fn length(&self, path: &Path) -> Option<u64> {
        fs::symlink_metadata(self.path.join(path)).ok().map(|found| found.len())
    }

    fn read(&self, path: &Path) -> io::Result<Arc<dyn FileHandle>> {
        let (file, length) = open_private_sized(OpenOptions::new().read(true), &self.path.join(path))?;
        if length > SMALL && path.extension().is_some_and(|extension| POSITIONED.iter().any(|one| extension == *one)) {
            return Ok(Arc::new(Positioned { file, length: length as usize }));
        }
        let mut bytes = vec![0; length as usize];
        read_exact_at(&file, &mut bytes, 0)?;
        Ok(Arc::new(OwnedBytes::new(bytes)))
    }
}

impl Directory for Folder {
    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let read = read_private(&self.path.join(path), LARGEST_LIST);
        let mut bytes = read.map_err(|fault| unreadable(fault, path))?;
        let content = bytes.len().saturating_sub(SEAL);
        if bytes[content..] != *seal(&bytes[..content]) {
            let fault = io::Error::new(io::ErrorKind::InvalidData, "its checksum does not hold");
            return Err(OpenReadError::wrap_io_error(fault, path.to_owned()));
        }
        bytes.truncate(content);
        Ok(bytes)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".list-").tempfile_in(&self.path)?;
        file.write_all(data)?;
        file.write_all(&seal(data))?;
        file.as_file().sync_data()?;
        file.persist(self.path.join(path)).map_err(|refused| refused.error)?;
        if path == Path::new(META) { self.sync_directory() } else { Ok(()) }
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = opened.get(path).and_then(Weak::upgrade) {
            return Ok(handle);
        }
        opened.retain(|_, handle| handle.strong_count() > 0);
        let handle = self.read(path).map_err(|fault| unreadable(fault, path))?;
        opened.insert(path.to_owned(), Arc::downgrade(&handle));
        Ok(handle)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        fs::remove_file(self.path.join(path)).map_err(|fault| match fault.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(path.to_owned()),
            _ => DeleteError::IoError { io_error: Arc::new(fault), filepath: path.to_owned() },
        })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.path.join(path).try_exists().map_err(|fault| unreadable(fault, path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let opened = open_private(OpenOptions::new().write(true).create_new(true), &self.path.join(path));
        let file = opened.map_err(|fault| match fault.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(fault, path.to_owned()),
        })?;
        Ok(BufWriter::new(Box::new(Written(file))))
    }

    fn sync_directory(&self) -> io::Result<()> {
        sync_folder(&self.path)
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let attempts = if lock.is_blocking { ATTEMPTS } else { 1 };
        for attempt in 0..attempts {
            if attempt > 0 {
                thread::sleep(PAUSE);
            }
            let lease = Lease::acquire(&self.path.join(&lock.filepath));
            let refused = |fault: crate::Error| LockError::wrap_io_error(io::Error::other(fault.to_string()));
            if let Some(held) = lease.map_err(refused)? {
                return Ok(DirectoryLock::from(Box::new(held)));
            }
        }
        Err(LockError::LockBusy)
    }

    /// Readers look for commits by themselves.
    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// A file that is read as it is asked for. One that was cut short meanwhile gives an error.
#[derive(Debug)]
struct Positioned {
    file: File,
    length: usize,
}

impl HasLen for Positioned {
    fn len(&self) -> usize {
        self.length
    }
}

impl FileHandle for Positioned {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let mut bytes = vec![0; range.len()];
        read_exact_at(&self.file, &mut bytes, range.start as u64)?;
        Ok(OwnedBytes::new(bytes))
    }
}

/// A file that is on disk once it is finished.
struct Written(File);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for Written {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.sync_data()
    }
}

fn unreadable(fault: io::Error, path: &Path) -> OpenReadError {
    match fault.kind() {
        io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(path.to_owned()),
        _ => OpenReadError::wrap_io_error(fault, path.to_owned()),
    }
}

fn seal(content: &[u8]) -> Vec<u8> {
    format!("{:08x}\n", crc32fast::hash(content)).into_bytes()
}
