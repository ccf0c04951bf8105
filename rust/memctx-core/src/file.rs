//! File access shared by all files of a store.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// Identity of a file, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Return the file of these metadata.
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// Return the file of these metadata: there is nothing stable to tell it by but when it was made.
    #[cfg(not(unix))]
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let created = metadata.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        Self { device: 0, inode: created.map_or(0, |age| age.as_nanos() as u64) }
    }
}

/// Open a regular file. A FIFO or a device in its place is refused at once: opening one may wait for ever.
#[cfg(unix)]
pub(crate) fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    open_flagged(options, path, rustix::fs::OFlags::NONBLOCK).map(|(file, _)| file)
}

#[cfg(unix)]
fn open_flagged(options: &mut OpenOptions, path: &Path, flags: rustix::fs::OFlags) -> io::Result<(File, Metadata)> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, NOT_REGULAR);
    let opened = options.custom_flags(flags.bits().cast_signed()).open(path);
    let file = opened.map_err(|fault| match rustix::io::Errno::from_io_error(&fault) {
        // A FIFO that no process reads from, or a socket.
        Some(rustix::io::Errno::NXIO) => refused(),
        _ => fault,
    })?;
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(rustix::io::Errno::ISDIR.into());
    }
    if found.is_file() { Ok((file, found)) } else { Err(refused()) }
}

/// Message for a FIFO or a device in place of a file.
const NOT_REGULAR: &str = "it is not a regular file; move it away";

/// Open a regular file.
#[cfg(not(unix))]
pub(crate) fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Open a regular file that only its owner may read, never through a link.
pub(crate) fn open_private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    open_private_sized(options, path).map(|(file, _)| file)
}

/// Return the same, with the length that the file has then.
#[cfg(unix)]
pub(crate) fn open_private_sized(options: &mut OpenOptions, path: &Path) -> io::Result<(File, u64)> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let (file, found) = open_flagged(options.mode(0o600), path, flags)?;
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

/// Read a small file of a store; an error if it holds more than `most` bytes.
#[cfg(feature = "disk-index")]
pub(crate) fn read_private(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    use std::io::Read as _;
    let (file, length) = open_private_sized(OpenOptions::new().read(true), path)?;
    let mut bytes = Vec::with_capacity(length.min(most) as usize);
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("it holds more than {most} bytes")));
    }
    Ok(bytes)
}

/// Read at an offset, without moving any position.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

/// Read at an offset. It moves the position, which no code here relies on.
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
