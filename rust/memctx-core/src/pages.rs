//! Large pages for memory with random access.
//!
//! With small ones nearly every such read has to find out first where its page is. Asking for large ones is a system
//! call that Rust only has as `unsafe`.
#![allow(unsafe_code)]

/// Below this many bytes small pages do.
const LEAST: usize = 4 << 20;

/// Create an empty list with room for so many.
pub(crate) fn with_room<T>(count: usize) -> Vec<T> {
    let mut items = Vec::with_capacity(count);
    if count * size_of::<T>() >= LEAST {
        ask_for_large_pages(items.spare_capacity_mut());
    }
    items
}

/// Room for more items, and for more than that, so that much is moved seldom.
#[inline]
pub(crate) fn make_room<T: Copy>(items: &mut Vec<T>, more: usize) {
    if items.capacity() - items.len() < more {
        move_to_more(items, more);
    }
}

#[cold]
fn move_to_more<T: Copy>(items: &mut Vec<T>, more: usize) {
    // Not in place: what was written to on small pages would stay on them.
    let mut moved = with_room((items.len() + more).max(2 * items.len()));
    moved.extend_from_slice(items);
    *items = moved;
}

/// Have memory that has not been written to yet consist of large pages, as far as there are any.
#[cfg(target_os = "linux")]
fn ask_for_large_pages<T>(memory: &mut [std::mem::MaybeUninit<T>]) {
    use rustix::mm::{Advice, madvise};
    let page = rustix::param::page_size();
    let start = memory.as_mut_ptr();
    let skipped = start.addr().next_multiple_of(page) - start.addr();
    let bytes = size_of_val(memory).saturating_sub(skipped) / page * page;
    // SAFETY: the pages lie within memory that is lent to us alone, and stay as they are. That none may be had is no
    // fault.
    let _ = unsafe { madvise(start.wrapping_byte_add(skipped).cast(), bytes, Advice::LinuxHugepage) };
}

/// Elsewhere the system decides by itself.
#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages<T>(_: &mut [std::mem::MaybeUninit<T>]) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_when_room_is_made() {
        let mut items: Vec<u32> = Vec::new();
        for item in 0..LEAST as u32 {
            make_room(&mut items, 1);
            let start = items.as_ptr();
            items.push(item);
            assert_eq!(items.as_ptr(), start);
        }
        assert!((0..).zip(&items).all(|(expected, &item)| item == expected));
    }
}
