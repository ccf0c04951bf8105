//! The files of vectors beside the log: the one that counts, and the one that is to take its place.

use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::directory::Directory;
use super::stamp::{Done, Imprint, Stamp};
use super::warm::vector_id;
use crate::file::sync_folder;
use crate::vmem::{self, Checksum, Follower, Report};
use crate::{Error, Result};

const FILE: &str = "vectors.bin";
const STAMP: &str = "vectors.json";
const NEXT: &str = "vectors.next.bin";
const NEXT_STAMP: &str = "vectors.next.json";
/// A file up to this size is read in full before more is added to it.
const READ_WHOLE: u64 = 64 << 20;

/// One of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// Every program that knows the format reads this one.
    Current,
    /// The vectors of another model, which take the place of the current ones when they are complete.
    Next,
}

impl Slot {
    /// The one that holds the vectors of a model.
    pub(super) fn of(directory: &Directory, stamp: &Stamp) -> Option<Self> {
        let is_theirs = |slot: &Self| slot.imprint(directory).is_some_and(|found| found.stamp == *stamp);
        [Self::Current, Self::Next].into_iter().find(is_theirs)
    }

    /// The one that vectors of a model may be put in; none if there are others that must stay.
    pub(super) fn for_new(directory: &Directory, stamp: &Stamp, may_replace: bool) -> Option<Self> {
        let path = directory.file(FILE);
        let found = Self::Current.imprint(directory);
        let is_ours = found.as_ref().is_some_and(|found| found.stamp == *stamp);
        // A stamp that cannot be read was one of ours.
        let is_known = is_ours || found.is_none() && directory.file(STAMP).exists();
        let has_entries = || vmem::outline(&path).map_or(true, |found| found.entries > 0);
        if path.is_symlink() {
            None
        } else if is_known || !path.exists() || !has_entries() {
            Some(Self::Current)
        } else {
            may_replace.then_some(Self::Next)
        }
    }

    fn stamp_file(self) -> &'static str {
        match self {
            Self::Current => STAMP,
            Self::Next => NEXT_STAMP,
        }
    }

    /// What stands beside the vectors.
    pub(super) fn imprint(self, directory: &Directory) -> Option<Imprint> {
        Imprint::read(directory, self.stamp_file())
    }

    /// Where the vectors are.
    pub(super) fn path(self, directory: &Directory) -> PathBuf {
        match self {
            Self::Next => directory.file(NEXT),
            // Whoever gave it its stamp may have died before giving it its name.
            Self::Current => match self.imprint(directory).and_then(|imprint| imprint.file) {
                Some(file) if file == NEXT && directory.file(NEXT).exists() => directory.file(NEXT),
                _ => directory.file(FILE),
            },
        }
    }

    /// Whether the file is so large that to read it before every addition would cost more than that.
    pub(super) fn is_large(self, directory: &Directory) -> bool {
        self.path(directory).metadata().is_ok_and(|found| found.len() > READ_WHOLE)
    }

    /// Note how far the log is embedded by a model. To be called under the directory's lock.
    pub(super) fn note(self, directory: &Directory, stamp: &Stamp, done: Done) -> Result<()> {
        match self.imprint(directory) {
            Some(found) if found.stamp == *stamp && found.done != done => {
                Imprint { done, ..found }.write(directory, self.stamp_file())
            }
            _ => Ok(()),
        }
    }

    /// Add vectors; where the file or its stamp are damaged both are made anew, which gives false. To be called under the
    /// directory's lock. `is_checked` says whether someone has read all of the file before.
    pub(super) fn add(
        self,
        directory: &Directory,
        stamp: &Stamp,
        ids: &[&str],
        values: &[f32],
        is_checked: &mut bool,
    ) -> Result<bool> {
        let path = self.path(directory);
        let is_ours = self.imprint(directory).is_some_and(|found| found.stamp == *stamp);
        let is_sealed = || vmem::outline(&path).is_ok_and(|found| found.is_sealed && found.dim == stamp.dim);
        let is_sound = is_ours && (is_sealed() || reseal(&path, stamp.dim));
        // Behind damage nobody would read them.
        let is_valid = || vmem::verify(&path).is_ok_and(|report| report.checksum == Checksum::Valid);
        *is_checked = is_sound && (*is_checked || is_valid());
        if *is_checked && vmem::append(&path, ids, values, stamp.dim).is_ok() {
            return Ok(true);
        }
        // The stamp comes first: without it nobody believes the vectors.
        Imprint::new(stamp).write(directory, self.stamp_file())?;
        vmem::write(&path, ids, values, stamp.dim, true)?;
        *is_checked = true;
        Ok(false)
    }
}

/// Whether a file lost its checksum because whoever added to it died, and nothing else. What it counts was on disk before
/// anything was added.
fn is_torn(report: &Report) -> bool {
    report.checksum == Checksum::Absent && report.is_ok()
}

/// Give a torn file its checksum back; false if it is damaged otherwise.
fn reseal(path: &Path, dim: usize) -> bool {
    let Ok(found) = vmem::read(path) else { return false };
    let ids: Vec<&str> = found.ids.iter().collect();
    is_torn(&found.report) && found.report.dim == dim && vmem::write(path, &ids, &found.values, dim, true).is_ok()
}

/// Let the next vectors take the place of the current ones. To be called under the directory's lock.
///
/// The stamp is the step that counts: before it the old vectors are the current ones, after it the new ones, and whoever
/// comes next finishes what is left of it.
pub(super) fn promote(directory: &Directory) -> Result<()> {
    let Some(next) = Slot::Next.imprint(directory) else { return Ok(()) };
    Imprint { file: Some(NEXT.to_owned()), ..next }.write(directory, STAMP)?;
    finish_promotion(directory)
}

/// Finish a promotion that was begun. To be called under the directory's lock.
pub(super) fn finish_promotion(directory: &Directory) -> Result<()> {
    let Some(imprint) = Slot::Current.imprint(directory).filter(|found| found.file.is_some()) else { return Ok(()) };
    let (from, to) = (directory.file(NEXT), directory.file(FILE));
    if from.exists() {
        fs::rename(&from, &to).map_err(Error::io(&to))?;
        sync_folder(directory.path()).map_err(Error::io(&to))?;
    }
    Imprint { file: None, ..imprint }.write(directory, STAMP)?;
    let _ = fs::remove_file(directory.file(NEXT_STAMP));
    Ok(())
}

/// Whether a promotion was begun and not finished.
pub(super) fn is_promoting(directory: &Directory) -> bool {
    Slot::Current.imprint(directory).is_some_and(|found| found.file.is_some())
}

/// Open the vectors of a model. They are not mistaken for those of another that takes their place meanwhile.
pub(crate) fn open_of<T>(directory: &Directory, stamp: &Stamp, open: impl FnOnce(&Path) -> Result<T>) -> Option<T> {
    let slot = Slot::of(directory, stamp)?;
    let path = slot.path(directory);
    let opened = if path.is_symlink() { None } else { open(&path).ok() };
    // A file gets the name of another only after the stamp has changed.
    opened.filter(|_| Slot::of(directory, stamp) == Some(slot) && slot.path(directory) == path)
}

/// The hashes of the ids that a model has vectors of. To be called under the directory's lock.
pub(super) fn saved(directory: &Directory, stamp: &Stamp) -> FxHashSet<u64> {
    let mut ids = FxHashSet::default();
    if let Some(mut follower) = open_of(directory, stamp, Follower::open) {
        // Behind damage nobody would read them.
        while let Ok(Some((_, id))) = follower.advance() {
            ids.insert(xxh3_64(id));
        }
    }
    ids
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
    let path = Slot::Current.path(directory);
    if path.is_symlink() {
        return (Saved::default(), "a symbolic link; left as it is and not used".to_owned());
    }
    if Slot::of(directory, stamp).is_none() {
        return (Saved::default(), foreign(directory, &path));
    }
    let Some(found) = open_of(directory, stamp, |path| Ok(vmem::read(path))) else {
        return (Saved::default(), "there were none".to_owned());
    };
    let is_whole = |report: &Report| report.checksum == Checksum::Valid || is_torn(report);
    match found {
        Ok(found) if is_whole(&found.report) && found.report.dim == stamp.dim => {
            let count = found.ids.len();
            // Where an id occurs twice the last counts.
            let rows = found.ids.iter().enumerate().map(|(row, id)| (id.to_owned(), row)).collect();
            (Saved { rows, values: found.values, dim: stamp.dim }, format!("{count} loaded"))
        }
        Ok(_) => (Saved::default(), "without a checksum that holds; made anew".to_owned()),
        Err(_) if !path.exists() => (Saved::default(), "there were none".to_owned()),
        Err(fault) => (Saved::default(), format!("{fault}; made anew")),
    }
}

/// Why vectors that are there are not used.
fn foreign(directory: &Directory, path: &Path) -> String {
    match Slot::Current.imprint(directory) {
        _ if !path.exists() => "there were none".to_owned(),
        Some(found) => {
            let Stamp { model, dim, .. } = found.stamp;
            format!("made by {model} ({dim} values); left as they are and not used")
        }
        None => "made by another program; left as they are and not used".to_owned(),
    }
}
