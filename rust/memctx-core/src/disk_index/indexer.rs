//! Indexer: reads the log into the disk index, batch by batch.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::{FxHashMap, FxHashSet};

use super::column::ColumnWriter;
use super::manifest::Manifest;
use super::offsets::VectorOffsets;
use super::passage::{Passage, Piece, key, marks, seconds, session};
use super::records::{RecordWriter, Records};
use super::seen::Seen;
use super::texts::{TextIndex, TextWriter};
use super::vectors::{VectorIndex, VectorWriter};
use super::{DEAD, PASSAGES, PIECES, TEXTS};
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
    pieces: RecordWriter,
    dead: ColumnWriter<u32>,
    vectors: VectorWriter,
    seen: Seen,
    /// The rows of the batch by the segments they are of.
    fresh: FxHashMap<u64, Vec<u32>>,
    /// Segments that are written again, perhaps, and were committed before.
    repeated: FxHashSet<u64>,
    /// The rows of the batch's segments that were written again in it.
    outdated: FxHashSet<u32>,
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
        let seen = seen(folder, &manifest)?;
        let offsets = VectorOffsets::new(directory, model.stamp());
        Ok(Self {
            folder: folder.to_owned(),
            log: Arc::clone(log),
            model: model.clone(),
            offsets,
            writer,
            passages: ColumnWriter::open(&folder.join(PASSAGES), manifest.passages)?,
            pieces: RecordWriter::open(&folder.join(PIECES), manifest.pieces)?,
            dead: ColumnWriter::open(&folder.join(DEAD), manifest.dead)?,
            vectors: VectorWriter::open(folder, model.dim(), &manifest.vectors)?,
            seen,
            fresh: FxHashMap::default(),
            repeated: FxHashSet::default(),
            outdated: FxHashSet::default(),
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
            self.remove(key);
        }
        let passage = Passage {
            line,
            bytes: bytes as u32,
            session: session(&segment.session),
            seconds: seconds(segment.timestamp),
            marks: marks(segment),
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
            let (start, end, number) = (piece.start as u32, piece.end as u32, number as u32);
            let piece = Piece { key, vector: offset, start, end, number, unused: 0 };
            self.writer.add(self.row, passage.session, text)?;
            self.vectors.push(&vector)?;
            self.passages.append(&[passage])?;
            self.pieces.append(bytemuck::bytes_of(&piece))?;
            rows.push(self.row);
            self.row = self.row.checked_add(1).ok_or(Error::Full { what: "the index", limit: u32::MAX as usize })?;
        }
        self.manifest.segments += 1;
        Ok(())
    }

    /// Note that a segment is written again, if it is there.
    fn remove(&mut self, key: u64) {
        if let Some(rows) = self.fresh.remove(&key) {
            self.manifest.segments -= 1;
            self.outdated.extend(rows);
        } else {
            self.repeated.insert(key);
        }
    }

    /// Take out the rows of segments that were written again, with one look at all that are committed.
    fn bury(&mut self) -> Result<()> {
        let mut buried = std::mem::take(&mut self.outdated);
        if !self.repeated.is_empty() {
            let (mut segments, mut row) = (FxHashSet::default(), 0);
            for_each_key(&self.folder, &self.manifest, |key| {
                if self.repeated.contains(&key) {
                    buried.insert(row);
                    segments.insert(key);
                }
                row += 1;
            })?;
            self.manifest.segments -= segments.len() as u64;
            self.repeated.clear();
        }
        if buried.is_empty() {
            return Ok(());
        }
        let mut rows: Vec<u32> = buried.iter().copied().collect();
        rows.sort_unstable();
        self.dead.append(&rows)?;
        self.writer.remove(buried)
    }

    /// Make everything so far count: the columns reach the disk before the commit that speaks of them.
    fn commit(&mut self, offset: u64, line: u64) -> Result<()> {
        self.bury()?;
        let manifest = Manifest {
            offset,
            line,
            tail: tail(&self.log, offset).map_err(Error::io(&self.folder))?,
            passages: self.passages.sync()?,
            pieces: self.pieces.sync()?,
            dead: self.dead.sync()?,
            vectors: self.vectors.sync()?,
            ..self.manifest.clone()
        };
        self.writer.commit(&manifest.to_payload())?;
        self.manifest = manifest;
        self.fresh.clear();
        if self.seen.is_full() {
            self.seen = seen(&self.folder, &self.manifest)?;
        }
        Ok(())
    }

    /// Put in order what is on disk, for quicker searches.
    pub(super) fn merge(&mut self) -> Result<()> {
        self.writer.merge()
    }

    /// Wait for what is still being put in order on disk.
    pub(super) fn finish(self) -> Result<()> {
        self.writer.finish()
    }
}

fn seen(folder: &Path, manifest: &Manifest) -> Result<Seen> {
    let mut keys = Vec::with_capacity(manifest.passages.len as usize);
    for_each_key(folder, manifest, |key| keys.push(key))?;
    Ok(Seen::of(keys.into_iter()))
}

/// Pass the keys of the passages that were committed to a function.
fn for_each_key(folder: &Path, manifest: &Manifest, mut each: impl FnMut(u64)) -> Result<()> {
    let pieces = Records::open(&folder.join(PIECES), size_of::<Piece>(), manifest.pieces)?;
    pieces.for_each(0, |record| each(bytemuck::pod_read_unaligned::<Piece>(record).key))
}
