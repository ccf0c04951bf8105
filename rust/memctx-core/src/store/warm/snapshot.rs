//! The warm tier on disk, so that opening a store neither reads words nor makes vectors.
//!
//! A snapshot is derived: it vouches for the log up to a place, and whatever is wrong with it, it is thrown away.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use sha2::{Digest as _, Sha256};

use super::center::Center;
use super::entry::{Entry, LineAt, Passage};
use super::tier::Warm;
use super::vector_weight::VectorWeight;
use crate::blocks::{BlockReader, BlockWriter, Fault, join, split};
use crate::bm25::Texts;
use crate::store::health::{Health, Skipped};
use crate::store::log::lines::{Cursor, tail};
use crate::text::Mode;
use crate::vector::Rows;
use crate::vmem::Follower;
use crate::{Error, Result};

/// The conditions under which a snapshot can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// The sessions in the tier: all, or one.
    pub(crate) scope: String,
    /// The model that makes the vectors.
    pub(crate) model: String,
    /// The bounds of the tier, in words. They count only once something was evicted.
    pub(crate) bounds: String,
}

/// Raised whenever the same text is indexed otherwise than before, or more is kept of it.
const VERSION: u32 = 3;

/// The numbers of an entry.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Row {
    timestamp: f64,
    digest: u64,
    offset: u64,
    bytes: u64,
    session: u32,
    role: u32,
    first_passage: u32,
    passages: u32,
    topics: u32,
    is_live: u32,
}

impl Terms {
    /// The name of the snapshot's file.
    fn file(&self) -> String {
        use std::fmt::Write as _;
        Sha256::digest(self.scope.as_bytes()).iter().take(8).fold(String::from("warm-"), |mut name, byte| {
            let _ = write!(name, "{byte:02x}");
            name
        }) + ".snapshot"
    }

    fn words(&self) -> String {
        let Self { scope, model, .. } = self;
        format!("{VERSION}\n{model}\n{scope}")
    }
}

impl Warm {
    /// Write a snapshot into the folder of derived files. `vectors` has passed over the file that holds what the vectors
    /// were told of.
    pub(crate) fn save(
        &self,
        folder: &Path,
        terms: &Terms,
        health: &Health,
        log: &File,
        vectors: Option<&Follower>,
    ) -> Result<()> {
        let path = folder.join(terms.file());
        let temporary = tempfile::Builder::new().prefix(".snapshot-").tempfile_in(folder);
        let temporary = temporary.map_err(|refused| Error::io(&path)(refused.kind().into()))?;
        let tail = tail(log, self.cursor.offset).map_err(Error::io(&path))?;
        let saved = self.save_to(temporary.as_file(), terms, health, tail, vectors);
        saved.map_err(Error::io(&path))?;
        // Not synced: what a power cut leaves of it does not pass for a snapshot.
        temporary.persist(&path).map_err(|refused| Error::io(&path)(refused.error))?;
        Ok(())
    }

    fn save_to(
        &self,
        file: &File,
        terms: &Terms,
        health: &Health,
        checked: u32,
        vectors: Option<&Follower>,
    ) -> io::Result<()> {
        let mut out = BlockWriter::new(BufWriter::with_capacity(1 << 18, file))?;
        out.write("words", terms.words().as_bytes())?;
        out.write("bounds", terms.bounds.as_bytes())?;
        out.write(
            "cursor",
            &[self.cursor.offset, self.cursor.line, u64::from(checked), self.evicted, health.skipped_lines],
        )?;
        let faults =
            serde_json::to_vec(&health.skipped.iter().map(|it| (it.line, it.offset, &it.fault)).collect::<Vec<_>>())?;
        out.write("skipped", &faults)?;
        for (name, names) in [("session", &self.sessions), ("role", &self.roles), ("topic", &self.topics)] {
            let (joined, ends) = join(names.iter());
            out.write(name, &joined)?;
            out.write(&format!("{name}#"), &ends)?;
        }
        let (joined, ends) = join(self.entries.iter().map(|entry| &*entry.id));
        out.write("id", &joined)?;
        out.write("id#", &ends)?;
        out.write("rows", &self.entries.iter().map(Row::of).collect::<Vec<_>>())?;
        let topics: Vec<u32> = self.entries.iter().flat_map(|entry| entry.topics.iter().copied()).collect();
        out.write("topics", &topics)?;
        out.write("passage", &self.passages)?;
        self.texts.save(&mut out)?;
        let (sum, count) = self.center.parts();
        out.write("center", sum)?;
        out.write("center#", &[count])?;
        let passed = vectors.map(|vectors| -> io::Result<_> {
            let [next, passed] = vectors.position();
            Ok([next, passed, u64::from(tail(vectors.entries().file(), next)?)])
        });
        out.write("v.cursor", &passed.transpose()?.into_iter().collect::<Vec<_>>())?;
        self.rows.save(&mut out)?;
        out.finish()?;
        Ok(())
    }

    /// Load the snapshot if there is one that agrees; `log` is the file that it vouches for. `vectors` opens the one that
    /// holds vectors, which comes along where it does.
    pub(crate) fn load(
        folder: &Path,
        terms: &Terms,
        (dim, worth): (usize, VectorWeight),
        log: &Arc<File>,
        vectors: impl FnOnce() -> Option<Follower>,
    ) -> std::result::Result<(Self, Health, Option<Follower>), Fault> {
        let path: PathBuf = folder.join(terms.file());
        let file = crate::file::open_private(std::fs::OpenOptions::new().read(true), &path).map_err(|fault| {
            if fault.kind() == io::ErrorKind::NotFound { "there was none" } else { "it cannot be opened" }
        })?;
        let from = BlockReader::new(file)?;
        if from.read::<u8>("words")? != terms.words().as_bytes() {
            return Err("made for other settings");
        }
        let [offset, line, checked, evicted, skipped_lines] = from.read_one("cursor")?;
        if evicted > 0 && from.read::<u8>("bounds")? != terms.bounds.as_bytes() {
            return Err("made for other bounds");
        }
        if tail(log, offset).ok().map(u64::from) != Some(checked) {
            return Err("the log is not the one it was made from");
        }
        let passed: Vec<[u64; 3]> = from.read("v.cursor")?;
        let vectors = passed.first().map(|passed| resumed(vectors(), *passed)).transpose()?;
        let file = vectors.as_ref().map(|vectors| vectors.entries().file());
        let mut warm = Self::new(dim, worth).map_err(|_| "the vectors have no dimension")?;
        warm.read_from(log);
        (warm.cursor, warm.evicted) = (Cursor { offset, line }, evicted);
        // The two halves are about the same size, and most of the time goes into fresh memory.
        (warm.texts, warm.rows) = thread::scope(|scope| {
            let rows = thread::Builder::new().spawn_scoped(scope, || Rows::load(dim, &from, file));
            let texts = Texts::load(Mode::Memctx, &from);
            let rows = match rows {
                Ok(rows) => rows.join().map_err(|_| "the vectors cannot be loaded")?,
                Err(_) => Rows::load(dim, &from, file),
            };
            Ok::<_, Fault>((texts?, rows?))
        })?;
        let (sum, count): (Vec<f64>, u64) = (from.read("center")?, from.read_one("center#")?);
        if sum.len() != if worth.is_centered() { dim } else { 0 } {
            return Err("parts of the vectors are inconsistent");
        }
        warm.center = Center::of_parts(sum, count);
        warm.load_entries(&from)?;
        let skipped: Vec<(u64, u64, String)> =
            serde_json::from_slice(&from.read::<u8>("skipped")?).map_err(|_| "a part cannot be read")?;
        let skipped = skipped.into_iter().map(|(line, offset, fault)| Skipped { line, offset, fault }).collect();
        Ok((warm, Health { skipped, skipped_lines, ..Health::default() }, vectors))
    }

    fn load_entries(&mut self, from: &BlockReader) -> std::result::Result<(), Fault> {
        const INCONSISTENT: Fault = "parts of the segments are inconsistent";
        for (name, names) in [("session", &mut self.sessions), ("role", &mut self.roles), ("topic", &mut self.topics)] {
            let all = split(&from.read(name)?, &from.read(&format!("{name}#"))?)?;
            *names = all.iter().map(|name| &**name).collect();
        }
        self.passages = from.read::<Passage>("passage")?;
        let ids = split(&from.read("id")?, &from.read("id#")?)?;
        let (rows, topics): (Vec<Row>, Vec<u32>) = (from.read("rows")?, from.read("topics")?);
        let mut topics = &topics[..];
        let spans = [self.texts.span(), self.rows.span()];
        if ids.len() != rows.len() || spans != [self.passages.len(); 2] {
            return Err(INCONSISTENT);
        }
        self.reserve(rows.len());
        let mut next_passage = 0;
        for (row, id) in rows.iter().zip(ids) {
            let (own, others) = topics.split_at_checked(row.topics as usize).ok_or(INCONSISTENT)?;
            topics = others;
            let passages = row.first_passage..row.first_passage.saturating_add(row.passages);
            let is_known = (row.session as usize) < self.sessions.iter().len()
                && (row.role as usize) < self.roles.iter().len()
                && own.iter().all(|&topic| (topic as usize) < self.topics.iter().len());
            if passages.start != next_passage || passages.end as usize > self.passages.len() || !is_known {
                return Err(INCONSISTENT);
            }
            next_passage = passages.end;
            self.enter(row.entry(id, own, passages));
        }
        let segments = self.entries.len();
        if self.passages.iter().any(|passage| passage.segment as usize >= segments) {
            return Err(INCONSISTENT);
        }
        Ok(())
    }
}

/// The file of vectors behind those that were passed, if it is the one in which they were.
fn resumed(vectors: Option<Follower>, [next, passed, checked]: [u64; 3]) -> std::result::Result<Follower, Fault> {
    let is_known = |vectors: &Follower| tail(vectors.entries().file(), next).ok().map(u64::from) == Some(checked);
    let mut vectors = vectors.filter(is_known).ok_or("the file of vectors is not the one it was made with")?;
    vectors.resume([next, passed]);
    Ok(vectors)
}

impl Row {
    fn of(entry: &Entry) -> Self {
        Self {
            timestamp: entry.timestamp,
            digest: entry.digest,
            offset: entry.line.offset,
            bytes: entry.line.bytes,
            session: entry.session,
            role: entry.role,
            first_passage: entry.passages.start,
            passages: entry.passages.len() as u32,
            topics: entry.topics.len() as u32,
            is_live: u32::from(entry.is_live),
        }
    }

    fn entry(&self, id: Box<str>, topics: &[u32], passages: std::ops::Range<u32>) -> Entry {
        Entry {
            id,
            session: self.session,
            role: self.role,
            topics: topics.into(),
            timestamp: self.timestamp,
            digest: self.digest,
            line: LineAt { source: 0, offset: self.offset, bytes: self.bytes },
            passages,
            timeline: self.session,
            place: 0,
            is_live: self.is_live != 0,
        }
    }
}
