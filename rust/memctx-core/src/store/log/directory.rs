//! The folder a store lives in.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::file::{open_private, sync_folder};
use crate::{Error, Result};

/// A folder that belongs to the user of this process alone.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

/// The folder of derived files; it may be deleted at any time.
const INDEX: &str = "index";

impl Directory {
    /// Use a folder, making it if it is missing.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let directory = Self { path: path.to_owned() };
        directory.ensure()?;
        Ok(directory)
    }

    /// Use a folder only if it is there.
    pub(crate) fn existing(path: &Path) -> Result<Self> {
        let found = fs::symlink_metadata(path).map_err(Error::io(path))?;
        admit(path, &found)?;
        Ok(Self { path: path.to_owned() })
    }

    /// Make the folder if it is missing, also when someone deleted it since.
    pub(crate) fn ensure(&self) -> Result<()> {
        match fs::symlink_metadata(&self.path) {
            Ok(found) => admit(&self.path, &found),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => create(&self.path).map_err(Error::io(&self.path)),
            Err(fault) => Err(Error::io(&self.path)(fault)),
        }
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The folder for derived files, made if it is missing.
    pub(crate) fn index(&self) -> Result<PathBuf> {
        let path = self.path.join(INDEX);
        match create_one(&path) {
            Err(fault) if fault.kind() != io::ErrorKind::AlreadyExists => Err(Error::io(&path)(fault)),
            _ => self.derived(),
        }
    }

    /// The folder for derived files, which need not be there.
    pub(crate) fn derived(&self) -> Result<PathBuf> {
        let path = self.path.join(INDEX);
        if path.is_symlink() {
            return Err(Error::Refused { path, why: "it is a symbolic link; replace it by a directory, or delete it" });
        }
        Ok(path)
    }

    /// Open the log of segments to read it; none if there is none.
    pub(crate) fn log(&self) -> Result<Option<File>> {
        self.read(super::SEGMENTS)
    }

    /// Return the identity of the log of segments; `None` if there is no log.
    #[cfg(feature = "disk-index")]
    pub(crate) fn log_identity(&self) -> Option<crate::file::Identity> {
        fs::symlink_metadata(self.file(super::SEGMENTS)).ok().map(|found| crate::file::Identity::of(&found))
    }

    /// Open a file to read it; none if there is none.
    pub(crate) fn read(&self, name: &str) -> Result<Option<File>> {
        let path = self.file(name);
        match open_private(OpenOptions::new().read(true), &path) {
            Ok(file) => Ok(Some(file)),
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(fault) => Err(Error::io(&path)(fault)),
        }
    }

    /// Open a file to read it and to write behind its end. Its name is on disk when this returns.
    pub(crate) fn append(&self, name: &str) -> Result<File> {
        let path = self.file(name);
        let options = &mut OpenOptions::new();
        let file = open_private(options.read(true).append(true).create(true), &path).map_err(Error::io(&path))?;
        if file.metadata().map_err(Error::io(&path))?.len() == 0 {
            // New, or made by someone who did not get this far.
            sync_folder(&self.path).map_err(Error::io(&self.path))?;
        }
        Ok(file)
    }

    /// Return the name of the folder's file system if other machines may write to it too.
    #[cfg(target_os = "linux")]
    pub(crate) fn network(&self) -> Option<&'static str> {
        // Numbers of linux/magic.h.
        let kind = rustix::fs::statfs(&self.path).ok()?.f_type;
        match kind & 0xFFFF_FFFF {
            0x6969 => Some("NFS"),
            0xFF53_4D42 | 0xFE53_4D42 | 0x517B => Some("SMB"),
            0x0102_1997 => Some("9p"),
            0x6573_5546 => Some("FUSE"),
            _ => None,
        }
    }

    /// Not known here.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn network(&self) -> Option<&'static str> {
        None
    }
}

/// Refuse what another user could have put there.
fn admit(path: &Path, found: &fs::Metadata) -> Result<()> {
    let refuse = |why: &'static str| Err(Error::Refused { path: path.to_owned(), why });
    if found.is_symlink() {
        return refuse("it is a symbolic link; name the directory itself");
    }
    if !found.is_dir() {
        return refuse("it is not a directory");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if found.uid() != rustix::process::geteuid().as_raw() {
            return refuse("it belongs to another user");
        }
        if found.mode() & 0o022 != 0 {
            return Err(Error::Exposed { path: path.to_owned(), mode: found.mode() & 0o7777 });
        }
    }
    Ok(())
}

fn create(path: &Path) -> io::Result<()> {
    let parents: Vec<&Path> = path.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()).collect();
    let missing = parents.iter().take_while(|parent| !parent.exists()).count();
    if let Some(parent) = parents.first() {
        fs::create_dir_all(parent)?;
    }
    create_one(path).or_else(|fault| if path.is_dir() { Ok(()) } else { Err(fault) })?;
    // The names of all that are new are in the folders above them.
    parents.iter().take(missing + 1).try_for_each(|parent| sync_folder(parent))
}

#[cfg(unix)]
fn create_one(path: &Path) -> io::Result<()> {
    std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(path)
}

#[cfg(not(unix))]
fn create_one(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}
