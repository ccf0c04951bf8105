//! Searchable view of one commit of the disk index.

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::column::Column;
use super::filter::Filter;
use super::manifest::Manifest;
use super::offsets::VectorFile;
use super::passage::{Passage, Piece};
use super::records::Records;
use super::status::IndexStatus;
use super::texts::TextView;
use super::vectors::VectorIndex;
use crate::Result;
use crate::bm25::{Statistics, Wording};
use crate::store::{Ranking, Request};
use crate::text::Term;

/// Rows that are looked through on each side for the neighbors of a segment. What other sessions said in between
/// counts.
const REACH: usize = 4096;

/// The disk index as it was committed, for as long as anyone looks at it.
pub(crate) struct View {
    /// The generation that it is of.
    pub(super) folder: PathBuf,
    pub(super) log: Arc<File>,
    pub(super) texts: Arc<TextView>,
    pub(super) manifest: Manifest,
    pub(super) passages: Column<Passage>,
    pub(super) pieces: Records,
    /// The rows of segments that were written again.
    pub(super) dead: FxHashSet<u32>,
    pub(super) vectors: VectorIndex,
    /// The vectors in full; none if the file is gone.
    pub(super) exact: Option<VectorFile>,
}

/// Match of a search: the location of a segment's line, and the rows that matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexMatch {
    pub(crate) offset: u64,
    /// Without its end.
    pub(crate) bytes: u64,
    /// The rows that were found; none for what was not found itself.
    pub(crate) rows: Vec<u32>,
}

impl View {
    /// Return the log that the lines are read from.
    pub(crate) fn log(&self) -> &Arc<File> {
        &self.log
    }

    /// Select the query terms of a request over the whole archive. `newest` are the statistics of the texts in memory,
    /// some of which may not be indexed yet, and `having` counts those with a term.
    pub(crate) fn wording(&self, request: &Request<'_>, newest: Statistics, having: impl Fn(Term) -> usize) -> Wording {
        let all = self.texts.statistics();
        let statistics = if newest.documents > all.documents { newest } else { all };
        let count = |token: &str| self.texts.count(token).max(having(Term::new(token)));
        match request.ranking {
            Ranking::Best => Wording::of_question(request.query, statistics, count),
            Ranking::OpenClaw => Wording::of_query(request.query, statistics, count),
        }
    }

    /// Return the segments that may be among the best `k` of everything, in the order of the log.
    pub(crate) fn matches(
        &self,
        words: &[(String, f64)],
        vector: Option<&[f32]>,
        k: usize,
        filter: &Filter,
    ) -> Result<Vec<IndexMatch>> {
        let admit = |row: u32| self.admits(row, filter);
        let mut rows: Vec<u32> =
            self.texts.best(words, k, filter.session, &admit)?.iter().map(|hit| hit.number).collect();
        if let Some(vector) = vector {
            rows.extend(self.nearest(vector, k, filter)?);
        }
        rows.retain(|row| self.is_live(*row));
        rows.sort_unstable();
        rows.dedup();
        let mut matches: Vec<IndexMatch> = Vec::new();
        for row in rows {
            let passage = &self.passages[row as usize];
            match matches.last_mut() {
                Some(hit) if hit.offset == passage.line => hit.rows.push(row),
                _ => {
                    matches.push(IndexMatch { offset: passage.line, bytes: u64::from(passage.bytes), rows: vec![row] });
                }
            }
        }
        Ok(matches)
    }

    /// Return the rows nearest to a vector by their 8-bit copies, best first.
    pub(crate) fn nearest(&self, vector: &[f32], k: usize, filter: &Filter) -> Result<Vec<u32>> {
        let admit = |row: u32| self.admits(row, filter);
        Ok(self.vectors.nearest(vector, k, &admit)?.iter().map(|hit| hit.number).collect())
    }

    fn admits(&self, row: u32, filter: &Filter) -> bool {
        self.is_live(row) && (filter.is_open() || filter.admits(row, &self.passages[row as usize]))
    }

    fn is_live(&self, row: u32) -> bool {
        (row as usize) < self.passages.len() && !self.dead.contains(&row)
    }

    /// Return the offset and the length of the line of a row's segment.
    pub(crate) fn line(&self, row: u32) -> (u64, u64) {
        let passage = &self.passages[row as usize];
        (passage.line, u64::from(passage.bytes))
    }

    fn read(&self, row: u32) -> Result<Piece> {
        Ok(bytemuck::pod_read_unaligned(self.pieces.read(row, &mut Vec::new())?))
    }

    /// Return the piece of its content that a row stands for.
    pub(crate) fn piece(&self, row: u32) -> Result<Range<usize>> {
        let piece = self.read(row)?;
        Ok(piece.start as usize..piece.end as usize)
    }

    /// Return the rows of the segment whose line begins at an offset.
    pub(crate) fn rows_of(&self, offset: u64) -> Range<u32> {
        let first = self.passages.partition_point(|passage| passage.line < offset);
        let following = (first..self.passages.len()).map(|row| &self.passages[row]);
        let many = following.take_while(|passage| passage.line == offset).count();
        first as u32..(first + many) as u32
    }

    /// Return the vector of a row of this segment, if it is on disk.
    pub(crate) fn vector(&self, row: u32, id: &str) -> Option<Vec<f32>> {
        let piece = self.read(row).ok()?;
        let id = crate::store::vector_id(id, piece.number as usize);
        self.exact.as_ref()?.read(piece.vector, &id, self.vectors.dim())
    }

    /// Return the segments of the same session before and after the one at an offset, each side nearest first.
    pub(crate) fn neighbors(&self, offset: u64, reach: usize) -> (Vec<IndexMatch>, Vec<IndexMatch>) {
        let own = self.rows_of(offset);
        let Some(session) = self.passages.get(own.start as usize).filter(|_| !own.is_empty()).map(|it| it.session)
        else {
            return (Vec::new(), Vec::new());
        };
        let (start, end) = (own.start as usize, own.end as usize);
        let before = (start.saturating_sub(REACH)..start).rev();
        let after = end..(end + REACH).min(self.passages.len());
        (self.take(before, session, reach), self.take(after, session, reach))
    }

    fn take(&self, rows: impl Iterator<Item = usize>, session: u32, reach: usize) -> Vec<IndexMatch> {
        let mut matches: Vec<IndexMatch> = Vec::new();
        for row in rows {
            let passage = &self.passages[row];
            let is_same = matches.last().is_some_and(|hit| hit.offset == passage.line);
            if passage.session != session || is_same || !self.is_live(row as u32) {
                continue;
            }
            if matches.len() == reach {
                break;
            }
            matches.push(IndexMatch { offset: passage.line, bytes: u64::from(passage.bytes), rows: Vec::new() });
        }
        matches
    }

    /// Fail if a file no longer holds all that was read of it.
    pub(super) fn check(&self) -> Result<()> {
        self.passages.check()?;
        self.pieces.check()?;
        self.vectors.check()
    }

    /// Add the progress of this view to a status.
    pub(super) fn status(&self, known: IndexStatus) -> IndexStatus {
        IndexStatus {
            segments: self.manifest.segments,
            passages: self.manifest.passages.len,
            indexed_bytes: self.manifest.offset,
            ..known
        }
    }

    /// Passages whose vectors were still to come when they were taken in.
    pub(super) fn lacking(&self) -> u64 {
        self.manifest.lacking
    }

    /// Passages that were taken in.
    pub(super) fn passages(&self) -> u64 {
        self.manifest.passages.len
    }

    /// Return the offset up to which the log is indexed.
    pub(crate) fn end(&self) -> u64 {
        self.manifest.offset
    }
}
