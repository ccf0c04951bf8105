//! The vectors that usearch links, which are row numbers. This is the disk index's one file with `unsafe` code.
#![allow(unsafe_code)]

use std::io;

/// Bytes of a number in the hands of usearch.
pub(super) const NUMBER_BYTES: usize = size_of::<u32>();

/// Return a number as a vector of bytes.
pub(super) fn vector_of(number: u32) -> [i8; NUMBER_BYTES] {
    number.to_ne_bytes().map(u8::cast_signed)
}

/// Return an index over such vectors whose distances are computed by number.
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
