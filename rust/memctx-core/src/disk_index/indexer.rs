//! Indexer: reads the log into the disk index, batch by batch.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::{FxHashMap, FxHashSet};

use super::column::{Column, ColumnWriter};
use super::manifest::Manifest;
use super::offsets::VectorOffsets;
use super::passage::{Passage, key, name, role, topics};
use super::seen::Seen;
use super::texts::{TextIndex, TextWriter};
use super::vectors::{VectorIndex, VectorWriter};
use super::{DEAD, PASSAGES, TEXTS};
use crate::store::{Directory, Lines, Model, Segment, passages, tail, vector_id};
use crate::{Error, Result};

/// Segments and bytes of the log in a batch, after which everything so far is committed.
const SEGMENTS: usize = 32_768;
const BYTES: u64 = 64 << 20;

/// The one who writes to a generation.
pub(super) struct Indexer {
    folder: PathBuf,
    log: Arc<File>,
    model: Model,
    offsets: VectorOffsets,
    manifest: Manifest,
    writer: TextWriter,
    passages: ColumnWriter<Passage>,
    dead: ColumnWriter<u32>,
    vectors: VectorWriter,
    seen: Seen,
    /// The rows of the batch by the segments they are of.
    fresh: FxHashMap<u64, Vec<u32>>,
    /// Segments that are written again, perhaps, and were committed before.
    repeated: FxHashSet<u64>,
    row: u32,
}

impl Indexer {
    /// Begin an empty generation.
    pub(super) fn create(folder: &Path, directory: &Directory, log: &Arc<File>, model: &Model) -> Result<Self> {
        let texts = TextIndex::create(&folder.join(TEXTS))?;
        let manifest = Manifest::empty(&model.words());
        let mut writer = texts.writer()?;
        writer.commit(&manifest.to_payload())?;
        Self::with(folder, directory, log, model, writer, manifest)
    }

    /// Go on with a generation; the error says why it has to be started over.
    pub(super) fn open(folder: &Path, directory: &Directory, log: &Arc<File>, model: &Model) -> Result<Self> {
        let texts = TextIndex::open(&folder.join(TEXTS))?;
        let unusable = |fault: String| Error::corrupt(folder, 0, fault);
        let manifest = Manifest::parse(texts.view()?.payload(), &model.words()).map_err(unusable)?;
        manifest.check_log(log).map_err(unusable)?;
        // No other process may find the damage before it is built upon.
        VectorIndex::open(folder, model.dim(), &manifest.vectors)?;
        Self::with(folder, directory, log, model, texts.writer()?, manifest)
    }

    fn with(
        folder: &Path,
        directory: &Directory,
        log: &Arc<File>,
        model: &Model,
        writer: TextWriter,
        manifest: Manifest,
    ) -> Result<Self> {
        let known = known(folder, &manifest)?;
        let seen = seen(&known);
        let offsets = VectorOffsets::new(directory, model.stamp());
        Ok(Self {
            folder: folder.to_owned(),
            log: Arc::clone(log),
            model: model.clone(),
            offsets,
            writer,
            passages: ColumnWriter::open(&folder.join(PASSAGES), manifest.passages)?,
            dead: ColumnWriter::open(&folder.join(DEAD), manifest.dead)?,
            vectors: VectorWriter::open(folder, model.dim(), &manifest.vectors)?,
            seen,
            fresh: FxHashMap::default(),
            repeated: FxHashSet::default(),
            row: manifest.passages.len as u32,
            manifest,
        })
    }

    /// Return the offset up to which the log is indexed.
    pub(super) fn end(&self) -> u64 {
        self.manifest.offset
    }

    /// Take in everything up to an offset in the log, or to its end. `progress` is called after every commit, and may
    /// stop it.
    pub(super) fn catch_up(
        &mut self,
        horizon: u64,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(&Manifest) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut lines = Lines::new(&self.log, self.manifest.offset, self.manifest.line);
        loop {
            let start = lines.position();
            let mut taken = 0;
            let is_full = |taken, end| taken >= SEGMENTS || end - start >= BYTES || end >= horizon;
            while !is_full(taken, lines.position()) && !stop.load(Ordering::Relaxed) {
                let Some(line) = lines.next() else { break };
                // What cannot be read is counted by those who read the log.
                if let Ok(bytes) = line.bytes
                    && let Ok(segment) = Segment::from_line(bytes)
                {
                    let (offset, length) = (line.offset, line.length);
                    self.take(&segment, offset, length)?;
                    taken += 1;
                }
            }
            if lines.position() == start || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.commit(lines.position(), lines.number())?;
            if progress(&self.manifest).is_break() {
                return Ok(());
            }
        }
    }

    fn take(&mut self, segment: &Segment, line: u64, bytes: u64) -> Result<()> {
        let key = key(&segment.session, &segment.id);
        if self.seen.insert(key) {
            self.remove(key)?;
        }
        let whole = Passage {
            line,
            key,
            session: name(&segment.session),
            timestamp: segment.timestamp,
            topics: topics(segment),
            vector: 0,
            bytes: bytes as u32,
            role: role(&segment.role),
            start: 0,
            end: 0,
            piece: 0,
            unused: 0,
        };
        let rows = self.fresh.entry(key).or_default();
        for (number, piece) in passages(&segment.content).into_iter().enumerate() {
            let text = &segment.content[piece.clone()];
            let (offset, vector) = match self.offsets.find(&vector_id(&segment.id, number))? {
                Some((offset, vector)) if vector.len() == self.model.dim() => (offset, vector),
                _ => (
                    0,
                    self.model.instant_vector(text).unwrap_or_else(|| {
                        self.manifest.lacking += 1;
                        vec![0.0; self.model.dim()]
                    }),
                ),
            };
            let (start, end, piece) = (piece.start as u32, piece.end as u32, number as u32);
            let passage = Passage { start, end, piece, vector: offset, ..whole };
            self.writer.add(self.row, &passage, text)?;
            self.vectors.push(&vector)?;
            self.passages.append(&[passage])?;
            rows.push(self.row);
            self.row = self.row.checked_add(1).ok_or(Error::Full { what: "the index", limit: u32::MAX as usize })?;
        }
        self.manifest.segments += 1;
        Ok(())
    }

    /// Take out a segment that is written again, if it is there.
    fn remove(&mut self, key: u64) -> Result<()> {
        self.writer.remove(key)?;
        if let Some(rows) = self.fresh.remove(&key) {
            self.manifest.segments -= 1;
            return self.dead.append(&rows);
        }
        self.repeated.insert(key);
        Ok(())
    }

    /// Bury the committed rows of segments that were written again, with one look at all.
    fn bury(&mut self) -> Result<()> {
        if self.repeated.is_empty() {
            return Ok(());
        }
        let known = known(&self.folder, &self.manifest)?;
        let is_repeated = |(_, passage): &(u32, &Passage)| self.repeated.contains(&passage.key);
        let buried: Vec<(u32, u64)> =
            (0..).zip(known.iter()).filter(is_repeated).map(|(row, passage)| (row, passage.key)).collect();
        self.dead.append(&buried.iter().map(|found| found.0).collect::<Vec<_>>())?;
        self.manifest.segments -= buried.iter().map(|found| found.1).collect::<FxHashSet<_>>().len() as u64;
        self.repeated.clear();
        Ok(())
    }

    /// Make everything so far count: the columns reach the disk before the commit that speaks of them.
    fn commit(&mut self, offset: u64, line: u64) -> Result<()> {
        self.bury()?;
        let manifest = Manifest {
            offset,
            line,
            tail: tail(&self.log, offset).map_err(Error::io(&self.folder))?,
            passages: self.passages.sync()?,
            dead: self.dead.sync()?,
            vectors: self.vectors.sync()?,
            ..self.manifest.clone()
        };
        self.writer.commit(&manifest.to_payload())?;
        self.manifest = manifest;
        self.fresh.clear();
        if self.seen.is_full() {
            self.seen = seen(&known(&self.folder, &self.manifest)?);
        }
        Ok(())
    }

    /// Wait for what is still being put in order on disk.
    pub(super) fn finish(self) -> Result<()> {
        self.writer.finish()
    }
}

fn seen(known: &Column<Passage>) -> Seen {
    Seen::of((0..known.len()).map(|row| known[row].key))
}

/// Return the passages that were committed.
fn known(folder: &Path, manifest: &Manifest) -> Result<Column<Passage>> {
    Column::open(&folder.join(PASSAGES), 1, manifest.passages)
}
