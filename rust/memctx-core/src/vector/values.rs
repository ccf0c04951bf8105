//! The values of vectors: in memory, or in a file until they are asked for.

use std::fs::File;
use std::sync::{Arc, OnceLock};

use xxhash_rust::xxh3::xxh3_64;

use crate::file::read_exact_at;

/// Vectors under the numbers 0, 1, 2 …
///
/// Most searches read few of them, so those that a file holds stay there until then. What is read is checked: the file
/// is not ours alone.
#[derive(Clone, Debug)]
pub(super) struct Values {
    dim: usize,
    rows: Vec<Row>,
    file: Option<Arc<File>>,
}

/// The place of a vector in a file, and the checksum of its bytes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Place {
    pub(super) offset: u64,
    pub(super) checksum: u64,
}

impl Place {
    /// In memory only.
    pub(super) const NONE: Self = Self { offset: u64::MAX, checksum: 0 };
}

#[derive(Clone, Debug)]
struct Row {
    /// Once it was asked for.
    values: OnceLock<Box<[f32]>>,
    place: Place,
}

impl Values {
    pub(super) fn new(dim: usize) -> Self {
        Self { dim, rows: Vec::new(), file: None }
    }

    /// Vectors that are in a file or, one behind the other, in `own`; none if these are not as many as have no place.
    pub(super) fn placed(dim: usize, file: Option<Arc<File>>, places: Vec<Place>, own: &[f32]) -> Option<Self> {
        let mut own = own.chunks_exact(dim);
        let mut rows = Vec::with_capacity(places.len() + places.len() / 8);
        for place in places {
            let values = if place == Place::NONE { OnceLock::from(Box::from(own.next()?)) } else { OnceLock::new() };
            rows.push(Row { values, place });
        }
        own.next().is_none().then_some(Self { dim, rows, file })
    }

    pub(super) fn push(&mut self, vector: &[f32]) {
        self.rows.push(Row { values: OnceLock::from(Box::from(vector)), place: Place::NONE });
    }

    /// Put another vector in the place of one.
    pub(super) fn set(&mut self, row: usize, vector: &[f32]) {
        self.rows[row] = Row { values: OnceLock::from(Box::from(vector)), place: Place::NONE };
    }

    /// Return a vector; none if the file no longer has it.
    pub(super) fn get(&self, row: usize) -> Option<&[f32]> {
        let row = &self.rows[row];
        if let Some(values) = row.values.get() {
            return Some(values);
        }
        let read = self.read(row.place)?;
        Some(row.values.get_or_init(|| read))
    }

    /// Return a vector if it is in memory.
    pub(super) fn at_hand(&self, row: usize) -> Option<&[f32]> {
        self.rows[row].values.get().map(|values| &**values)
    }

    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        self.rows.iter().map(|row| row.place)
    }

    /// Take note that a vector is in the file at this offset.
    pub(super) fn locate(&mut self, row: usize, offset: u64) {
        if let Some(values) = self.at_hand(row) {
            self.rows[row].place = Place { offset, checksum: checksum(values) };
        }
    }

    /// From now on the file is this one, and the vectors are no longer in the one before.
    pub(super) fn move_to(&mut self, file: Option<Arc<File>>) {
        for row in 0..self.rows.len() {
            if self.get(row).is_some() {
                self.rows[row].place = Place::NONE;
            }
        }
        self.file = file;
    }

    pub(super) fn retain(&mut self, is_kept: impl Fn(usize) -> bool) {
        let mut row = 0..;
        self.rows.retain(|_| row.next().is_some_and(&is_kept));
    }

    fn read(&self, place: Place) -> Option<Box<[f32]>> {
        let mut values = vec![0.0_f32; self.dim].into_boxed_slice();
        read_exact_at(self.file.as_deref()?, bytemuck::cast_slice_mut(&mut values), place.offset).ok()?;
        #[cfg(target_endian = "big")]
        values.iter_mut().for_each(|value| *value = f32::from_bits(value.to_bits().swap_bytes()));
        (checksum(&values) == place.checksum).then_some(values)
    }
}

fn checksum(values: &[f32]) -> u64 {
    xxh3_64(bytemuck::cast_slice(values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn vectors_are_read_from_their_file_while_it_has_them() {
        let vectors: [[f32; 3]; 3] = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]];
        let mut file = tempfile::tempfile().expect("room");
        file.write_all(bytemuck::cast_slice(&[vectors[2], vectors[0]])).expect("room");
        let file = Arc::new(file);
        let mut values = Values::new(3);
        for vector in &vectors {
            values.push(vector);
        }
        values.move_to(Some(Arc::clone(&file)));
        values.locate(2, 0);
        values.locate(0, 12);
        let reopened = || {
            let places: Vec<Place> = values.places().collect();
            Values::placed(3, Some(Arc::clone(&file)), places, &vectors[1]).expect("as many")
        };
        let mut far = reopened();
        assert_eq!(far.at_hand(0), None);
        for (row, vector) in vectors.iter().enumerate() {
            assert_eq!(far.get(row), Some(&vector[..]));
        }
        far.retain(|row| row != 1);
        far.move_to(None);
        assert_eq!((far.get(0), far.get(1)), (Some(&vectors[0][..]), Some(&vectors[2][..])));
        assert!(far.places().all(|place| place == Place::NONE));

        let far = reopened();
        file.set_len(12).expect("cut");
        assert_eq!((far.get(2), far.get(0)), (Some(&vectors[2][..]), None));
        (&*file).write_all(&[7; 12]).expect("room");
        assert_eq!(far.get(0), None);
        assert!(Values::placed(3, None, vec![Place::NONE], &[]).is_none());
        assert!(Values::placed(3, None, Vec::new(), &vectors[1]).is_none());
    }
}
