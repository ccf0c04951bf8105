//! Proximity graph over a sealed range of rows.
//!
//! usearch builds it, with distances of our own; what is kept of it is the links alone. Walking them is a short loop
//! that knows about prefetching, tests and duplicates, and that no damage can lead astray: links are checked numbers.
//!
//! Rows with the same copy are duplicates. A graph would link them to each other and to nothing else, so only the first
//! is in it, and each duplicate leads to the next.
//!
//! The file is 16 numbers of header and, for each row, its next duplicate and its links, relative to the first row.

use std::collections::BinaryHeap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashMap;
use usearch::{IndexOptions, MetricKind, ScalarKind};

use super::native::{NUMBER_BYTES, numbered_index, vector_of};
use super::space::{Admit, Query, Space};
use crate::file::{open_private_sized, read_exact_at, sync_folder};
use crate::{Error, Result, Scored, TopK};

/// Parameters of building and searching a graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct GraphParams {
    /// Half of the links a row may have.
    pub(super) connectivity: usize,
    /// Candidates held while a row is linked.
    pub(super) expansion_add: usize,
    /// Candidates held while the nearest are looked for.
    pub(super) expansion_search: usize,
    /// One row in so many may be where a search begins.
    pub(super) step: usize,
}

impl Default for GraphParams {
    fn default() -> Self {
        Self { connectivity: 16, expansion_add: 64, expansion_search: 1024, step: 64 }
    }
}

/// Rows a search begins with.
const STARTS: usize = 8;
/// Below this share of admitted rows, reading all of them is quicker than looking for them along links.
const FEW: f64 = 0.125;
const MAGIC: u32 = u32::from_le_bytes(*b"mcG\x01");
/// Numbers before the first row: the magic one, the range, the width, and the checksum of all that follows.
const HEADER: usize = 16;
const NONE: u32 = u32::MAX;
/// Rows between two looks at the order to stop.
const STOP_TIMEOUT: u32 = 64;

/// The links of a range of rows.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) range: Range<u32>,
    /// Numbers to a row: the next duplicate and the links.
    width: usize,
    words: Vec<u32>,
}

impl Graph {
    /// Read a file and check it.
    pub(super) fn open(path: &Path, range: Range<u32>) -> Result<Self> {
        let fault = |fault: &str| Error::corrupt(path, 0, fault);
        let (file, bytes) = open_private_sized(OpenOptions::new().read(true), path).map_err(Error::io(path))?;
        let mut header = [0; HEADER];
        let read =
            |words: &mut [u32]| read_exact_at(&file, bytemuck::cast_slice_mut(words), 0).map_err(Error::io(path));
        read(&mut header)?;
        let [magic, start, end, width, crc, ..] = header;
        if (magic, start, end) != (MAGIC, range.start, range.end) {
            return Err(fault("not a graph of these rows by this version"));
        }
        // Before memory is taken for it.
        let length = range.len().checked_mul(width as usize).and_then(|links| links.checked_add(HEADER));
        let length = length.filter(|&length| width > 0 && (length as u64).checked_mul(4) == Some(bytes));
        let mut words = vec![0; length.ok_or_else(|| fault("the length is not that of this graph"))?];
        read(&mut words)?;
        if words[..HEADER] != header || checksum(&words) != crc {
            return Err(fault("the checksum does not hold"));
        }
        Ok(Self { range, width: width as usize, words })
    }

    /// Build the graph of a range and save it; false if asked to stop.
    pub(super) fn build(
        path: &Path,
        space: &Space,
        range: Range<u32>,
        params: GraphParams,
        stop: &AtomicBool,
    ) -> Result<bool> {
        let Some(mut words) = words_of(space, &range, params, stop).map_err(Error::io(path))? else { return Ok(false) };
        words[4] = checksum(&words);
        let save = || -> io::Result<()> {
            let folder = path.parent().unwrap_or(Path::new("."));
            let mut file = tempfile::Builder::new().prefix(".graph-").tempfile_in(folder)?;
            file.write_all(bytemuck::cast_slice(&words))?;
            file.as_file().sync_all()?;
            file.persist(path).map_err(|refused| refused.error)?;
            sync_folder(folder)
        };
        save().map_err(Error::io(path))?;
        Ok(true)
    }

    /// Offer the rows nearest to a query.
    pub(super) fn search(
        &self,
        space: &Space,
        params: GraphParams,
        query: &Query,
        k: usize,
        best: &mut TopK,
        admit: Admit<'_>,
    ) {
        if Space::admitted_share(&self.range, admit) < FEW {
            return space.scan(query, self.range.clone(), best, admit);
        }
        let mut found = TopK::new(k.max(params.expansion_search));
        let mut seen = vec![0_u64; self.range.len().div_ceil(64)];
        let mut open: BinaryHeap<Scored> = self.starts(space, params, query).into_iter().collect();
        for start in &open {
            see(&mut seen, start.number);
            self.offer(*start, &mut found, admit);
        }
        let mut next = Vec::with_capacity(self.width);
        while let Some(nearest) = open.pop() {
            if nearest.score < found.floor() {
                break;
            }
            next.clear();
            next.extend(self.links(nearest.number).iter().filter(|&&link| see(&mut seen, link)));
            for &number in &next {
                space.fetch(self.range.start + number);
            }
            for &number in &next {
                let item = Scored { number, score: space.score(query, self.range.start + number) };
                if item.score > found.floor() {
                    open.push(item);
                    self.offer(item, &mut found, admit);
                }
            }
        }
        for item in found.into_sorted() {
            best.offer(Scored { number: self.range.start + item.number, ..item });
        }
    }

    /// Return some of the rows, the nearest of which a search begins with.
    fn starts(&self, space: &Space, params: GraphParams, query: &Query) -> Vec<Scored> {
        let mut starts = TopK::new(STARTS);
        let linked = (0..self.range.len() as u32).step_by(params.step).filter(|&number| !self.links(number).is_empty());
        for number in linked {
            starts.offer(Scored { number, score: space.score(query, self.range.start + number) });
        }
        starts.into_sorted()
    }

    /// Offer a row and its duplicates, as far as they have a chance.
    fn offer(&self, item: Scored, found: &mut TopK, admit: Admit<'_>) {
        let mut number = item.number;
        while let Some([duplicate, ..]) = self.numbers(number)
            && item.score > found.floor()
        {
            if admit(self.range.start + number) {
                found.offer(Scored { number, ..item });
            }
            // Duplicates come in order, so that there is an end whatever the file says.
            if *duplicate <= number {
                break;
            }
            number = *duplicate;
        }
    }

    /// Return the neighbors of a row.
    fn links(&self, number: u32) -> &[u32] {
        let links = self.numbers(number).map_or(&[][..], |numbers| &numbers[1..]);
        &links[..links.iter().position(|&link| link == NONE).unwrap_or(links.len())]
    }

    fn numbers(&self, number: u32) -> Option<&[u32]> {
        let at = HEADER + number as usize * self.width;
        self.words.get(at..at + self.width)
    }
}

/// Note that a row has been seen; false if it was, or if there is no such row.
fn see(seen: &mut [u64], number: u32) -> bool {
    let Some(bits) = seen.get_mut(number as usize / 64) else { return false };
    let bit = 1 << (number % 64);
    let is_new = *bits & bit == 0;
    *bits |= bit;
    is_new
}

/// Return the checksum of a graph: of everything but itself.
fn checksum(words: &[u32]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytemuck::cast_slice(&words[..4]));
    hasher.update(bytemuck::cast_slice(&words[5..]));
    hasher.finalize()
}

/// Header and links of a range, the checksum left out; none if asked to stop.
fn words_of(space: &Space, range: &Range<u32>, params: GraphParams, stop: &AtomicBool) -> io::Result<Option<Vec<u32>>> {
    let width = 1 + 2 * params.connectivity;
    let mut words = vec![NONE; HEADER + range.len() * width];
    words[..HEADER].fill(0);
    words[..4].copy_from_slice(&[MAGIC, range.start, range.end, width as u32]);
    let rows = &mut words[HEADER..];
    let index = numbered_index(&options(params), {
        let (space, middle, from) = (space.clone(), Middle::of(space, range), range.start);
        move |a, b| -middle.likeness(space.likeness(a, b), (a - from) as usize, (b - from) as usize)
    })?;
    index.reserve_capacity_and_threads(range.len(), 1).map_err(io::Error::other)?;
    let mut duplicates = FxHashMap::default();
    for row in range.clone().filter(|&row| space.has(row)) {
        if (row - range.start).is_multiple_of(STOP_TIMEOUT) && stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let copy = bytemuck::cast_slice(space.row(row));
        match duplicates.insert(xxhash_rust::xxh3::xxh3_64(copy), row) {
            Some(duplicate) if space.row(duplicate) == space.row(row) => {
                rows[(duplicate - range.start) as usize * width] = row - range.start;
            }
            _ => index.add(u64::from(row), &vector_of(row)).map_err(io::Error::other)?,
        }
    }
    for (numbers, row) in rows.chunks_exact_mut(width).zip(range.clone()) {
        for (number, link) in numbers[1..].iter_mut().zip(index.neighbors(u64::from(row), 0)) {
            *number = link as u32 - range.start;
        }
    }
    Ok(Some(words))
}

/// Mean of all rows of a range, subtracted because it carries no similarity.
struct Middle {
    /// The square of its length.
    square: f32,
    /// For each row its product with the middle, and one over its distance from it.
    rows: Vec<(f32, f32)>,
}

impl Middle {
    fn of(space: &Space, range: &Range<u32>) -> Self {
        let (query, length) = space.mean(range.clone());
        let square = length * length;
        let measure = |row| {
            let product = space.score(&query, row) as f32 * length;
            (product, 1.0 / (1.0 - 2.0 * product + square).max(1e-6).sqrt())
        };
        Self { square, rows: range.clone().map(measure).collect() }
    }

    /// Return the cosine between two rows as seen from the middle, of their cosine.
    fn likeness(&self, cosine: f32, a: usize, b: usize) -> f32 {
        let ((a, a_scale), (b, b_scale)) = (self.rows[a], self.rows[b]);
        (cosine - a - b + self.square) * (a_scale * b_scale)
    }
}

fn options(params: GraphParams) -> IndexOptions {
    IndexOptions {
        dimensions: NUMBER_BYTES,
        metric: MetricKind::IP,
        quantization: ScalarKind::I8,
        connectivity: params.connectivity,
        expansion_add: params.expansion_add,
        ..IndexOptions::default()
    }
}
