//! What the cold tier needs of memory that is not its own. This is its one file with `unsafe` code.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

/// The first bytes of a file, which must be there; nothing at all if there are none.
pub(super) fn map(file: &File, bytes: u64) -> io::Result<Option<Mmap>> {
    if file.metadata()?.len() < bytes {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it has been cut short"));
    }
    let bytes = usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
    if bytes == 0 {
        return Ok(None);
    }
    // SAFETY: files of the cold tier only grow, or are replaced under another inode; the bytes that a commit counts are
    // never written again, and only those are mapped.
    unsafe { MmapOptions::new().len(bytes).map(file) }.map(Some)
}

/// Bytes of a number in the hands of usearch.
pub(super) const NUMBER_BYTES: usize = size_of::<u32>();

/// A number as a vector of bytes.
pub(super) fn vector_of(number: u32) -> [i8; NUMBER_BYTES] {
    number.to_ne_bytes().map(u8::cast_signed)
}

/// An index over such vectors whose distances are told by number.
pub(super) fn numbered_index(
    options: &usearch::IndexOptions,
    distance: impl Fn(u32, u32) -> f32 + Send + Sync + 'static,
) -> io::Result<usearch::Index> {
    let mut index = usearch::Index::new(options).map_err(io::Error::other)?;
    let number = |vector: *const i8| {
        // SAFETY: usearch passes pointers to vectors that were added or are searched for, which have these bytes.
        u32::from_ne_bytes(unsafe { vector.cast::<[u8; NUMBER_BYTES]>().read() })
    };
    let metric = Box::new(move |a, b| distance(number(a), number(b)));
    index.change_metric::<i8>(metric);
    Ok(index)
}
