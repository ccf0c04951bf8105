//! Vectors on disk with their 8-bit copies.

use std::io::{self, Write};

use super::coarse::Copies;
use super::rows::Rows;
use crate::blocks::{BlockReader, BlockWriter, Fault};

impl Rows {
    pub(crate) fn save<W: Write>(&self, out: &mut BlockWriter<W>) -> io::Result<()> {
        out.write("v.values", &self.values)?;
        out.write("v.norms", &self.norms)?;
        self.copies.save(out)
    }

    pub(crate) fn load(dim: usize, from: &BlockReader) -> Result<Self, Fault> {
        let mut rows = Self::new(dim).map_err(|_| "the vectors have no dimension")?;
        (rows.values, rows.norms) = (from.read("v.values")?, from.read("v.norms")?);
        rows.copies = Copies::load(dim, from)?;
        if rows.values.len() != rows.norms.len() * dim || !rows.copies.has_rows(rows.norms.len()) {
            return Err("parts of the vectors are inconsistent");
        }
        Ok(rows)
    }
}
