//! Vectors on disk with their 8-bit copies.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use super::coarse::Copies;
use super::rows::Rows;
use super::values::{Place, Values};
use crate::blocks::{BlockReader, BlockWriter, Fault};

impl Rows {
    /// Save what the file that [`Rows::locate`] was told of does not hold.
    pub(crate) fn save<W: Write>(&self, out: &mut BlockWriter<W>) -> io::Result<()> {
        let places: Vec<Place> = self.values.places().collect();
        let own: Vec<f32> = (0..places.len())
            .filter(|&row| places[row] == Place::NONE)
            .filter_map(|row| self.values.at_hand(row))
            .flatten()
            .copied()
            .collect();
        out.write("v.places", &places)?;
        out.write("v.values", &own)?;
        out.write("v.norms", &self.norms)?;
        self.copies.save(out)
    }

    /// Load vectors, of which `file` holds those that are not saved here.
    pub(crate) fn load(dim: usize, from: &BlockReader, file: Option<&Arc<File>>) -> Result<Self, Fault> {
        let mut rows = Self::new(dim).map_err(|_| "the vectors have no dimension")?;
        let places: Vec<Place> = from.read("v.places")?;
        let own: Vec<f32> = from.read("v.values")?;
        rows.norms = from.read("v.norms")?;
        rows.values =
            Values::placed(dim, file.cloned(), places, &own).ok_or("parts of the vectors are inconsistent")?;
        rows.copies = Copies::load(dim, from)?;
        if rows.values.places().count() != rows.norms.len() || !rows.copies.has_rows(rows.norms.len()) {
            return Err("parts of the vectors are inconsistent");
        }
        Ok(rows)
    }
}
