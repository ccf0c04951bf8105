//! Generations: the folders of the disk index, one for each rebuild.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::file::{read_private, sync_folder};
use crate::{Error, Result};

/// Names the folder in use.
const CURRENT: &str = "CURRENT";
/// More than any name takes.
const LONGEST: u64 = 256;
/// Prefix of the names of the folders.
const PREFIX: &str = "g-";

/// Return the folder in use; none if there is none.
pub(super) fn current(home: &Path) -> Option<PathBuf> {
    let name = String::from_utf8(read_private(&home.join(CURRENT), LONGEST).ok()?).ok()?;
    let name = name.trim();
    let folder = home.join(name);
    (is_generation(name) && !folder.is_symlink()).then_some(folder)
}

/// Make an empty folder that is not in use yet.
pub(super) fn begin(home: &Path) -> Result<PathBuf> {
    // Never a name that was used before: who still looks at that one must not take this for it.
    let folder = home.join(format!("{PREFIX}{}", uuid::Uuid::new_v4().simple()));
    private_folder(&folder).map_err(Error::io(&folder))?;
    Ok(folder)
}

/// Use a folder from now on, and delete all others. Who still reads those keeps them until it is done.
pub(super) fn switch(home: &Path, folder: &Path) -> Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let write = || -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".current-").tempfile_in(home)?;
        writeln!(file, "{name}")?;
        file.as_file().sync_all()?;
        file.persist(home.join(CURRENT)).map_err(|refused| refused.error)?;
        sync_folder(home)
    };
    write().map_err(Error::io(&home.join(CURRENT)))?;
    sweep(home);
    Ok(())
}

/// Delete the folders that are not in use: those of indexers that died, and those that were replaced.
pub(super) fn sweep(home: &Path) {
    let current = current(home);
    let files = fs::read_dir(home).into_iter().flatten().flatten();
    for file in files.filter(|file| is_generation(&file.file_name().to_string_lossy())) {
        let folder = file.path();
        if current.as_ref() != Some(&folder) {
            // Where it cannot be deleted yet the next sweep tries again.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Make a folder for its owner alone, unless it is there.
pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done,
    }
}

/// Return the bytes of all files under a folder.
pub(super) fn bytes(folder: &Path) -> u64 {
    let Ok(files) = fs::read_dir(folder) else { return 0 };
    let size = |file: fs::DirEntry| match file.metadata() {
        Ok(found) if found.is_dir() => bytes(&file.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    files.flatten().map(size).sum()
}

fn is_generation(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
