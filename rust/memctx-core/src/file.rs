//! What every file of a store needs of the operating system.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// Which file a handle or a path stands for, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// The file of these metadata.
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// The file of these metadata: there is nothing stable to tell it by but when it was made.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let created = metadata.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        Self { device: 0, inode: created.map_or(0, |age| age.as_nanos() as u64) }
    }
}

/// Open a file that only its owner may read, never through a link.
pub(crate) fn open_private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    open_private_sized(options, path).map(|(file, _)| file)
}

/// The same, with the length that the file has then.
#[cfg(unix)]
pub(crate) fn open_private_sized(options: &mut OpenOptions, path: &Path) -> io::Result<(File, u64)> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let file = options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()).open(path)?;
    let found = file.metadata()?;
    if found.permissions().mode() & 0o077 != 0 {
        // Written by someone who left it open to all. If it cannot be closed it can still be used.
        let _ = file.set_permissions(std::fs::Permissions::from_mode(0o600));
    }
    Ok((file, found.len()))
}

/// Open a file, with the length that it has then.
#[cfg(not(unix))]
pub(crate) fn open_private_sized(options: &mut OpenOptions, path: &Path) -> io::Result<(File, u64)> {
    let file = options.open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

/// Read at a place, without moving any position.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

/// Read at a place. It moves the position, which nobody here relies on.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Fill the buffer from a place.
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match read_at(file, buffer, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                buffer = &mut buffer[read..];
                offset += read as u64;
            }
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}

/// Make new names in a folder outlast a power cut.
#[cfg(unix)]
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Nothing to do where folders cannot be opened.
#[cfg(not(unix))]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
