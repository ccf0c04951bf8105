//! One search over what is in memory and what is only on disk.
//!
//! The disk index knows everything up to its last commit, the warm tier the newest. The best of both are read into a
//! small tier of their own, together with their neighbors, and ranked there as always: by the counts of everything.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::captured::Digests;
use super::embed::{self, QueryVector};
use super::inner::{Inner, now};
use super::log::segment::Segment;
use super::search_filter::SearchFilter;
use super::warm::candidates::{BEST, pool};
use super::warm::entry::{Entry, LineAt, Standing};
use super::warm::passage::passages;
use super::warm::search::{Found, Request};
use super::warm::tier::{Draft, Pieces, Warm, digest};
use crate::disk_index::{Filter, IndexMatch, View};
use crate::file::read_exact_at;
use crate::{Error, Result};

/// Candidates for each of the nearest, of each tier.
const POOL: usize = 4;
/// Times that the disk index is asked again, each time for twice as many, while some do not meet the conditions.
const ROUNDS: u32 = 8;
/// The number of neighbors considered around them.
const REACH: usize = 2;
/// A segment of more pieces than this takes part with those that were found.
const WHOLE: usize = 8;

/// A segment that takes part.
struct Part {
    bytes: u64,
    /// The rows of the disk index that were found.
    rows: Vec<u32>,
}

/// The parts by where their lines begin.
type Parts = BTreeMap<u64, Part>;

impl Inner {
    /// The best segments of both tiers, best first. Memory is locked only for a moment at a time: a writer does not
    /// wait for the disk.
    pub(super) fn search_both(&self, request: &Request<'_>, view: &View) -> Result<Vec<Found>> {
        let vector = embed::query(request, self.model())?.filter(|_| self.index().has_vectors(request.except));
        let vector = vector.as_ref();
        let values = vector.map(|vector| &*vector.values);
        let own = (!self.settings.cross_session).then_some(&*self.settings.session);
        let mut filter = Filter::new(&request.filter, own);
        if let Some(except) = request.except {
            // They would take the places of what is only on disk.
            filter.hide(self.lines_of(except).into_iter().flat_map(|line| view.rows_of(line)));
        }
        let newest = self.index().texts.statistics();
        let wording = view.wording(request, newest, |term| self.index().texts.count(term));
        let mut parts = Parts::new();
        for lead in matches(view, request, &wording.words, values, &mut filter)? {
            parts.insert(lead.offset, Part { bytes: lead.bytes, rows: lead.rows });
        }
        let now = now();
        for line in self.newest_lines(request, vector, now)? {
            parts.entry(line.offset).or_insert(Part { bytes: line.bytes, rows: Vec::new() });
        }
        let mut merged = Warm::new(self.model().dim(), self.model().own_weight())?;
        merged.read_from(view.log());
        merged.texts.set_background(wording.background);
        self.take_part(&mut merged, view, &parts, &filter)?;
        // What all have in common is what all have in memory.
        merged.center = self.index().center.clone();
        merged.tie(&[]);
        let reach = REACH.max(request.window);
        let mut next = BTreeMap::new();
        let mut others = Parts::new();
        for (rank, candidate) in merged.candidates(request, vector, now)?.candidates.into_iter().enumerate() {
            let offset = merged.entries[candidate.segment as usize].line.offset;
            let around = around(&self.index(), view, offset, reach);
            next.extend(around.windows(2).map(|pair| (pair[0].offset, pair[1].offset)));
            // Those around a lesser one take no part unless they are to be shown.
            if rank < BEST || request.window > 0 {
                let unknown = around.into_iter().filter(|lead| !parts.contains_key(&lead.offset));
                others.extend(unknown.map(|lead| (lead.offset, Part { bytes: lead.bytes, rows: Vec::new() })));
            }
        }
        self.take_part(&mut merged, view, &others, &filter)?;
        merged.center = self.index().center.clone();
        merged.tie(&sequences(&next));
        merged.search(request, vector, now, |fault| self.note_damage(&fault))
    }

    /// The ids of the segments nearest to a vector, with their cosines, best first.
    pub(super) fn nearest(&self, vector: &[f32], k: usize) -> Result<Vec<(String, f64)>> {
        let wanted = k.saturating_mul(POOL);
        let index = self.current()?;
        let entry = |passage: u32| &index.entries[index.passages[passage as usize].segment as usize];
        let newest = index.rows.search(vector, wanted, |passage| entry(passage).is_live)?.into_iter().flatten();
        let mut best: Vec<(String, f64)> = newest.map(|hit| (entry(hit.number).id.to_string(), hit.score)).collect();
        let has_older = index.evicted > 0;
        drop(index);
        if let Some(older) = self.older.as_ref().filter(|_| has_older)
            && let Some(view) = older.view()
        {
            match self.nearest_on_disk(&view, vector, wanted) {
                Err(fault) if fault.is_damage() => older.fail(&view, &fault),
                found => best.extend(found?),
            }
        }
        best.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut seen = FxHashSet::default();
        best.retain(|(id, _)| seen.insert(id.clone()));
        best.truncate(k);
        Ok(best)
    }

    /// The same of the disk index, in any order.
    fn nearest_on_disk(&self, view: &View, vector: &[f32], wanted: usize) -> Result<Vec<(String, f64)>> {
        let own = (!self.settings.cross_session).then_some(&*self.settings.session);
        let filter = Filter::new(&SearchFilter::default(), own);
        let mut found = Vec::new();
        for row in view.nearest(vector, wanted, &filter)? {
            let (offset, bytes) = view.line(row);
            match read(view, offset, bytes) {
                Ok(segment) if filter.admits_session(&segment) => {
                    let exact = view
                        .vector(row, &segment.id)
                        .or_else(|| self.model().instant_vector(segment.content.get(view.piece(row).ok()?)?));
                    found.extend(exact.map(|exact| (segment.id, crate::vector::cosine(vector, &exact))));
                }
                Ok(_) => {}
                Err(fault) => self.note_damage(&fault),
            }
        }
        Ok(found)
    }

    /// Return the positions of the lines of candidates in memory.
    fn newest_lines(&self, request: &Request<'_>, vector: Option<&QueryVector<'_>>, now: f64) -> Result<Vec<LineAt>> {
        let warm = self.index();
        let candidates = warm.candidates(request, vector, now)?.candidates.into_iter();
        let lines = candidates.map(|candidate| warm.entries[candidate.segment as usize].line);
        Ok(lines.filter(|line| warm.is_of_log(*line)).collect())
    }

    /// Return the offsets of the lines of segments in memory that have these digests.
    fn lines_of(&self, digests: &Digests) -> Vec<u64> {
        let warm = self.index();
        let is_one = |entry: &&Entry| entry.is_live && digests.has(entry.digest);
        let lines = warm.entries.iter().filter(is_one).map(|entry| entry.line);
        lines.filter(|line| warm.is_of_log(*line)).map(|line| line.offset).collect()
    }

    /// Let segments take part.
    fn take_part(&self, merged: &mut Warm, view: &View, parts: &Parts, filter: &Filter) -> Result<()> {
        for (&offset, part) in parts {
            match read(view, offset, part.bytes) {
                // Its session is tested again on what was read; neighbors need not pass the other conditions.
                Ok(segment) if filter.admits_session(&segment) => {
                    let pieces = pieces(view, &segment, offset, part);
                    let vectors = self.vectors_in_memory(&segment.id);
                    let draft = self.draft(&vectors, view, segment, offset, part.bytes, &pieces);
                    merged.push_pieces(draft, &pieces)?;
                }
                Ok(_) => {}
                Err(fault) => self.note_damage(&fault),
            }
        }
        Ok(())
    }

    /// The vectors of a segment that is in memory, one for each of its pieces; none where one is still to come.
    fn vectors_in_memory(&self, id: &str) -> Vec<Option<Vec<f32>>> {
        let warm = self.index();
        let own = warm.find(id).map(|number| warm.entries[number as usize].passages.clone());
        let is_there = |passage: u32| warm.passages[passage as usize].vector != Standing::LACKING;
        let vector = |passage: u32| is_there(passage).then(|| warm.rows.row(passage).into_owned());
        own.into_iter().flatten().map(vector).collect()
    }

    /// A segment with its vectors: from memory, from disk, or rebuilt. If one is still to come it goes without.
    fn draft(
        &self,
        own: &[Option<Vec<f32>>],
        view: &View,
        segment: Segment,
        offset: u64,
        bytes: u64,
        pieces: &Pieces,
    ) -> Draft {
        let rows = view.rows_of(offset);
        let dim = self.model().dim();
        let mut standing = Standing::SAVED;
        let mut vectors = Vec::with_capacity(pieces.len() * dim);
        for (number, piece) in pieces {
            let in_memory = own.get(*number).cloned().flatten();
            let on_disk = || view.vector(rows.clone().nth(*number)?, &segment.id);
            let made = || self.model().instant_vector(&segment.content[piece.clone()]);
            if let Some(vector) = in_memory.or_else(on_disk).or_else(made) {
                vectors.extend_from_slice(&vector);
            } else {
                standing = Standing::LACKING;
                vectors.resize(vectors.len() + dim, 0.0);
            }
        }
        let digest = digest(&segment.content);
        Draft { vectors, standing, ..Draft::new(segment, digest, offset, bytes) }
    }
}

/// Return the candidates of the disk index that meet the conditions of a request. Its records tell roles, times and topics
/// only roughly apart; others take the places of those that turn out to be wrong.
fn matches(
    view: &View,
    request: &Request<'_>,
    words: &[(String, f64)],
    vector: Option<&[f32]>,
    filter: &mut Filter,
) -> Result<Vec<IndexMatch>> {
    let SearchFilter { session: _, roles, since, until, topics } = &request.filter;
    let is_rough = roles.is_some() || since.is_some() || until.is_some() || topics.is_some();
    let meets = |lead: &IndexMatch| match read(view, lead.offset, lead.bytes) {
        Ok(segment) => request.filter.admits(&segment),
        Err(_) => true, // noted when it takes part
    };
    let mut wanted = pool(request);
    let mut found = view.matches(words, vector, wanted, filter)?;
    for _ in 0..ROUNDS {
        let wrong: Vec<u64> = found.iter().filter(|&lead| is_rough && !meets(lead)).map(|lead| lead.offset).collect();
        if wrong.is_empty() {
            break;
        }
        filter.hide(wrong.into_iter().flat_map(|line| view.rows_of(line)));
        wanted *= 2;
        found = view.matches(words, vector, wanted, filter)?;
    }
    Ok(found)
}

/// The longest sequences of lines that follow one another.
fn sequences(next: &BTreeMap<u64, u64>) -> Vec<Vec<u64>> {
    let later: FxHashSet<u64> = next.values().copied().collect();
    let firsts = next.keys().filter(|line| !later.contains(line));
    let follow = |first: &u64| std::iter::successors(Some(*first), |line| next.get(line).copied()).collect();
    firsts.map(follow).collect()
}

/// Read the segment whose line begins at a place.
fn read(view: &View, offset: u64, bytes: u64) -> Result<Segment> {
    let path = std::path::Path::new(super::log::SEGMENTS);
    let mut line = vec![0; bytes as usize];
    read_exact_at(view.log(), &mut line, offset).map_err(Error::io(path))?;
    Segment::from_line(super::log::lines::trim(&line, offset)).map_err(|fault| Error::corrupt(path, offset, fault))
}

/// The pieces of a segment that take part, with their numbers among all.
fn pieces(view: &View, segment: &Segment, offset: u64, part: &Part) -> Pieces {
    let all = passages(&segment.content);
    let numbered: Vec<(usize, Range<usize>)> = all.into_iter().enumerate().collect();
    if numbered.len() <= WHOLE {
        return numbered;
    }
    let first = view.rows_of(offset).start;
    let is_found = |number: usize| part.rows.contains(&(first + number as u32));
    let found: Vec<(usize, Range<usize>)> = numbered.iter().filter(|(number, _)| is_found(*number)).cloned().collect();
    if found.is_empty() { numbered.into_iter().take(WHOLE).collect() } else { found }
}

/// A segment and its neighbors in its session, as far as both tiers know them, in the order of the log.
fn around(warm: &Warm, view: &View, offset: u64, reach: usize) -> Vec<IndexMatch> {
    let (mut before, mut after) = view.neighbors(offset, reach);
    if let Some(number) = warm.at(offset) {
        for (neighbor, _) in warm.neighbors(number, reach) {
            let line = warm.entries[neighbor as usize].line;
            if warm.is_of_log(line) {
                let side = if line.offset < offset { &mut before } else { &mut after };
                side.push(IndexMatch { offset: line.offset, bytes: line.bytes, rows: Vec::new() });
            }
        }
    }
    before.sort_by_key(|lead| std::cmp::Reverse(lead.offset));
    after.sort_by_key(|lead| lead.offset);
    for side in [&mut before, &mut after] {
        side.dedup_by_key(|lead| lead.offset);
        side.truncate(reach);
    }
    before.reverse();
    before.push(IndexMatch { offset, bytes: 0, rows: Vec::new() });
    before.append(&mut after);
    before
}
