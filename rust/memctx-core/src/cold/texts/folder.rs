//! The folder that tantivy writes into.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr};

/// The file whose replacement is a commit.
pub(super) const META: &str = "meta.json";

/// Tantivy's own folder of mapped files, but for its two lists of files: they get a checksum, as all others have one,
/// and a commit is on disk before the files it replaces go.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    files: MmapDirectory,
}

/// Eight hexadecimal digits and the end of a line.
const SEAL: usize = 9;

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self { path: path.to_owned(), files: MmapDirectory::open(path)? })
    }

    /// Let only its owner read a file, as all others of a store.
    fn close_to_others(&self, path: &Path) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // The folder is closed to others as well, so nothing is lost where it cannot be done.
            let _ = std::fs::set_permissions(self.path.join(path), std::fs::Permissions::from_mode(0o600));
        }
    }
}

impl Directory for Folder {
    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let mut bytes = self.files.atomic_read(path)?;
        let content = bytes.len().saturating_sub(SEAL);
        if bytes[content..] != *seal(&bytes[..content]) {
            let fault = io::Error::new(io::ErrorKind::InvalidData, "its checksum does not hold");
            return Err(OpenReadError::wrap_io_error(fault, path.to_owned()));
        }
        bytes.truncate(content);
        Ok(bytes)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.files.atomic_write(path, &[data, &seal(data)].concat())?;
        self.close_to_others(path);
        if path == Path::new(META) { self.files.sync_directory() } else { Ok(()) }
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = self.files.open_write(path)?;
        self.close_to_others(path);
        Ok(file)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.files.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let held = self.files.acquire_lock(lock)?;
        self.close_to_others(&lock.filepath);
        Ok(held)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(callback)
    }
}

fn seal(content: &[u8]) -> Vec<u8> {
    format!("{:08x}\n", crc32fast::hash(content)).into_bytes()
}
