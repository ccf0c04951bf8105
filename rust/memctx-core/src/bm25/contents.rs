//! The distinct terms of each document, so that removing one can correct the counts.

use std::io::{self, Write};

use crate::blocks::{BlockReader, BlockWriter, Fault};
use crate::varint;

/// The gaps between the numbers of a document's terms, ascending, in as few bytes as each takes.
#[derive(Debug, Default)]
pub(super) struct Contents {
    bytes: Vec<u8>,
    /// The end of each document.
    ends: Vec<u64>,
}

impl Contents {
    /// Add a document with these terms, in any order.
    pub(super) fn push(&mut self, terms: &mut [u32]) {
        terms.sort_unstable();
        let mut last = 0;
        for &term in &*terms {
            varint::write(&mut self.bytes, term - last);
            last = term;
        }
        self.ends.push(self.bytes.len() as u64);
    }

    /// Return the terms of a document.
    pub(super) fn of(&self, document: u32) -> impl Iterator<Item = u32> {
        let document = document as usize;
        let start = if document == 0 { 0 } else { self.ends[document - 1] };
        let mut rest = &self.bytes[start as usize..self.ends[document] as usize];
        let mut last = 0_u32;
        std::iter::from_fn(move || {
            last = last.wrapping_add(varint::read(&mut rest)?);
            Some(last)
        })
    }

    pub(super) fn save<W: Write>(&self, out: &mut BlockWriter<W>) -> io::Result<()> {
        out.write("t.terms", &self.bytes)?;
        out.write("t.ends", &self.ends)
    }

    /// Load the terms of so many documents.
    pub(super) fn load(from: &BlockReader, documents: usize) -> Result<Self, Fault> {
        let contents = Self { bytes: from.read("t.terms")?, ends: from.read("t.ends")? };
        let is_consistent = contents.ends.len() == documents
            && contents.ends.is_sorted()
            && contents.ends.last().copied().unwrap_or_default() == contents.bytes.len() as u64;
        if is_consistent { Ok(contents) } else { Err("the terms of the texts are inconsistent") }
    }
}
