//! `vectors.bin` beside the log, and the stamp that says who made its vectors.

use std::io::{self, Write as _};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::directory::Directory;
use super::warm::vector_id;
use crate::vmem::{self, Checksum};
use crate::{Error, Result};

pub(super) const FILE: &str = "vectors.bin";
const STAMP: &str = "vectors.json";
/// A file up to this size is read in full before more is added to it.
const READ_WHOLE: u64 = 64 << 20;

/// Who made the vectors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) model: String,
    pub(super) revision: u32,
    pub(super) dim: usize,
}

/// The vectors on disk, for a tier that is built from the log.
#[derive(Debug, Default)]
pub(super) struct Saved {
    rows: FxHashMap<String, usize>,
    values: Vec<f32>,
    dim: usize,
}

impl Saved {
    /// The vectors of all pieces of a segment, one behind the other; none unless all are there.
    pub(super) fn of(&self, segment: &str, pieces: usize) -> Option<Vec<f32>> {
        let mut vectors = Vec::with_capacity(pieces * self.dim);
        for piece in 0..pieces {
            let row = *self.rows.get(&vector_id(segment, piece))?;
            vectors.extend_from_slice(&self.values[row * self.dim..][..self.dim]);
        }
        Some(vectors)
    }
}

/// Load the vectors if they are those of the model and whole; else say why not.
pub(super) fn load(directory: &Directory, stamp: &Stamp) -> (Saved, String) {
    let path = directory.file(FILE);
    if path.is_symlink() {
        return (Saved::default(), "a symbolic link; left as it is and not used".to_owned());
    }
    if !path.exists() {
        return (Saved::default(), "there were none".to_owned());
    }
    match read_stamp(directory) {
        Some(found) if found == *stamp => {}
        Some(found) => {
            let words = format!("made by {} ({} values); left as they are and not used", found.model, found.dim);
            return (Saved::default(), words);
        }
        None => return (Saved::default(), "made by another program; left as they are and not used".to_owned()),
    }
    match vmem::read(&path) {
        Ok(found) if found.report.checksum == Checksum::Valid && found.report.dim == stamp.dim => {
            let count = found.ids.len();
            // Where an id occurs twice the last counts.
            let rows = found.ids.iter().enumerate().map(|(row, id)| (id.to_owned(), row)).collect();
            (Saved { rows, values: found.values, dim: stamp.dim }, format!("{count} loaded"))
        }
        Ok(_) => (Saved::default(), "without a checksum that holds; made anew".to_owned()),
        Err(fault) => (Saved::default(), format!("{fault}; made anew")),
    }
}

/// Add vectors to those on disk; where file or stamp are damaged both are made anew. To be called under the directory's lock. False if the file is not ours to write.
pub(super) fn save(directory: &Directory, stamp: &Stamp, ids: &[&str], values: &[f32]) -> Result<bool> {
    let path = directory.file(FILE);
    let is_ours = read_stamp(directory).as_ref() == Some(stamp);
    let is_known = is_ours || read_stamp(directory).is_none() && directory.file(STAMP).exists();
    let found = vmem::outline(&path);
    let is_foreign = path.exists() && !is_known && found.as_ref().map_or(true, |found| found.entries > 0);
    if is_foreign || path.is_symlink() {
        return Ok(false);
    }
    // Behind damage nobody would read them. To read a large file before every addition would cost more than the addition.
    let is_large = path.metadata().is_ok_and(|found| found.len() > READ_WHOLE);
    let is_sealed = found.is_ok_and(|found| found.is_sealed && found.dim == stamp.dim);
    let is_whole = || is_large || vmem::verify(&path).is_ok_and(|report| report.checksum == Checksum::Valid);
    if is_ours && is_sealed && is_whole() && vmem::append(&path, ids, values, stamp.dim).is_ok() {
        return Ok(true);
    }
    // The stamp comes first: without it nobody believes the vectors.
    write_stamp(directory, stamp)?;
    vmem::write(&path, ids, values, stamp.dim, true)?;
    Ok(true)
}

fn read_stamp(directory: &Directory) -> Option<Stamp> {
    serde_json::from_reader(directory.read(STAMP).ok()??).ok()
}

fn write_stamp(directory: &Directory, stamp: &Stamp) -> Result<()> {
    let path = directory.file(STAMP);
    let write = || -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".stamp-").tempfile_in(directory.path())?;
        serde_json::to_writer(&mut file, stamp)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|refused| refused.error)?;
        Ok(())
    };
    write().map_err(Error::io(&path))
}
