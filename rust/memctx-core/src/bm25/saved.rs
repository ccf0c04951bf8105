//! Serialization of the index, so that opening it needs no tokenization.

use std::io::{self, Write};

use super::contents::Contents;
use super::postings::{MAX_DOCUMENTS, Postings};
use super::term::TermTable;
use super::texts::Texts;
use crate::blocks::{BlockReader, BlockWriter, Fault};
use crate::text::Mode;

const INCONSISTENT: Fault = "parts of the text index are inconsistent";

impl Texts {
    pub(crate) fn save<W: Write>(&self, out: &mut BlockWriter<W>) -> io::Result<()> {
        out.write("t.count", &[self.live as u64, self.tokens])?;
        out.write("t.length", &self.lengths)?;
        self.contents.save(out)?;
        let mut words = Vec::new();
        self.terms.save(self.terms.iter().map(|(_, _, list)| self.postings.pack(list, &mut words)), out)?;
        self.postings.save(&words, out)
    }

    pub(crate) fn load(mode: Mode, from: &BlockReader) -> Result<Self, Fault> {
        let [live, tokens] = from.read_one("t.count")?;
        let lengths: Vec<u32> = from.read("t.length")?;
        if live as usize > lengths.len() || lengths.len() > MAX_DOCUMENTS {
            return Err(INCONSISTENT);
        }
        let contents = Contents::load(from, lengths.len())?;
        let (terms, postings) = (TermTable::load(from)?, Postings::load(from)?);
        let mut texts = Self::new(mode);
        (texts.lengths, texts.contents, texts.terms, texts.postings) = (lengths, contents, terms, postings);
        (texts.live, texts.tokens) = (live as usize, tokens);
        Ok(texts)
    }
}
