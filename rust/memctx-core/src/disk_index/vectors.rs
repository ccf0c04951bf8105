//! The vectors of the disk index: sign codes in memory, 8-bit copies on disk.
//!
//! A query is compared with all codes. Those that may be the nearest are read one by one and compared again: reading a few
//! hundred records takes less time than walking a graph does, and no filter or number of duplicates can lead it astray.
//! The newest rows, fewer than a block, have no codes yet and are held in memory.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::column::{Column, ColumnWriter, Sum};
use super::records::{RecordWriter, Records};
use crate::vector::{BLOCK, Copy, Kernel, LANES, Line, Signs, check_finite, norm};
use crate::{Error, Result, Scored, TopK};

/// The 8-bit copies, each with its scale.
const ROWS: &str = "rows";
const CODES: &str = "codes";

/// Most rows that are read for a query, unless it asks for very many.
const SHORTLIST: usize = 1536;
/// Rows that may be read for each that is asked for, at least.
const PER_RESULT: usize = 4;
/// A row whose estimate is further than so many standard deviations below the least of the best is not read.
const MARGIN: f32 = 2.0;

/// Test of the rows that a search may return.
pub(super) type Admit<'a> = &'a dyn Fn(u32) -> bool;

/// Committed lengths of the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct VectorSums {
    rows: Sum,
    codes: Sum,
}

/// Adds vectors. There must be only one.
#[derive(Debug)]
pub(super) struct VectorWriter {
    dim: usize,
    signs: Signs,
    rows: RecordWriter,
    codes: ColumnWriter<u32>,
    tail: Tail,
}

/// The rows behind the last whole block.
#[derive(Clone, Debug, Default)]
struct Tail {
    lines: Vec<Line>,
    /// Value of a step of each row; 0 where a vector is missing or zero, which is near to nothing.
    scales: Vec<f32>,
}

impl Tail {
    fn read(rows: &Records, width: usize) -> Result<Self> {
        let mut tail = Self::default();
        rows.for_each(first_behind_blocks(rows), |record| tail.push_record(record, width))?;
        Ok(tail)
    }

    fn push_record(&mut self, record: &[u8], width: usize) {
        let start = self.lines.len();
        self.lines.resize(start + width, Line::ZERO);
        self.scales.push(parse(record, &mut self.lines[start..]));
    }
}

impl VectorWriter {
    /// Go on behind what counts.
    pub(super) fn open(folder: &Path, dim: usize, sums: &VectorSums) -> Result<Self> {
        let signs = Signs::new(width(dim));
        let rows = Records::open(&folder.join(ROWS), record_bytes(dim), sums.rows)?;
        check_blocks(folder, &rows, sums, &signs)?;
        Ok(Self {
            dim,
            tail: Tail::read(&rows, width(dim))?,
            rows: RecordWriter::open(&folder.join(ROWS), sums.rows)?,
            codes: ColumnWriter::open(&folder.join(CODES), sums.codes)?,
            signs,
        })
    }

    /// Add the vector of the next row; zeros where there is none.
    pub(super) fn push(&mut self, vector: &[f32]) -> Result<()> {
        check(vector, self.dim)?;
        let copy = copy(vector);
        let mut record = Vec::with_capacity(record_bytes(self.dim));
        record.extend_from_slice(bytemuck::cast_slice(&copy.lines));
        record.extend_from_slice(&copy.scale.to_le_bytes());
        self.rows.append(&record)?;
        let Tail { lines, scales } = &mut self.tail;
        lines.extend_from_slice(&copy.lines);
        scales.push(copy.scale);
        if scales.len() == BLOCK {
            self.codes.append(&self.signs.encode(lines, scales))?;
            lines.clear();
            scales.clear();
        }
        Ok(())
    }

    /// Make what was added outlast a power cut, and say what counts from now on.
    pub(super) fn sync(&mut self) -> Result<VectorSums> {
        Ok(VectorSums { rows: self.rows.sync()?, codes: self.codes.sync()? })
    }
}

/// Finds the nearest of many vectors.
#[derive(Debug)]
pub(super) struct VectorIndex {
    dim: usize,
    signs: Signs,
    kernel: Kernel,
    /// A block of codes to a row.
    codes: Column<u32>,
    rows: Records,
    tail: Tail,
}

impl VectorIndex {
    /// Read and check what counts.
    pub(super) fn open(folder: &Path, dim: usize, sums: &VectorSums) -> Result<Self> {
        let signs = Signs::new(width(dim));
        let rows = Records::open(&folder.join(ROWS), record_bytes(dim), sums.rows)?;
        check_blocks(folder, &rows, sums, &signs)?;
        let codes = Column::open(&folder.join(CODES), signs.words(), sums.codes)?;
        Ok(Self { dim, signs, kernel: Kernel::pick(), codes, tail: Tail::read(&rows, width(dim))?, rows })
    }

    /// Return the same index with what counts by now.
    pub(super) fn grown(&self, sums: &VectorSums) -> Result<Self> {
        let (codes, rows) = (self.codes.grown(sums.codes)?, self.rows.grown(sums.rows)?);
        let tail = Tail::read(&rows, width(self.dim))?;
        Ok(Self { dim: self.dim, signs: self.signs.clone(), kernel: self.kernel, codes, rows, tail })
    }

    /// Return the length of the vectors.
    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// Return the rows nearest to a vector of those that pass the test, as far as their 8-bit copies tell; best first. A few
    /// may be missed whose codes tell less than they should.
    pub(super) fn nearest(&self, vector: &[f32], k: usize, admit: Admit<'_>) -> Result<Vec<Scored>> {
        check(vector, self.dim)?;
        let query = copy(vector);
        let mut best = TopK::new(k);
        if k == 0 || query.scale == 0.0 {
            return Ok(best.into_sorted());
        }
        self.offer_tail(&query, &mut best, admit);
        let slack = MARGIN * self.signs.deviation();
        let mut buffer = Vec::new();
        let mut lines = vec![Line::ZERO; width(self.dim)];
        for (estimate, number) in self.shortlist(&query, k, admit) {
            if f64::from(estimate + slack) < best.floor() {
                break;
            }
            let scale = parse(self.rows.read(number, &mut buffer)?, &mut lines);
            let mut product = [0];
            self.kernel.products(&query.lines, &lines, &mut product);
            best.offer(Scored { number, score: score(product[0], &query, scale) });
        }
        Ok(best.into_sorted())
    }

    /// Return the rows whose estimated cosines are highest, best first: enough to choose `k` of them.
    fn shortlist(&self, query: &Copy, k: usize, admit: Admit<'_>) -> Vec<(f32, u32)> {
        let prepared = self.signs.query(query);
        let mut shortlist = Shortlist::new(SHORTLIST.max(k.saturating_mul(PER_RESULT).min(self.rows.len())));
        for block in 0..self.codes.len() {
            let first = (block * BLOCK) as u32;
            let floor = shortlist.floor;
            self.signs.scan(&prepared, self.codes.row(block), floor, |row, estimate| {
                let number = first + row as u32;
                if admit(number) {
                    shortlist.push(estimate, number);
                }
                shortlist.floor
            });
        }
        shortlist.into_sorted()
    }

    fn offer_tail(&self, query: &Copy, best: &mut TopK, admit: Admit<'_>) {
        let Tail { lines, scales } = &self.tail;
        let mut products = vec![0; scales.len()];
        self.kernel.products(&query.lines, lines, &mut products);
        for ((number, product), &scale) in (first_behind_blocks(&self.rows)..).zip(products).zip(scales) {
            if scale != 0.0 && admit(number) {
                best.offer(Scored { number, score: score(product, query, scale) });
            }
        }
    }

    /// Fail if a file no longer holds all that counts.
    pub(super) fn check(&self) -> Result<()> {
        self.codes.check()?;
        self.rows.check()
    }
}

/// The highest estimates so far.
#[derive(Debug)]
struct Shortlist {
    size: usize,
    items: Vec<(f32, u32)>,
    /// Bound that a row must exceed to have a chance.
    floor: f32,
}

impl Shortlist {
    fn new(size: usize) -> Self {
        Self { size, items: Vec::with_capacity(2 * size), floor: f32::NEG_INFINITY }
    }

    fn push(&mut self, estimate: f32, number: u32) {
        self.items.push((estimate, number));
        if self.items.len() == 2 * self.size {
            self.items.select_nth_unstable_by(self.size - 1, before);
            self.items.truncate(self.size);
            self.floor = self.items[self.size - 1].0;
        }
    }

    fn into_sorted(mut self) -> Vec<(f32, u32)> {
        self.items.sort_unstable_by(before);
        self.items.truncate(self.size);
        self.items
    }
}

/// The higher estimate comes first, the older row of equals.
#[allow(clippy::trivially_copy_pass_by_ref)] // as sorting wants it
fn before(a: &(f32, u32), b: &(f32, u32)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// Return the first row that is in no block.
fn first_behind_blocks(rows: &Records) -> u32 {
    (rows.len() / BLOCK * BLOCK) as u32
}

fn check_blocks(folder: &Path, rows: &Records, sums: &VectorSums, signs: &Signs) -> Result<()> {
    if sums.codes.len == (rows.len() / BLOCK * signs.words()) as u64 {
        return Ok(());
    }
    Err(Error::corrupt(&folder.join(CODES), 0, "their number differs from the number of rows"))
}

/// Lines to a row of so many values.
fn width(dim: usize) -> usize {
    dim.div_ceil(LANES)
}

/// Bytes of the record of a row: its lines, and what a step of them stands for.
fn record_bytes(dim: usize) -> usize {
    width(dim) * LANES + size_of::<f32>()
}

/// Fill the lines of a row from its record, and return its scale.
fn parse(record: &[u8], lines: &mut [Line]) -> f32 {
    let (values, scale) = record.split_at(lines.len() * LANES);
    bytemuck::cast_slice_mut(lines).copy_from_slice(values);
    scale.first_chunk().map_or(0.0, |scale| f32::from_le_bytes(*scale))
}

fn score(product: i32, query: &Copy, scale: f32) -> f64 {
    f64::from(product as f32 * (scale * query.scale))
}

/// Return the 8-bit copy of a vector.
fn copy(vector: &[f32]) -> Copy {
    Copy::new(vector, norm(vector))
}

fn check(vector: &[f32], dim: usize) -> Result<()> {
    if vector.len() != dim {
        return Err(Error::Dimension { expected: dim, found: vector.len() });
    }
    check_finite(vector, dim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DIM: usize = 70;

    /// Return vectors around a few centers, with zeros and duplicates among them.
    fn vectors(count: usize, seed: u64) -> Vec<Vec<f32>> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1 << 24) as f32 - 0.5
        };
        let centers: Vec<Vec<f32>> = (0..7).map(|_| (0..DIM).map(|_| next()).collect()).collect();
        let mut vectors: Vec<Vec<f32>> = Vec::new();
        for row in 0..count {
            let vector = match row % 50 {
                49 => vec![0.0; DIM],
                40..49 => vectors[row / 2].clone(),
                _ => centers[row % 7].iter().map(|value| value + next()).collect(),
            };
            vectors.push(vector);
        }
        vectors
    }

    fn write(folder: &Path, sums: &VectorSums, vectors: &[Vec<f32>]) -> VectorSums {
        let mut writer = VectorWriter::open(folder, DIM, sums).expect("opens");
        for vector in vectors {
            writer.push(vector).expect("takes it");
        }
        writer.sync().expect("syncs")
    }

    fn indexed(folder: &Path, vectors: &[Vec<f32>]) -> (VectorSums, VectorIndex) {
        let sums = write(folder, &VectorSums::default(), vectors);
        (sums, VectorIndex::open(folder, DIM, &sums).expect("opens"))
    }

    fn nearest(index: &VectorIndex, query: &[f32], k: usize, admit: Admit<'_>) -> Vec<u32> {
        index.nearest(query, k, admit).expect("a good query").iter().map(|item| item.number).collect()
    }

    /// Return the result of a plain scan of the 8-bit copies.
    fn expected(vectors: &[Vec<f32>], query: &[f32], k: usize, admit: Admit<'_>) -> Vec<u32> {
        let query = copy(query);
        let mut best = TopK::new(k);
        for (number, vector) in (0..).zip(vectors).filter(|(number, _)| admit(*number)) {
            let row = copy(vector);
            if row.scale != 0.0 {
                let pairs = row.lines.iter().zip(&query.lines).flat_map(|(a, b)| a.0.iter().zip(&b.0));
                let product: i32 = pairs.map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
                best.offer(Scored { number, score: score(product, &query, row.scale) });
            }
        }
        best.into_sorted().iter().map(|item| item.number).collect()
    }

    fn share(found: &[u32], expected: &[u32]) -> f64 {
        assert_eq!(found.len(), expected.len());
        let hits = found.iter().filter(|number| expected.contains(number)).count();
        if expected.is_empty() { 1.0 } else { hits as f64 / expected.len() as f64 }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn the_newest_rows_are_searched_exactly(
            count in 0..700_usize, seed in 1..1000_u64, k in 0..30_usize, divisor in 1..40_u32, rest in 0..40_u32,
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let vectors = vectors(count, seed);
            let (_, index) = indexed(folder.path(), &vectors);
            let admit = |row: u32| row % divisor <= rest;
            let query = &super::tests::vectors(3, seed + 1)[2];
            prop_assert_eq!(nearest(&index, query, k, &admit), expected(&vectors, query, k, &admit));
        }
    }

    #[test]
    fn codes_find_nearly_all_whatever_the_filter() {
        let folder = tempfile::tempdir().expect("a folder");
        let vectors = vectors(3 * BLOCK + 500, 5);
        let (_, index) = indexed(folder.path(), &vectors);
        let tests: [(&str, Admit<'_>); 5] = [
            ("all", &|_| true),
            ("half", &|row| row % 2 == 0),
            ("few", &|row| row % 97 == 3),
            ("stretch", &|row| (1200..1230).contains(&row)),
            ("none", &|_| false),
        ];
        for (name, admit) in tests {
            let mut shares = 0.0;
            for query in &super::tests::vectors(20, 77) {
                let found = nearest(&index, query, 10, admit);
                assert!(found.iter().all(|number| admit(*number)));
                shares += share(&found, &expected(&vectors, query, 10, admit));
            }
            assert!(shares / 20.0 >= 0.95, "{name}: {}", shares / 20.0);
        }
    }

    #[test]
    fn more_duplicates_than_are_read_hide_nothing_that_is_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut vectors = vectors(2 * BLOCK, 9);
        let duplicate = vectors[3].clone();
        vectors.iter_mut().skip(500).step_by(2).for_each(|vector| vector.clone_from(&duplicate));
        let (_, index) = indexed(folder.path(), &vectors);
        let found = nearest(&index, &duplicate, 40, &|_| true);
        assert_eq!(found.iter().filter(|&&row| vectors[row as usize] == duplicate).count(), 40);
        let odd: Admit<'_> = &|row| row % 2 == 1;
        let queries = || (0..40).map(|query| &vectors[501 + 50 * query]);
        let shares: f64 =
            queries().map(|query| share(&nearest(&index, query, 10, odd), &expected(&vectors, query, 10, odd))).sum();
        assert!(shares / 40.0 >= 0.95, "{}", shares / 40.0);
    }

    #[test]
    fn the_index_grows_with_appends() {
        let folder = tempfile::tempdir().expect("a folder");
        let vectors = vectors(2 * BLOCK + 7, 3);
        let (mut sums, first) = indexed(folder.path(), &vectors[..500]);
        let mut index = first.grown(&sums).expect("the same");
        for end in [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, vectors.len()] {
            sums = write(folder.path(), &sums, &vectors[index.rows.len()..end]);
            index = index.grown(&sums).expect("grows");
            let opened = VectorIndex::open(folder.path(), DIM, &sums).expect("opens");
            assert_eq!((index.codes.len(), index.tail.scales.len()), (end / BLOCK, end % BLOCK));
            for query in [&vectors[end / 50 * 50 - 13], &vectors[17], &vectors[600]] {
                let found = nearest(&index, query, 10, &|_| true);
                assert_eq!(found, nearest(&opened, query, 10, &|_| true));
                assert!(share(&found, &expected(&vectors[..end], query, 10, &|_| true)) >= 0.9);
            }
        }
        assert_eq!(nearest(&first, &vectors[0], 1, &|_| true), [0]);
    }

    #[test]
    fn damage_of_codes_and_of_rows_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let vectors = vectors(BLOCK + 20, 8);
        let (sums, index) = indexed(folder.path(), &vectors);
        for (name, step) in [(CODES, 4099), (ROWS, 9973)] {
            let path = folder.path().join(name);
            let whole = std::fs::read(&path).expect("is there");
            for at in (0..whole.len()).step_by(step) {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << (at % 8);
                std::fs::write(&path, &damaged).expect("written");
                // The row of a query is read for it.
                let asked = &vectors[at / (record_bytes(DIM) + 4) % vectors.len()];
                let opened = VectorIndex::open(folder.path(), DIM, &sums);
                let is_asked = name == CODES || asked.iter().any(|value| *value != 0.0);
                assert!(
                    !is_asked || opened.and_then(|index| index.nearest(asked, 9, &|_| true)).is_err(),
                    "{name} {at}"
                );
                std::fs::write(&path, &whole[..at]).expect("written");
                assert!(VectorIndex::open(folder.path(), DIM, &sums).is_err() && index.check().is_err(), "{name} {at}");
            }
            std::fs::write(&path, &whole).expect("written");
        }
        index.check().expect("all is there");
    }

    #[test]
    fn invalid_vectors_and_sums_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (sums, index) = indexed(folder.path(), &vectors(10, 1));
        assert!(index.nearest(&[1.0; DIM + 1], 3, &|_| true).is_err());
        assert!(index.nearest(&[f32::NAN; DIM], 3, &|_| true).is_err());
        assert!(nearest(&index, &[0.0; DIM], 3, &|_| true).is_empty());
        let mut writer = VectorWriter::open(folder.path(), DIM, &sums).expect("opens");
        assert!(writer.push(&[1.0; DIM - 1]).is_err());
        assert!(writer.push(&[f32::INFINITY; DIM]).is_err());
        assert!(VectorIndex::open(folder.path(), 3 * DIM, &sums).is_err());
        let other = VectorSums { codes: Sum { len: 1, crc: 0 }, ..sums };
        assert!(VectorIndex::open(folder.path(), DIM, &other).is_err());
    }
}
