//! The files of vectors beside the log: the one that counts, and the one that is to take its place.

use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::directory::Directory;
use super::metadata::{Done, Imprint, Stamp};
use crate::file::sync_folder;
use crate::vmem::{self, Checksum, Follower, Report};
use crate::{Error, Result};

pub(crate) const FILE: &str = "vectors.bin";
const STAMP: &str = "vectors.json";
const NEXT: &str = "vectors.next.bin";
const NEXT_STAMP: &str = "vectors.next.json";
/// A file up to this size is read in full before more is added to it.
const READ_WHOLE: u64 = 64 << 20;

/// One of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Every program that knows the format reads this one.
    Current,
    /// The vectors of another model, which take the place of the current ones when they are complete.
    Next,
}

impl Slot {
    /// The one that holds the vectors of a model.
    pub(crate) fn of(directory: &Directory, stamp: &Stamp) -> Option<Self> {
        let is_theirs = |slot: &Self| slot.imprint(directory).is_some_and(|found| found.stamp == *stamp);
        [Self::Current, Self::Next].into_iter().find(is_theirs)
    }

    /// The one that vectors of a model may be put in; none if there are others that must stay.
    pub(crate) fn for_new(directory: &Directory, stamp: &Stamp, may_replace: bool) -> Option<Self> {
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

    /// Return the metadata beside the vectors.
    pub(crate) fn imprint(self, directory: &Directory) -> Option<Imprint> {
        Imprint::read(directory, self.stamp_file())
    }

    /// Return the path of the vectors.
    pub(crate) fn path(self, directory: &Directory) -> PathBuf {
        match self {
            Self::Next => directory.file(NEXT),
            // The process that wrote the stamp may have died before renaming the file.
            Self::Current => match self.imprint(directory).and_then(|imprint| imprint.file) {
                Some(file) if file == NEXT && directory.file(NEXT).exists() => directory.file(NEXT),
                _ => directory.file(FILE),
            },
        }
    }

    /// Return whether the file is so large that to read it before every addition would cost more than that.
    pub(crate) fn is_large(self, directory: &Directory) -> bool {
        self.path(directory).metadata().is_ok_and(|found| found.len() > READ_WHOLE)
    }

    /// Note how far the log is embedded by a model. To be called under the directory's lock.
    pub(crate) fn note(self, directory: &Directory, stamp: &Stamp, done: Done) -> Result<()> {
        match self.imprint(directory) {
            Some(found) if found.stamp == *stamp && found.done != done => {
                Imprint { done, ..found }.write(directory, self.stamp_file())
            }
            _ => Ok(()),
        }
    }

    /// Add vectors; where the file or its stamp are damaged both are rebuilt, which gives false. To be called under the
    /// directory's lock. `is_checked` says whether someone has read all of the file before.
    pub(crate) fn add(
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
        // Behind damage they would not be read.
        let is_valid = || vmem::verify(&path).is_ok_and(|report| report.checksum == Checksum::Valid);
        *is_checked = is_sound && (*is_checked || is_valid());
        if *is_checked && vmem::append(&path, ids, values, stamp.dim).is_ok() {
            return Ok(true);
        }
        // The stamp comes first: vectors without it are not used.
        Imprint::new(stamp).write(directory, self.stamp_file())?;
        vmem::write(&path, ids, values, stamp.dim, true)?;
        *is_checked = true;
        Ok(false)
    }
}

/// Return whether a file lost its checksum because its writer died, and nothing else. What it counts was on disk before
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
/// The stamp is the step that counts: before it the old vectors are the current ones, after it the new ones, and the next
/// process finishes what is left of it.
pub(crate) fn promote(directory: &Directory) -> Result<()> {
    let Some(next) = Slot::Next.imprint(directory) else { return Ok(()) };
    Imprint { file: Some(NEXT.to_owned()), ..next }.write(directory, STAMP)?;
    finish_promotion(directory)
}

/// Finish a promotion that was begun. To be called under the directory's lock.
pub(crate) fn finish_promotion(directory: &Directory) -> Result<()> {
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

/// Return whether a promotion was begun and not finished.
pub(crate) fn is_promoting(directory: &Directory) -> bool {
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
pub(crate) fn saved(directory: &Directory, stamp: &Stamp) -> FxHashSet<u64> {
    let mut ids = FxHashSet::default();
    if let Some(mut follower) = open_of(directory, stamp, Follower::open) {
        // Behind damage they would not be read.
        while let Ok(Some((_, id))) = follower.advance() {
            ids.insert(xxh3_64(id));
        }
    }
    ids
}

/// Count the vectors of `vectors.bin` that can be read, and say what is wrong with the file.
pub(crate) fn verify(directory: &Directory) -> (usize, Option<String>) {
    let path = directory.file(FILE);
    // What a link leads to is not the store's.
    if path.is_symlink() || !path.exists() {
        return (0, None);
    }
    match vmem::verify(&path) {
        Ok(report) => (report.complete, (!report.is_ok()).then(|| "entries are missing or damaged".to_owned())),
        Err(fault) => (0, Some(fault.to_string())),
    }
}

/// Rewrite `vectors.bin` with the entries that can be read, and return whether it was damaged. To be called under the
/// directory's lock.
pub(crate) fn repair(directory: &Directory) -> Result<bool> {
    let is_damaged = verify(directory).1.is_some();
    if is_damaged {
        rewrite(directory, FILE, STAMP, |_| true)?;
    }
    Ok(is_damaged)
}

/// Delete the vectors of some segments from both files. To be called under the directory's lock.
pub(crate) fn remove(directory: &Directory, segments: &FxHashSet<String>) -> Result<()> {
    finish_promotion(directory)?;
    // The vectors of a long segment are called `id`, `id#1`, `id#2`, ...
    let is_kept =
        |id: &str| !segments.contains(id) && id.rsplit_once('#').is_none_or(|(segment, _)| !segments.contains(segment));
    rewrite(directory, FILE, STAMP, is_kept)?;
    rewrite(directory, NEXT, NEXT_STAMP, is_kept)
}

/// Rewrite a file with the readable entries whose ids are kept. One that is damaged throughout, or left empty, is deleted
/// with its stamp; one that cannot be read for another reason, such as a newer version, is an error.
fn rewrite(directory: &Directory, file: &str, stamp: &str, is_kept: impl Fn(&str) -> bool) -> Result<()> {
    let path = directory.file(file);
    if path.is_symlink() || !path.exists() {
        return Ok(());
    }
    let found = match vmem::read(&path) {
        Err(Error::Corrupt { .. }) => None,
        found => Some(found?),
    };
    let Some(found) = found.filter(|found| found.ids.iter().any(&is_kept)) else {
        for name in [file, stamp] {
            let path = directory.file(name);
            fs::remove_file(&path)
                .or_else(|fault| if path.exists() { Err(Error::io(&path)(fault)) } else { Ok(()) })?;
        }
        return Ok(());
    };
    let (dim, is_ok) = (found.report.dim, found.report.is_ok());
    let rows = found.ids.iter().zip(found.values.chunks_exact(dim.max(1))).filter(|(id, _)| is_kept(id));
    let (ids, values): (Vec<&str>, Vec<&[f32]>) = rows.unzip();
    if is_ok && ids.len() == found.ids.len() {
        return Ok(());
    }
    vmem::write(&path, &ids, &values.concat(), dim, true)
}

/// The vectors on disk, for a tier that is built from the log.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    rows: FxHashMap<String, usize>,
    values: Vec<f32>,
    dim: usize,
}

impl Saved {
    /// The vectors of all pieces of a segment, one behind the other; none unless all are there.
    pub(crate) fn of(&self, segment: &str, pieces: usize) -> Option<Vec<f32>> {
        let mut vectors = Vec::with_capacity(pieces * self.dim);
        for piece in 0..pieces {
            let row = *self.rows.get(&vector_id(segment, piece))?;
            vectors.extend_from_slice(&self.values[row * self.dim..][..self.dim]);
        }
        Some(vectors)
    }
}

/// Load the vectors if they are those of the model and whole; else say why not.
pub(crate) fn load(directory: &Directory, stamp: &Stamp) -> (Saved, String) {
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
        Ok(_) => (Saved::default(), "without a checksum that holds; rebuilt".to_owned()),
        Err(_) if !path.exists() => (Saved::default(), "there were none".to_owned()),
        Err(fault) => (Saved::default(), format!("{fault}; rebuilt")),
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

/// Return the id under which `vectors.bin` keeps the vector of a segment's passage. The first has the segment's own id,
/// which is where OpenClaw's `memory-context` looks.
pub(crate) fn vector_id(segment: &str, piece: usize) -> String {
    if piece == 0 { segment.to_owned() } else { format!("{segment}#{piece}") }
}
