//! The tier of the newest segments in memory, and both indexes over them.

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use sha2::{Digest as _, Sha256};

use super::center::Center;
use super::entry::{Entry, LineAt, Passage, Standing};
use super::interner::Interner;
use super::passage::passages;
use super::vector_weight::VectorWeight;
use crate::bm25::Texts;
use crate::file::read_exact_at;
use crate::store::captured::Digests;
use crate::store::log::lines::Cursor;
use crate::store::log::lines::trim;
use crate::store::log::segment::Segment;
use crate::store::log::vectors::vector_id;
use crate::text::Mode;
use crate::vector::Rows;
use crate::{Error, Result};

/// The warm tier. Segments and passages have numbers that ascend in the order of the log; those of passages are also
/// the numbers of their texts and vectors.
#[derive(Debug)]
pub(crate) struct Warm {
    pub(crate) entries: Vec<Entry>,
    ids: HashTable<u32>,
    /// Keyed at random, so that ids cannot be chosen to collide.
    hasher: RandomState,
    /// Segments by session, role and digest.
    keys: FxHashMap<(u32, u32, u64), u32>,
    pub(crate) sessions: Interner,
    pub(crate) roles: Interner,
    pub(crate) topics: Interner,
    /// Segments that follow each other, in order: those of each session.
    pub(crate) timelines: Vec<Vec<u32>>,
    pub(crate) passages: Vec<Passage>,
    /// For each passage the digest of its segment, [`GONE`] if that is not live: all that most searches ask of it.
    pub(crate) digests: Vec<u64>,
    pub(crate) texts: Texts,
    pub(crate) rows: Rows,
    /// The files that lines are read from; the last is the log.
    sources: Vec<Arc<File>>,
    pub(crate) cursor: Cursor,
    pub(crate) worth: VectorWeight,
    /// The mean of the vectors of live segments; empty where vectors are not centered.
    pub(crate) center: Center,
    live: usize,
    /// The sum of the digests of live segments, wrapping.
    pub(crate) digest_sum: u64,
    /// Passages of live segments whose vectors are still to come.
    lacking: usize,
    /// Passages of live segments.
    pieces: usize,
    /// No segment before this one is live.
    oldest: usize,
    /// Segments evicted so far.
    pub(crate) evicted: u64,
    /// The highest timestamp.
    newest: f64,
}

/// Stands for the digest of a segment that is not live.
pub(crate) const GONE: u64 = 0;

/// Stands in a sequence for a segment that is not here.
const GAP: u32 = u32::MAX;

/// Some of a segment's pieces in bytes, with their numbers among all.
pub(crate) type Pieces = Vec<(usize, Range<usize>)>;

/// A segment that is ready to be taken in.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) segment: Segment,
    pub(crate) digest: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// Vectors of its passages, one behind the other.
    pub(crate) vectors: Vec<f32>,
    pub(crate) standing: Standing,
}

impl Draft {
    /// A segment with the digest of its content, whose line lies at this place.
    pub(crate) fn new(segment: Segment, digest: u64, offset: u64, bytes: u64) -> Self {
        Self { segment, digest, offset, bytes, vectors: Vec::new(), standing: Standing::UNSAVED }
    }
}

/// The first eight bytes of the sha256 of a content.
pub(crate) fn digest(content: &str) -> u64 {
    let whole = Sha256::digest(content.as_bytes());
    whole.first_chunk().map_or(0, |half| u64::from_be_bytes(*half))
}

impl Warm {
    /// An empty tier for vectors of this length, which are worth so much.
    pub(crate) fn new(dim: usize, worth: VectorWeight) -> Result<Self> {
        Ok(Self {
            worth,
            center: Center::new(if worth.is_centered() { dim } else { 0 }),
            entries: Vec::new(),
            ids: HashTable::new(),
            hasher: RandomState::new(),
            keys: FxHashMap::default(),
            sessions: Interner::default(),
            roles: Interner::default(),
            topics: Interner::default(),
            timelines: Vec::new(),
            passages: Vec::new(),
            digests: Vec::new(),
            texts: Texts::new(Mode::Memctx),
            rows: Rows::new(dim)?,
            sources: Vec::new(),
            cursor: Cursor::default(),
            live: 0,
            digest_sum: 0,
            lacking: 0,
            pieces: 0,
            oldest: 0,
            evicted: 0,
            newest: f64::NEG_INFINITY,
        })
    }

    /// Segments present.
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// Read lines from this file from now on.
    pub(crate) fn read_from(&mut self, file: &Arc<File>) {
        if self.sources.last().is_none_or(|last| !Arc::ptr_eq(last, file)) {
            self.sources.push(Arc::clone(file));
        }
    }

    /// Return whether some segments are in a log that was deleted, and so on no disk any more.
    pub(crate) fn has_lost_log(&self) -> bool {
        self.sources.len() > 1
    }

    /// The live segment of an id.
    pub(crate) fn find(&self, id: &str) -> Option<u32> {
        self.ids.find(self.hasher.hash_one(id), |&number| *self.entries[number as usize].id == *id).copied()
    }

    /// The live segment of the same session and role with the same content.
    pub(crate) fn duplicate(&self, session: &str, role: &str, digest: u64) -> Option<&Entry> {
        let key = (self.sessions.find(session)?, self.roles.find(role)?, digest);
        let duplicate = &self.entries[*self.keys.get(&key)? as usize];
        // What is only in a log that was deleted has to be written again.
        (duplicate.line.source as usize + 1 == self.sources.len()).then_some(duplicate)
    }

    /// Take a segment in; one with the same id goes, and so does one that says the same.
    ///
    /// The log holds a text twice only if the first had left memory when it was said again, so the last counts.
    pub(crate) fn push(&mut self, draft: Draft) -> Result<()> {
        let pieces: Pieces = passages(&draft.segment.content).into_iter().enumerate().collect();
        self.push_pieces(draft, &pieces)
    }

    /// [`Warm::push`] with some of its pieces, of which there are as many vectors.
    pub(crate) fn push_pieces(&mut self, draft: Draft, pieces: &Pieces) -> Result<()> {
        let Draft { segment, digest, offset, bytes, vectors, standing } = draft;
        if let Some(earlier) = self.find(&segment.id) {
            self.remove(earlier);
        }
        let session = self.sessions.number(&segment.session);
        let role = self.roles.number(&segment.role);
        let source = self.sources.len().saturating_sub(1) as u32;
        if let Some(&duplicate) = self.keys.get(&(session, role, digest)) {
            self.remove(duplicate);
        }
        let number = self.entries.len() as u32;
        let first = self.passages.len() as u32;
        for ((_, piece), vector) in pieces.iter().zip(vectors.chunks_exact(self.rows.dim())) {
            self.texts.push(&segment.content[piece.clone()])?;
            self.rows.push(vector)?;
            let (start, end) = (piece.start as u32, piece.end as u32);
            self.passages.push(Passage { segment: number, start, end, vector: standing });
        }
        let topics = segment.topics().iter().map(|topic| self.topics.number(&topic.to_lowercase())).collect();
        let entry = Entry {
            id: segment.id.into(),
            session,
            role,
            topics,
            timestamp: segment.timestamp,
            digest,
            line: LineAt { source, offset, bytes },
            passages: first..self.passages.len() as u32,
            timeline: session,
            place: 0,
            is_live: true,
        };
        if self.worth.is_centered() {
            entry.passages.clone().for_each(|passage| self.center.add(&self.rows.row(passage)));
        }
        self.enter(entry);
        Ok(())
    }

    /// Make room for so many segments.
    pub(crate) fn reserve(&mut self, segments: usize) {
        self.entries.reserve(segments);
        self.keys.reserve(segments);
        let (entries, hasher) = (&self.entries, &self.hasher);
        self.ids.reserve(segments, |&number| hasher.hash_one(&*entries[number as usize].id));
    }

    /// Put an entry whose passages are indexed, and counted in the center, behind all others.
    pub(crate) fn enter(&mut self, mut entry: Entry) {
        let number = self.entries.len() as u32;
        let timeline = entry.timeline as usize;
        if self.timelines.len() <= timeline {
            self.timelines.resize_with(timeline + 1, Vec::new);
        }
        entry.place = self.timelines[timeline].len() as u32;
        self.timelines[timeline].push(number);
        if entry.is_live {
            self.newest = self.newest.max(entry.timestamp);
            self.keys.insert((entry.session, entry.role, entry.digest), number);
            self.live += 1;
            self.digest_sum = self.digest_sum.wrapping_add(entry.digest);
            self.lacking += self.lacking_in(&entry.passages);
            self.pieces += entry.passages.len();
        }
        self.digests.resize(self.digests.len().max(entry.passages.end as usize), GONE);
        if entry.is_live {
            let own = entry.passages.start as usize..entry.passages.end as usize;
            self.digests[own].fill(entry.digest.max(GONE + 1));
        }
        let (is_live, hash) = (entry.is_live, self.hasher.hash_one(&*entry.id));
        self.entries.push(entry);
        if is_live {
            let (entries, hasher) = (&self.entries, &self.hasher);
            self.ids.insert_unique(hash, number, |&number| hasher.hash_one(&*entries[number as usize].id));
        }
    }

    /// Take a live segment out of memory.
    fn remove(&mut self, number: u32) {
        let entry = &mut self.entries[number as usize];
        entry.is_live = false;
        let (passages, key) = (entry.passages.clone(), (entry.session, entry.role, entry.digest));
        if let Ok(found) = self.ids.find_entry(self.hasher.hash_one(&*entry.id), |&other| other == number) {
            found.remove();
        }
        self.keys.remove(&key);
        self.digest_sum = self.digest_sum.wrapping_sub(key.2);
        self.lacking -= self.lacking_in(&passages);
        self.pieces -= passages.len();
        if self.worth.is_centered() {
            passages.clone().for_each(|passage| self.center.remove(&self.rows.row(passage)));
        }
        self.digests[passages.start as usize..passages.end as usize].fill(GONE);
        for passage in passages {
            self.texts.remove(passage);
        }
        self.live -= 1;
    }

    fn lacking_in(&self, passages: &Range<u32>) -> usize {
        let pieces = &self.passages[passages.start as usize..passages.end as usize];
        pieces.iter().filter(|piece| piece.vector == Standing::LACKING).count()
    }

    /// Passages whose vectors are still to come.
    pub(crate) fn lacking(&self) -> usize {
        self.lacking
    }

    /// Return whether most vectors are there, but for some that a search leaves out. Until then words carry the search,
    /// which is fair to all.
    pub(crate) fn has_vectors(&self, except: Option<&Digests>) -> bool {
        self.lacking_without(except).count() * 2 <= self.pieces
    }

    /// The passages that lack their vectors, but for some that a search leaves out.
    pub(crate) fn lacking_without(&self, except: Option<&Digests>) -> impl Iterator<Item = u32> {
        let all = if self.lacking == 0 { &[][..] } else { &self.passages[..] };
        let lacks = move |(passage, digest): (&Passage, u64)| {
            let is_wanted = digest != GONE && !except.is_some_and(|except| except.has(digest));
            passage.vector == Standing::LACKING && is_wanted
        };
        let lacking = (0..).zip(all.iter().zip(self.digests.iter().copied())).filter(move |(_, it)| lacks(*it));
        lacking.map(|(number, _)| number)
    }

    /// Read the text that a vector is of.
    pub(crate) fn text_of(&self, vector_id: &str) -> Option<String> {
        let piece = self.passages[self.passage_of(vector_id)? as usize];
        let segment = self.read(piece.segment).ok()?;
        segment.content.get(piece.start as usize..piece.end as usize).map(str::to_owned)
    }

    /// Give a passage the vector that was made for a search, unless it has one. The one on disk is still to come.
    pub(crate) fn lend_vector(&mut self, vector_id: &str, vector: &[f32]) -> Result<()> {
        let passage = self.passage_of(vector_id);
        if let Some(passage) = passage.filter(|&it| self.passages[it as usize].vector == Standing::LACKING) {
            self.set_vector(passage, vector)?;
            self.passages[passage as usize].vector = Standing::LENT;
        }
        Ok(())
    }

    /// Return the similarity of two passages, relative to the similarity of any two where vectors are centered.
    pub(crate) fn likeness(&self, spread: f64) -> impl Fn(u32, u32) -> f64 + '_ {
        let any = if self.worth.is_centered() { spread } else { 0.0 };
        move |a, b| {
            let likeness = self.rows.likeness(a, b);
            if any > 0.0 { ((likeness - any) / (1.0 - any).max(f64::EPSILON)).max(0.0) } else { likeness }
        }
    }

    /// The vectors of a live segment's passages, one behind the other; none if one is still to come.
    pub(crate) fn vectors_of(&self, id: &str) -> Option<Vec<f32>> {
        let own = self.entries[self.find(id)? as usize].passages.clone();
        if self.lacking_in(&own) > 0 {
            return None;
        }
        let vectors: Option<Vec<&[f32]>> = own.map(|passage| self.rows.exact(passage)).collect();
        vectors.map(|vectors| vectors.concat())
    }

    /// The passages of live segments whose vectors are not known to be on disk.
    pub(crate) fn wanting(&self) -> impl Iterator<Item = u32> + '_ {
        let is_wanting =
            |passage: &Passage| passage.vector != Standing::SAVED && self.entries[passage.segment as usize].is_live;
        (0..).zip(&self.passages).filter(move |(_, passage)| is_wanting(passage)).map(|(number, _)| number)
    }

    /// The passage of a live segment that a vector on disk is of, unless it is known to be there.
    pub(crate) fn unsaved(&self, vector_id: &str) -> Option<u32> {
        let passage = self.passage_of(vector_id);
        passage.filter(|&passage| self.passages[passage as usize].vector != Standing::SAVED)
    }

    /// The passage of a live segment that a vector is of.
    pub(crate) fn passage_of(&self, vector_id: &str) -> Option<u32> {
        let of = |segment: &str, piece: u32| {
            let entry = &self.entries[self.find(segment)? as usize];
            entry.passages.clone().nth(piece as usize)
        };
        let later = || vector_id.rsplit_once('#').and_then(|(segment, piece)| of(segment, piece.parse().ok()?));
        of(vector_id, 0).or_else(later)
    }

    /// Give a passage the vector that is on disk.
    pub(crate) fn set_vector(&mut self, passage: u32, vector: &[f32]) -> Result<()> {
        let is_live = self.entries[self.passages[passage as usize].segment as usize].is_live;
        let is_counted = is_live && self.worth.is_centered();
        if is_counted {
            self.center.remove(&self.rows.row(passage));
        }
        self.rows.set(passage, vector)?;
        if is_counted {
            self.center.add(vector);
        }
        let piece = &mut self.passages[passage as usize];
        self.lacking -= usize::from(is_live && piece.vector == Standing::LACKING);
        piece.vector = Standing::SAVED;
        Ok(())
    }

    /// Keep the newest segments in memory, and those not older than a time.
    ///
    /// The age counts from the newest segment or from now, whichever is earlier: a clock that jumps evicts nothing.
    pub(crate) fn evict(&mut self, most: usize, days: f64, now: f64) {
        const DAY: f64 = 86_400_000.0;
        if days > 0.0 {
            let oldest = self.newest.min(now) - days * DAY;
            let is_old = |entry: &Entry| entry.is_live && entry.timestamp < oldest;
            let old: Vec<u32> =
                (0..).zip(&self.entries).filter(|(_, entry)| is_old(entry)).map(|found| found.0).collect();
            self.evicted += old.len() as u64;
            for number in old {
                self.remove(number);
            }
        }
        self.keep_newest(most);
    }

    /// Keep the newest segments in memory.
    pub(crate) fn keep_newest(&mut self, most: usize) {
        while self.live > most {
            if self.entries[self.oldest].is_live {
                self.remove(self.oldest as u32);
                self.evicted += 1;
            }
            self.oldest += 1;
        }
    }

    /// Return whether so much of it is gone that it should be rebuilt.
    pub(crate) fn is_sparse(&self) -> bool {
        const FEW: usize = 1024;
        let gone = self.entries.len() - self.live;
        gone > FEW && gone * 4 > self.live
    }

    /// The same segments without what is gone.
    pub(crate) fn compacted(&self) -> Result<Self> {
        let mut compact = Self::new(self.rows.dim(), self.worth)?;
        compact.center = self.center.clone();
        let is_kept = |passage: &Passage| self.entries[passage.segment as usize].is_live;
        let mut next = 0;
        let renumbered: Vec<Option<u32>> = self
            .passages
            .iter()
            .map(|passage| {
                is_kept(passage).then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        compact.texts = self.texts.renumbered(&renumbered);
        compact.rows = self.rows.clone();
        compact.rows.retain(|number| renumbered[number].is_some());
        compact.passages.extend(self.passages.iter().filter(|passage| is_kept(passage)));
        (compact.sessions, compact.roles, compact.topics) =
            (self.sessions.clone(), self.roles.clone(), self.topics.clone());
        (compact.sources, compact.cursor, compact.evicted) = (self.sources.clone(), self.cursor, self.evicted);
        let mut first = 0;
        for entry in self.entries.iter().filter(|entry| entry.is_live) {
            let passages = first..first + entry.passages.len() as u32;
            first = passages.end;
            for passage in passages.clone() {
                compact.passages[passage as usize].segment = compact.entries.len() as u32;
            }
            compact.enter(Entry { passages, ..entry.clone() });
        }
        Ok(compact)
    }

    /// Read a segment from disk.
    pub(crate) fn read(&self, number: u32) -> Result<Segment> {
        let entry = &self.entries[number as usize];
        let path = std::path::Path::new(crate::store::log::SEGMENTS);
        let damaged = |fault: &str| Error::corrupt(path, entry.line.offset, fault);
        let mut line = vec![0; entry.line.bytes as usize];
        let source = self.sources.get(entry.line.source as usize).ok_or_else(|| damaged("the file is gone"))?;
        read_exact_at(source, &mut line, entry.line.offset).map_err(Error::io(path))?;
        let segment = Segment::from_line(trim(&line, entry.line.offset)).map_err(|fault| damaged(&fault))?;
        if *segment.id == *entry.id { Ok(segment) } else { Err(damaged("another segment than was written here")) }
    }

    /// The live neighbors of a segment in its session with their distances, nearest first on each side.
    pub(crate) fn neighbors(&self, number: u32, reach: usize) -> impl Iterator<Item = (u32, usize)> + '_ {
        let entry = &self.entries[number as usize];
        let timeline = &self.timelines[entry.timeline as usize];
        let (before, after) = (&timeline[..entry.place as usize], &timeline[entry.place as usize + 1..]);
        let is_step = |number: &&u32| self.entries.get(**number as usize).is_none_or(|entry| entry.is_live);
        let before = before.iter().rev().filter(is_step).take(reach).zip(1..);
        let after = after.iter().filter(is_step).take(reach).zip(1..);
        before.chain(after).filter(|(number, _)| **number != GAP).map(|(&number, distance)| (number, distance))
    }

    /// Let segments be neighbors as these sequences of lines say, in which lines that are not here have their places.
    /// A segment in none has no neighbors.
    pub(crate) fn tie(&mut self, sequences: &[Vec<u64>]) {
        let numbers: FxHashMap<u64, u32> = (0..)
            .zip(&self.entries)
            .filter(|(_, entry)| entry.is_live)
            .map(|(it, entry)| (entry.line.offset, it))
            .collect();
        let number = |line: &u64| numbers.get(line).copied().unwrap_or(GAP);
        self.timelines = sequences.iter().map(|lines| lines.iter().map(number).collect()).collect();
        let alone = self.timelines.len() as u32;
        self.timelines.push(vec![GAP]);
        for entry in &mut self.entries {
            (entry.timeline, entry.place) = (alone, 0);
        }
        for (timeline, numbers) in (0..).zip(&self.timelines) {
            for (place, &number) in (0..).zip(numbers).filter(|(_, number)| **number != GAP) {
                let entry = &mut self.entries[number as usize];
                (entry.timeline, entry.place) = (timeline, place);
            }
        }
    }

    /// The live segment whose line begins at this place of the log.
    #[cfg(feature = "disk-index")]
    pub(crate) fn at(&self, offset: u64) -> Option<u32> {
        let source = self.sources.len().saturating_sub(1) as u32;
        let place = |entry: &Entry| (entry.line.source, entry.line.offset);
        let number = self.entries.partition_point(|entry| place(entry) < (source, offset));
        let entry = self.entries.get(number)?;
        (entry.is_live && place(entry) == (source, offset)).then_some(number as u32)
    }

    /// Return whether a line is in the log and not in one that was deleted.
    #[cfg(feature = "disk-index")]
    pub(crate) fn is_of_log(&self, line: LineAt) -> bool {
        line.source as usize + 1 == self.sources.len()
    }

    /// Return the offset of the oldest live segment's line; the end of what was read if there is none.
    #[cfg(feature = "disk-index")]
    pub(crate) fn oldest_line(&self) -> u64 {
        let oldest = self.entries[self.oldest..].iter().find(|entry| entry.is_live);
        oldest.map_or(self.cursor.offset, |entry| entry.line.offset)
    }

    /// The id under which `vectors.bin` keeps the vector of a passage.
    pub(crate) fn vector_id(&self, passage: u32) -> String {
        let entry = &self.entries[self.passages[passage as usize].segment as usize];
        vector_id(&entry.id, (passage - entry.passages.start) as usize)
    }
}
