//! Background maintenance: vectors and snapshot written, memory compacted.

use std::path::Path;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use super::inner::{Gate, Inner, Tail};
use super::log::vectors::{self, Slot};
use super::warm::entry::{Passage, Standing};
use crate::Result;
use crate::vmem::Follower;

/// Passages without a place in `vectors.bin`, and segments without one in the snapshot, that make writing them worth
/// while.
const MANY: usize = 1024;
/// A log below this size is read faster than a snapshot.
const SMALL: u64 = 256 * 1024;

impl Inner {
    /// Return whether there is enough to do.
    pub(super) fn is_tidying_due(&self, tail: &Tail) -> bool {
        let index = self.index();
        let many = MANY.max(index.len() / 4);
        tail.unsaved >= many || tail.unsnapped >= many || index.is_sparse()
    }

    /// Write vectors and snapshot, and close the gaps in memory. False if nothing could be written.
    pub(super) fn tidy(&self, force: bool) -> bool {
        let done = self.try_tidy(&mut self.gate(), force);
        done.unwrap_or_else(|fault| {
            self.health().note(fault.to_string());
            false
        })
    }

    fn try_tidy(&self, gate: &mut Gate, force: bool) -> Result<bool> {
        let Gate { lock, tail } = gate;
        self.settle(tail)?;
        let Some(log) = tail.log.clone().filter(|log| log.current_len().is_some()) else { return Ok(false) };
        if self.health().is_read_only {
            return Ok(false);
        }
        if self.index().is_sparse() {
            let compacted = self.index().compacted()?;
            *self.index_mut() = compacted;
        }
        if tail.unsaved > 0 {
            let _held = lock.acquire(Instant::now())?;
            tail.is_checked &= Slot::Current.is_large(&self.directory);
            self.save_vectors(tail)?;
            tail.unsaved = 0;
        }
        let is_worth_it = tail.unsnapped > 0 && self.index().cursor.offset >= SMALL;
        if (is_worth_it || force) && !self.index().has_lost_log() {
            let folder = self.directory.index()?;
            remove_leftovers(&folder);
            self.locate_vectors(tail)?;
            let health = self.health().clone();
            self.index().save(&folder, &self.terms, &health, log.file(), tail.vectors.as_ref())?;
            tail.unsnapped = 0;
        }
        Ok(true)
    }

    /// Return whether `vectors.bin` is, or is to be, this model's.
    pub(super) fn has_own_vectors(&self) -> bool {
        Slot::for_new(&self.directory, self.model().stamp(), false) == Some(Slot::Current)
    }

    fn save_vectors(&self, tail: &mut Tail) -> Result<()> {
        remove_leftovers(self.directory.path());
        let stamp = self.model().stamp();
        // Where they are to take the place of others, those who bring all of them there bring these, too.
        if !self.has_own_vectors() {
            tail.is_unsure = true;
            return Ok(());
        }
        if tail.is_unsure {
            self.note_saved(&vectors::saved(&self.directory, stamp));
            tail.is_unsure = false;
        }
        let index = self.index();
        let is_unsaved =
            |passage: &Passage| passage.vector == Standing::UNSAVED && index.entries[passage.segment as usize].is_live;
        let unsaved: Vec<u32> =
            (0..).zip(&index.passages).filter(|(_, passage)| is_unsaved(passage)).map(|found| found.0).collect();
        let ids: Vec<String> = unsaved.iter().map(|&passage| index.vector_id(passage)).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let values: Vec<f32> = unsaved.iter().flat_map(|&passage| index.rows.row(passage).into_owned()).collect();
        drop(index);
        if ids.is_empty() {
            return Ok(());
        }
        Slot::Current.add(&self.directory, stamp, &ids, &values, &mut tail.is_checked)?;
        let mut index = self.index_mut();
        for passage in unsaved {
            index.passages[passage as usize].vector = Standing::SAVED;
        }
        Ok(())
    }

    /// Find the vectors in memory that the file of vectors holds: the snapshot need not.
    fn locate_vectors(&self, tail: &mut Tail) -> Result<()> {
        let is_new = tail.vectors.as_ref().is_none_or(|vectors| vectors.entries().is_replaced());
        if is_new {
            tail.vectors = vectors::open_of(&self.directory, self.model().stamp(), Follower::open);
        }
        let mut found = Vec::new();
        if let Some(vectors) = &mut tail.vectors {
            while let Some((offset, id)) = vectors.advance()? {
                let Some(id) = std::str::from_utf8(id).ok().map(str::to_owned) else { continue };
                let index = self.index();
                let Some(passage) = index.passage_of(&id) else { continue };
                // Another process may have made it otherwise.
                if vectors.entries().read(offset, &id).as_deref() == index.rows.exact(passage) {
                    found.push((passage, offset + 2 + id.len() as u64));
                }
            }
        }
        let file = tail.vectors.as_ref().map(|vectors| vectors.entries().file());
        self.index_mut().rows.locate(file, is_new, &found);
        Ok(())
    }

    /// Take note of vectors that are on disk, by the hashes of their ids. A model that is run here made the same there.
    fn note_saved(&self, saved: &FxHashSet<u64>) {
        let mut index = self.index_mut();
        let is_saved = |passage: &u32| saved.contains(&xxh3_64(index.vector_id(*passage).as_bytes()));
        let found: Vec<u32> = index.wanting().filter(is_saved).collect();
        for passage in found {
            let standing = &mut index.passages[passage as usize].vector;
            if *standing == Standing::UNSAVED {
                *standing = Standing::SAVED;
            }
        }
    }
}

/// Delete the temporary files of processes that died, which are old by now.
fn remove_leftovers(folder: &Path) {
    const PREFIXES: [&str; 3] = [".snapshot-", ".stamp-", ".vmem-"];
    const OLD: Duration = Duration::from_secs(60);
    let Ok(files) = std::fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let name = file.file_name();
        let is_temporary = PREFIXES.iter().any(|prefix| name.to_string_lossy().starts_with(prefix));
        let age = file.metadata().and_then(|found| found.modified()).map(|time| time.elapsed().unwrap_or_default());
        if is_temporary && age.is_ok_and(|age| age > OLD) {
            // Another process may have been faster.
            let _ = std::fs::remove_file(file.path());
        }
    }
}
