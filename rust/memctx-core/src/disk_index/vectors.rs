//! The vectors of the disk index: 8-bit copies in the order of the passages, and graphs over what will not change.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use super::column::{Column, ColumnWriter, Sum};
use super::graph::{Graph, GraphParams};
use super::space::{Admit, Space, copy, width};
use crate::vector::{Line, check_finite};
use crate::{Error, Result, Scored, TopK};

const ROWS: &str = "rows";
const SCALES: &str = "scales";

/// Layout of the graphs over the rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Rows below which all are scanned.
    pub(super) least: u32,
    /// Rows to a graph.
    pub(super) shard: u32,
    pub(super) params: GraphParams,
}

impl Default for Plan {
    fn default() -> Self {
        Self { least: 200_000, shard: 1 << 17, params: GraphParams::default() }
    }
}

/// Committed lengths of the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct VectorSums {
    rows: Sum,
    scales: Sum,
}

/// Adds vectors. There must be only one.
#[derive(Debug)]
pub(super) struct VectorWriter {
    dim: usize,
    rows: ColumnWriter<Line>,
    scales: ColumnWriter<f32>,
}

impl VectorWriter {
    /// Go on behind what counts.
    pub(super) fn open(folder: &Path, dim: usize, sums: &VectorSums) -> Result<Self> {
        let rows = ColumnWriter::open(&folder.join(ROWS), sums.rows)?;
        Ok(Self { dim, rows, scales: ColumnWriter::open(&folder.join(SCALES), sums.scales)? })
    }

    /// Add the vector of the next row; zeros where there is none.
    pub(super) fn push(&mut self, vector: &[f32]) -> Result<()> {
        check(vector, self.dim)?;
        let copy = copy(vector);
        self.rows.append(&copy.lines)?;
        self.scales.append(&[copy.scale])
    }

    /// Make what was added outlast a power cut, and say what counts from now on.
    pub(super) fn sync(&mut self) -> Result<VectorSums> {
        Ok(VectorSums { rows: self.rows.sync()?, scales: self.scales.sync()? })
    }
}

/// Finds the nearest of many vectors.
#[derive(Debug)]
pub(super) struct VectorIndex {
    folder: PathBuf,
    dim: usize,
    plan: Plan,
    space: Space,
    graphs: RwLock<Graphs>,
}

/// In the order of their rows.
type Graphs = Arc<Vec<Arc<Graph>>>;

impl VectorIndex {
    /// Read and check what counts. Graphs that are damaged are as good as none.
    pub(super) fn open(folder: &Path, dim: usize, sums: &VectorSums) -> Result<Self> {
        Self::open_planned(folder, dim, sums, Plan::default())
    }

    pub(super) fn open_planned(folder: &Path, dim: usize, sums: &VectorSums, plan: Plan) -> Result<Self> {
        let rows = Column::open(&folder.join(ROWS), width(dim), sums.rows)?;
        let scales = Column::open(&folder.join(SCALES), 1, sums.scales)?;
        Self::new(folder, dim, plan, rows, scales, &Graphs::default())
    }

    /// Return the same index with what counts by now, and with graphs that others have made.
    pub(super) fn grown(&self, sums: &VectorSums) -> Result<Self> {
        let rows = self.space.lines().grown(sums.rows)?;
        let scales = self.space.scales().grown(sums.scales)?;
        Self::new(&self.folder, self.dim, self.plan, rows, scales, &self.known())
    }

    fn new(
        folder: &Path,
        dim: usize,
        plan: Plan,
        rows: Column<Line>,
        scales: Column<f32>,
        known: &Graphs,
    ) -> Result<Self> {
        let Some(space) = Space::new(dim, rows, scales) else {
            return Err(Error::corrupt(&folder.join(SCALES), 0, "their number differs from the number of rows"));
        };
        let graphs = graphs_of(folder, plan, space.len(), known);
        Ok(Self { folder: folder.to_owned(), dim, plan, space, graphs: RwLock::new(Arc::new(graphs)) })
    }

    /// Return the length of the vectors.
    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// Return the rows nearest to a vector of those that pass the test, as far as their 8-bit copies tell; best first.
    pub(super) fn nearest(&self, vector: &[f32], k: usize, admit: Admit<'_>) -> Result<Vec<Scored>> {
        check(vector, self.dim)?;
        let query = copy(vector);
        let mut best = TopK::new(k);
        if k == 0 || query.scale == 0.0 {
            return Ok(best.into_sorted());
        }
        let mut scanned = 0;
        for graph in self.known().iter() {
            self.space.scan(&query, scanned..graph.range.start, &mut best, admit);
            graph.search(&self.space, self.plan.params, &query, k, &mut best, admit);
            scanned = graph.range.end;
        }
        self.space.scan(&query, scanned..self.space.len(), &mut best, admit);
        Ok(best.into_sorted())
    }

    /// Build and save the next graph that is due, unless asked to stop; false if there was none, or no time.
    pub(super) fn grow(&self, stop: &AtomicBool) -> Result<bool> {
        let known = self.known();
        let due = |from: &u32| known.iter().all(|graph| graph.range.start != *from);
        let Some(from) = shards(self.plan, self.space.len()).find(due) else { return Ok(false) };
        let range = from..from + self.plan.shard;
        let path = self.folder.join(name(from, self.plan));
        if !Graph::build(&path, &self.space, range.clone(), self.plan.params, stop)? {
            return Ok(false);
        }
        let graph = Arc::new(Graph::open(&path, range)?);
        let mut graphs: Vec<Arc<Graph>> = known.iter().cloned().chain([graph]).collect();
        graphs.sort_by_key(|graph| graph.range.start);
        *self.graphs.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(graphs);
        Ok(true)
    }

    /// Rows covered by graphs.
    pub(super) fn graphs(&self) -> usize {
        self.known().iter().map(|graph| graph.range.len()).sum()
    }

    /// Fail if a file no longer holds all that was read of it.
    pub(super) fn check(&self) -> Result<()> {
        self.space.lines().check()?;
        self.space.scales().check()
    }

    fn known(&self) -> Graphs {
        Arc::clone(&self.graphs.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Return the first rows of the graphs of so many rows.
fn shards(plan: Plan, rows: u32) -> impl Iterator<Item = u32> {
    let whole = if rows < plan.least { 0 } else { rows / plan.shard };
    (0..whole).map(move |shard| shard * plan.shard)
}

fn name(from: u32, plan: Plan) -> String {
    format!("graph-{from}-{}", from + plan.shard)
}

/// Return the graphs that are there and whole; those known already are not read again.
fn graphs_of(folder: &Path, plan: Plan, rows: u32, known: &Graphs) -> Vec<Arc<Graph>> {
    let open = |from: u32| {
        let opened = known.iter().find(|graph| graph.range.start == from).cloned();
        opened.or_else(|| Graph::open(&folder.join(name(from, plan)), from..from + plan.shard).ok().map(Arc::new))
    };
    shards(plan, rows).filter_map(open).collect()
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

    /// Return a plan with graphs for a handful of rows.
    fn small(shard: u32) -> Plan {
        Plan { least: 2 * shard, shard, ..Plan::default() }
    }

    /// Return vectors around a few centers, with zeros and duplicates among them.
    fn vectors(count: u32, seed: u64) -> Vec<Vec<f32>> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / (1 << 24) as f32 - 0.5
        };
        let centers: Vec<Vec<f32>> = (0..7).map(|_| (0..DIM).map(|_| next()).collect()).collect();
        let mut vectors: Vec<Vec<f32>> = Vec::new();
        for row in 0..count as usize {
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

    fn indexed(folder: &Path, plan: Plan, vectors: &[Vec<f32>]) -> (VectorSums, VectorIndex) {
        let sums = write(folder, &VectorSums::default(), vectors);
        let index = VectorIndex::open_planned(folder, DIM, &sums, plan).expect("opens");
        while index.grow(&AtomicBool::new(false)).expect("grows") {}
        (sums, index)
    }

    fn nearest(index: &VectorIndex, query: &[f32], k: usize, admit: Admit<'_>) -> Vec<Scored> {
        index.nearest(query, k, admit).expect("a good query")
    }

    /// Return the result of a plain scan.
    fn expected(vectors: &[Vec<f32>], query: &[f32], k: usize, admit: Admit<'_>) -> Vec<u32> {
        let space = |vector: &[f32]| copy(vector);
        let query = space(query);
        let mut best = TopK::new(k);
        for (number, vector) in (0..).zip(vectors).filter(|(number, _)| admit(*number)) {
            let row = space(vector);
            if row.scale != 0.0 {
                let pairs = row.lines.iter().zip(&query.lines).flat_map(|(a, b)| a.0.iter().zip(&b.0));
                let product: i32 = pairs.map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
                best.offer(Scored { number, score: f64::from(product as f32 * (row.scale * query.scale)) });
            }
        }
        best.into_sorted().iter().map(|item| item.number).collect()
    }

    fn share(found: &[Scored], expected: &[u32]) -> f64 {
        assert_eq!(found.len(), expected.len());
        let hits = found.iter().filter(|item| expected.contains(&item.number)).count();
        if expected.is_empty() { 1.0 } else { hits as f64 / expected.len() as f64 }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn a_scan_finds_exactly_the_nearest(
            count in 0..700_u32, seed in 1..1000_u64, k in 0..30_usize, divisor in 1..40_u32, rest in 0..40_u32,
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let vectors = vectors(count, seed);
            let (_, index) = indexed(folder.path(), Plan::default(), &vectors);
            let admit = |row: u32| row % divisor <= rest;
            let query = &super::tests::vectors(3, seed + 1)[2];
            let found: Vec<u32> = nearest(&index, query, k, &admit).iter().map(|item| item.number).collect();
            prop_assert_eq!(found, expected(&vectors, query, k, &admit));
        }
    }

    #[test]
    fn graphs_find_nearly_all_and_again_after_reopening() {
        let folder = tempfile::tempdir().expect("a folder");
        let (plan, vectors) = (small(1000), vectors(3500, 5));
        let (sums, index) = indexed(folder.path(), plan, &vectors);
        assert_eq!(index.graphs(), 3000);
        let reopened = VectorIndex::open_planned(folder.path(), DIM, &sums, plan).expect("opens");
        assert_eq!(reopened.graphs(), 3000);
        // All; half of them; few; those of one stretch; none.
        let tests: [(&str, Admit<'_>); 5] = [
            ("all", &|_| true),
            ("half", &|row| row % 2 == 0),
            ("few", &|row| row % 97 == 3),
            ("stretch", &|row| (1200..1230).contains(&row)),
            ("none", &|_| false),
        ];
        for (name, admit) in tests {
            let mut shares = 0.0;
            for query in super::tests::vectors(20, 77).iter().take(20) {
                let found = nearest(&index, query, 10, admit);
                assert_eq!(found, nearest(&reopened, query, 10, admit));
                assert!(found.iter().all(|item| admit(item.number)));
                assert!(found.is_sorted_by(|a, b| a >= b));
                shares += share(&found, &expected(&vectors, query, 10, admit));
            }
            assert!(shares / 20.0 >= 0.98, "{name}: {}", shares / 20.0);
        }
    }

    #[test]
    fn a_thousand_duplicates_hide_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut vectors = vectors(3000, 9);
        let duplicate = vectors[3].clone();
        vectors.iter_mut().skip(500).step_by(2).for_each(|vector| vector.clone_from(&duplicate));
        let (_, index) = indexed(folder.path(), small(1000), &vectors);
        assert_eq!(index.graphs(), 3000);
        let found = nearest(&index, &duplicate, 40, &|_| true);
        assert_eq!(
            found.iter().map(|item| item.number).collect::<Vec<_>>(),
            expected(&vectors, &duplicate, 40, &|_| true)
        );
        let odd: Admit<'_> = &|row| row % 2 == 1;
        let shares: f64 = (0..40)
            .map(|query| &vectors[501 + 50 * query])
            .map(|query| share(&nearest(&index, query, 10, odd), &expected(&vectors, query, 10, odd)))
            .sum();
        assert!(shares / 40.0 >= 0.98, "{}", shares / 40.0);
    }

    #[test]
    fn the_index_grows_with_appends_and_builds_of_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let (plan, vectors) = (small(300), vectors(1000, 3));
        let (sums, first) = indexed(folder.path(), plan, &vectors[..500]);
        assert_eq!((first.graphs(), first.grow(&AtomicBool::new(false)).expect("no need")), (0, false));
        let sums = write(folder.path(), &sums, &vectors[500..]);
        let (builder, reader) = (first.grown(&sums).expect("grows"), first.grown(&sums).expect("grows"));
        assert!(!builder.grow(&AtomicBool::new(true)).expect("stops"));
        assert_eq!(builder.graphs(), 0);
        while builder.grow(&AtomicBool::new(false)).expect("builds") {}
        assert_eq!((builder.graphs(), reader.graphs()), (900, 0));
        let reader = reader.grown(&sums).expect("grows");
        assert_eq!(reader.graphs(), 900);
        assert_eq!(nearest(&reader, &vectors[985], 1, &|_| true)[0].number, 985);
        assert_eq!(nearest(&first, &vectors[0], 1, &|_| true)[0].number, 0);
    }

    #[test]
    fn a_damaged_graph_is_ignored_and_rebuilt() {
        let folder = tempfile::tempdir().expect("a folder");
        let (plan, vectors) = (small(200), vectors(400, 8));
        let (sums, index) = indexed(folder.path(), plan, &vectors);
        let before = nearest(&index, &vectors[9], 10, &|_| true);
        let path = folder.path().join("graph-0-200");
        let whole = std::fs::read(&path).expect("is there");
        for at in (0..whole.len()).step_by(101).chain(0..64) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            for bytes in [&damaged[..], &whole[..at]] {
                std::fs::write(&path, bytes).expect("written");
                let index = VectorIndex::open_planned(folder.path(), DIM, &sums, plan).expect("opens");
                assert_eq!(index.graphs(), 200, "byte {at}");
                let found = nearest(&index, &vectors[9], 10, &|_| true);
                assert!(share(&found, &expected(&vectors, &vectors[9], 10, &|_| true)) >= 0.9);
            }
        }
        let index = VectorIndex::open_planned(folder.path(), DIM, &sums, plan).expect("opens");
        assert!(index.grow(&AtomicBool::new(false)).expect("builds"));
        assert_eq!(std::fs::read(&path).expect("is there"), whole);
        assert_eq!(nearest(&index, &vectors[9], 10, &|_| true), before);
    }

    #[test]
    fn invalid_vectors_and_columns_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (sums, index) = indexed(folder.path(), Plan::default(), &vectors(10, 1));
        assert!(index.nearest(&[1.0; DIM + 1], 3, &|_| true).is_err());
        assert!(index.nearest(&[f32::NAN; DIM], 3, &|_| true).is_err());
        assert!(nearest(&index, &[0.0; DIM], 3, &|_| true).is_empty());
        let mut writer = VectorWriter::open(folder.path(), DIM, &sums).expect("opens");
        assert!(writer.push(&[1.0; DIM - 1]).is_err());
        assert!(writer.push(&[f32::INFINITY; DIM]).is_err());
        assert!(VectorIndex::open(folder.path(), 3 * DIM, &sums).is_err());
        assert!(VectorIndex::open(folder.path(), DIM, &VectorSums { scales: Sum::default(), ..sums }).is_err());
    }
}
