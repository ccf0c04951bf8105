//! Serialization of the index, so that opening it needs no tokenization.

use std::io::{self, Write};

use super::postings::Postings;
use super::term::TermTable;
use super::texts::{Contents, Texts};
use crate::blocks::{BlockReader, BlockWriter, Fault};
use crate::text::Mode;

const INCONSISTENT: Fault = "parts of the text index are inconsistent";

impl Texts {
    pub(crate) fn save<W: Write>(&self, out: &mut BlockWriter<W>) -> io::Result<()> {
        out.write("t.count", &[self.live as u64, self.tokens])?;
        out.write("t.length", &self.lengths)?;
        out.write("t.terms", &self.contents.terms)?;
        out.write("t.ends", &self.contents.ends)?;
        self.terms.save(out)?;
        self.postings.save(out)
    }

    pub(crate) fn load(mode: Mode, from: &BlockReader) -> Result<Self, Fault> {
        let [live, tokens] = from.read_one("t.count")?;
        let lengths: Vec<u32> = from.read("t.length")?;
        let contents = Contents { terms: from.read("t.terms")?, ends: from.read("t.ends")? };
        let (terms, postings) = (TermTable::load(from)?, Postings::load(from)?);
        let is_consistent = contents.ends.len() == lengths.len()
            && contents.ends.is_sorted()
            && contents.ends.last().copied().unwrap_or_default() == contents.terms.len() as u64
            && contents.terms.iter().all(|&term| (term as usize) < terms.len())
            && live as usize <= lengths.len();
        if !is_consistent {
            return Err(INCONSISTENT);
        }
        let mut texts = Self::new(mode);
        (texts.lengths, texts.contents, texts.terms, texts.postings) = (lengths, contents, terms, postings);
        (texts.live, texts.tokens) = (live as usize, tokens);
        Ok(texts)
    }
}
