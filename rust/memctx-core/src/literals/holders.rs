//! Strings of each window, contiguous in memory.

use std::ops::Range;

use super::Literal;
use super::hashes;

/// Bytes of a string that are compared at once.
const HEAD: usize = 8;
const BUCKET_BITS: u32 = 9;
const BUCKETS: usize = 1 << BUCKET_BITS;

/// Strings by the keys of their windows.
///
/// Nearly every window that is looked up turns out to stand in another word, and by then the processor has long been
/// busy with other things: what is needed to see that lies in one place rather than behind pointers.
#[derive(Clone)]
pub(super) struct Holders {
    /// Start of each bucket, and the end of the last.
    starts: Box<[u32]>,
    sorted: Box<[Holder]>,
    /// The strings in full, one behind the other, for those that are longer than a head.
    bytes: Box<[u8]>,
}

#[derive(Clone, Copy)]
struct Holder {
    key: u32,
    number: u32,
    /// The first bytes, the first of them lowest.
    head: u64,
    /// The bits that count: all of a byte, or all but the case of a letter, and none behind the end.
    counts: u64,
    /// Number of its bytes before the window.
    before: u32,
    length: u32,
    /// Offset of its bytes.
    at: u32,
    any_case: bool,
}

impl Holders {
    /// Strings with the numbers 0, 1, 2 …, each with the key of its window and with how many of its bytes stand before
    /// that.
    pub(super) fn new<'a>(literals: impl IntoIterator<Item = (Literal<'a>, u32, usize)>) -> Self {
        let mut bytes = Vec::new();
        let mut holders: Vec<Holder> = (0..)
            .zip(literals)
            .map(|(number, (literal, key, before))| {
                let at = bytes.len() as u32;
                bytes.extend_from_slice(literal.text.as_bytes());
                Holder::new(literal, number, key, before, at)
            })
            .collect();
        // Stable, so that the lowest number of a bucket comes first.
        holders.sort_by_key(|holder| bucket(holder.key));
        let starts = (0..=BUCKETS).map(|wanted| holders.partition_point(|holder| bucket(holder.key) < wanted) as u32);
        Self { starts: starts.collect(), sorted: holders.into(), bytes: bytes.into() }
    }

    /// Visit every string that has the window of this key and stands around it.
    #[inline]
    pub(super) fn for_each(&self, text: &[u8], at: usize, key: u32, visit: &mut impl FnMut(usize, Range<usize>)) {
        let bucket = bucket(key);
        let (from, to) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        for holder in &self.sorted[from..to] {
            if holder.key == key
                && let Some(range) = holder.around(text, at, &self.bytes)
            {
                visit(holder.number as usize, range);
            }
        }
    }
}

impl Holder {
    fn new(Literal { text, any_case }: Literal<'_>, number: u32, key: u32, before: usize, at: u32) -> Self {
        let count = |byte: &u8| if any_case && byte.is_ascii_alphabetic() { !0x20 } else { u8::MAX };
        let head = &text.as_bytes()[..text.len().min(HEAD)];
        let counts: Vec<u8> = head.iter().map(count).collect();
        let (before, length) = (before as u32, text.len() as u32);
        Self { key, number, head: word(head), counts: word(&counts), before, length, at, any_case }
    }

    /// Return its range in the text if its window is at this offset.
    #[inline]
    fn around(&self, text: &[u8], window: usize, bytes: &[u8]) -> Option<Range<usize>> {
        let start = window.checked_sub(self.before as usize)?;
        let rest = text.get(start..)?;
        let length = self.length as usize;
        if (word(rest) ^ self.head) & self.counts != 0 || rest.len() < length {
            return None;
        }
        (length <= HEAD || self.is_whole(&rest[..length], bytes)).then_some(start..start + length)
    }

    fn is_whole(&self, found: &[u8], bytes: &[u8]) -> bool {
        let whole = &bytes[self.at as usize..][..found.len()];
        if self.any_case { found.eq_ignore_ascii_case(whole) } else { found == whole }
    }
}

/// Return the first bytes as a number, the first of them lowest; zeros stand for those that are missing.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<HEAD>() {
        Some(head) => u64::from_le_bytes(*head),
        None => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

#[inline]
fn bucket(key: u32) -> usize {
    hashes::hash::<BUCKET_BITS>(key) as usize
}
