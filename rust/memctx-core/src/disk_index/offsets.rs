//! Offsets of vectors in `vectors.bin`.

use std::collections::VecDeque;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::passage::name;
use crate::Result;
use crate::store::{Directory, Stamp, open_vectors};
use crate::vmem::{Entries, Follower};

/// Entries whose places are remembered at once, some 50 bytes each.
const REMEMBERED: usize = 1 << 20;

/// Finds vectors by their ids in about the order in which they were written, reading the file once.
#[derive(Debug)]
pub(super) struct VectorOffsets {
    directory: Directory,
    stamp: Stamp,
    follower: Option<Follower>,
    /// Places by hashes of ids. Where an id occurs twice the last counts.
    offsets: FxHashMap<u64, u64>,
    /// Remembered entries, oldest first.
    order: VecDeque<(u64, u64)>,
    most: usize,
}

impl VectorOffsets {
    /// Begin with the first vector of a model; there need not be one yet.
    pub(super) fn new(directory: &Directory, stamp: &Stamp) -> Self {
        Self {
            directory: directory.clone(),
            stamp: stamp.clone(),
            follower: None,
            offsets: FxHashMap::default(),
            order: VecDeque::new(),
            most: REMEMBERED,
        }
    }

    /// Return the vector of an id and its offset.
    pub(super) fn find(&mut self, id: &str) -> Result<Option<(u64, Vec<f32>)>> {
        self.follow();
        let hash = name(id);
        if !self.offsets.contains_key(&hash) {
            self.look_ahead(hash)?;
        }
        let found = self.offsets.get(&hash).zip(self.follower.as_ref());
        Ok(found.and_then(|(&offset, follower)| Some((offset, follower.entries().read(offset, id)?))))
    }

    /// Start over where another file has taken the place of the one that was read.
    fn follow(&mut self) {
        if self.follower.as_ref().is_some_and(|follower| follower.entries().is_replaced()) {
            self.follower = None;
            self.offsets.clear();
            self.order.clear();
        }
        if self.follower.is_none() {
            self.follower = open_vectors(&self.directory, &self.stamp, Follower::open);
        }
    }

    /// Pass entries until one with this hash comes. Once all room is taken only one more is passed: an id that never
    /// comes must not cost the places of those that will be asked for next.
    fn look_ahead(&mut self, hash: u64) -> Result<()> {
        let Some(follower) = &mut self.follower else { return Ok(()) };
        while let Some((offset, id)) = follower.advance()? {
            let found = xxhash_rust::xxh3::xxh3_64(id);
            self.offsets.insert(found, offset);
            self.order.push_back((found, offset));
            let is_full = self.order.len() > self.most;
            if is_full
                && let Some((oldest, offset)) = self.order.pop_front()
                && self.offsets.get(&oldest) == Some(&offset)
            {
                self.offsets.remove(&oldest);
            }
            if is_full || found == hash {
                break;
            }
        }
        Ok(())
    }
}

/// Reads vectors by their places.
#[derive(Debug)]
pub(super) struct VectorFile(Entries);

impl VectorFile {
    /// Open the file as it is now.
    pub(super) fn open(path: &Path) -> Result<Self> {
        Entries::open(path).map(Self)
    }

    /// Return whether another file has taken its place, in which places are others.
    pub(super) fn is_replaced(&self) -> bool {
        self.0.is_replaced()
    }

    /// Return the vector of an id, if it is at this offset and of this length.
    pub(super) fn read(&self, offset: u64, id: &str, dim: usize) -> Option<Vec<f32>> {
        if dim == self.0.dim() { self.0.read(offset, id) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vmem;

    const DIM: usize = 3;

    fn vector(number: u16) -> Vec<f32> {
        (0..3).map(|column| f32::from(number * 3 + column)).collect()
    }

    fn add(path: &Path, numbers: std::ops::Range<u16>) {
        let ids: Vec<String> = numbers.clone().map(|number| format!("id{number}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let values: Vec<f32> = numbers.flat_map(vector).collect();
        if path.exists() {
            vmem::append(path, &ids, &values, DIM).expect("appended");
        } else {
            vmem::write(path, &ids, &values, DIM, true).expect("written");
        }
    }

    fn offsets_of(folder: &Path) -> VectorOffsets {
        let stamp = Stamp { model: "test".to_owned(), revision: "1".to_owned(), dim: DIM };
        let directory = Directory::existing(folder).expect("a folder");
        std::fs::write(folder.join("vectors.json"), serde_json::to_string(&stamp).expect("a stamp")).expect("written");
        VectorOffsets::new(&directory, &stamp)
    }

    fn find(offsets: &mut VectorOffsets, number: u16) -> Option<u64> {
        let (offset, found) = offsets.find(&format!("id{number}")).expect("readable")?;
        assert_eq!(found, vector(number));
        Some(offset)
    }

    #[test]
    fn follows_a_file_that_grows_and_one_that_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("vectors.bin");
        let mut offsets = offsets_of(folder.path());

        assert_eq!(find(&mut offsets, 0), None);
        add(&path, 0..5);

        assert!((0..5).all(|number| find(&mut offsets, number).is_some()));
        assert_eq!(find(&mut offsets, 7), None);
        add(&path, 5..900);
        let offset = find(&mut offsets, 7).expect("it came");
        assert!(find(&mut offsets, 2).is_some());
        let file = VectorFile::open(&path).expect("opens");
        assert_eq!(file.read(offset, "id7", DIM), Some(vector(7)));
        assert_eq!(file.read(offset, "id8", DIM), None);
        assert_eq!(file.read(offset + 1, "id7", DIM), None);
        assert_eq!(file.read(offset, "id7", DIM + 1), None);
        std::fs::remove_file(&path).expect("removed");
        add(&path, 600..610);
        assert!(file.is_replaced());
        assert_eq!(find(&mut offsets, 7), None);
        assert!(find(&mut offsets, 605).is_some());
        assert_eq!(VectorFile::open(&path).expect("opens").read(offset, "id7", DIM), None);
    }

    #[test]
    fn the_last_of_an_id_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("vectors.bin");
        vmem::write(&path, &["a", "b", "a", "c"], &[1.0, 2.0, 3.0, 4.0], 1, true).expect("written");
        let mut offsets = offsets_of(folder.path());
        assert_eq!(offsets.find("c").expect("readable").map(|found| found.1), Some(vec![4.0]));
        assert_eq!(offsets.find("a").expect("readable").map(|found| found.1), Some(vec![3.0]));
    }

    #[test]
    fn the_offset_cache_is_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("vectors.bin");
        add(&path, 0..500);
        let mut offsets = VectorOffsets { most: 100, ..offsets_of(folder.path()) };
        assert_eq!(find(&mut offsets, 999), None);
        assert!(offsets.offsets.len() <= 100);
        assert!((10..400).all(|number| find(&mut offsets, number).is_some()));
        assert!(offsets.offsets.len() <= 100 && offsets.order.len() <= 100);
    }

    #[test]
    fn survives_damage() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("vectors.bin");
        add(&path, 0..20);
        let whole = std::fs::read(&path).expect("is there");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            for bytes in [&damaged[..], &whole[..at]] {
                std::fs::write(&path, bytes).expect("written");
                let mut offsets = offsets_of(folder.path());
                for number in 0..20 {
                    // Whatever is found, it is under its own id.
                    if let Ok(Some((offset, found))) = offsets.find(&format!("id{number}")) {
                        let file = VectorFile::open(&path).expect("opens");
                        assert_eq!(file.read(offset, &format!("id{number}"), DIM), Some(found));
                    }
                }
            }
        }
    }
}
