//! The vectors of the cold tier: 8-bit copies in the order of the passages, and graphs over what will not change.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use super::column::{Column, ColumnWriter, Sum};
use super::graph::{Graph, Shape};
use super::space::{Admit, Space, copy};
use crate::vector::{Line, check_finite};
use crate::{Error, Result, Scored, TopK};

const ROWS: &str = "rows";
const SCALES: &str = "scales";

/// Where a graph covers which rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Rows below which all are scanned.
    pub(super) least: u32,
    /// Rows to a graph.
    pub(super) shard: u32,
    pub(super) shape: Shape,
}

impl Default for Plan {
    fn default() -> Self {
        Self { least: 200_000, shard: 1 << 17, shape: Shape::default() }
    }
}

/// How much of the columns counts.
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
    /// Map and check what counts. Graphs that are damaged are as good as none.
    pub(super) fn open(folder: &Path, dim: usize, sums: &VectorSums) -> Result<Self> {
        Self::open_planned(folder, dim, sums, Plan::default())
    }

    fn open_planned(folder: &Path, dim: usize, sums: &VectorSums, plan: Plan) -> Result<Self> {
        let rows = Column::open(&folder.join(ROWS), sums.rows)?;
        let scales = Column::open(&folder.join(SCALES), sums.scales)?;
        Self::new(folder, dim, plan, rows, scales, &Graphs::default())
    }

    /// The same index with what counts by now, and with graphs that others have made.
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
            return Err(Error::corrupt(&folder.join(SCALES), 0, "there are not as many of them as rows"));
        };
        let graphs = graphs_of(folder, plan, space.len(), known);
        Ok(Self { folder: folder.to_owned(), dim, plan, space, graphs: RwLock::new(Arc::new(graphs)) })
    }

    /// How many vectors there are, the missing ones included.
    pub(super) fn len(&self) -> usize {
        self.space.len() as usize
    }

    /// The rows nearest to a vector of those that pass the test, as far as their 8-bit copies tell; best first.
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
            graph.search(&self.space, self.plan.shape, &query, k, &mut best, admit);
            scanned = graph.range.end;
        }
        self.space.scan(&query, scanned..self.space.len(), &mut best, admit);
        Ok(best.into_sorted())
    }

    /// Build and save the next graph that is due, unless told to stop; false if there was none, or no time.
    pub(super) fn grow(&self, stop: &AtomicBool) -> Result<bool> {
        let known = self.known();
        let due = |from: &u32| known.iter().all(|graph| graph.range.start != *from);
        let Some(from) = shards(self.plan, self.space.len()).find(due) else { return Ok(false) };
        let range = from..from + self.plan.shard;
        let path = self.folder.join(name(from, self.plan));
        if !Graph::build(&path, &self.space, range.clone(), self.plan.shape, stop)? {
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

    /// Bytes on disk.
    pub(super) fn bytes(&self) -> u64 {
        let columns = self.space.lines().bytes() + self.space.scales().bytes();
        columns + self.known().iter().map(|graph| graph.bytes()).sum::<u64>()
    }

    fn known(&self) -> Graphs {
        Arc::clone(&self.graphs.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where the graphs of so many rows begin.
fn shards(plan: Plan, rows: u32) -> impl Iterator<Item = u32> {
    let whole = if rows < plan.least { 0 } else { rows / plan.shard };
    (0..whole).map(move |shard| shard * plan.shard)
}

fn name(from: u32, plan: Plan) -> String {
    format!("graph-{from}-{}", from + plan.shard)
}

/// The graphs that are there and whole; those known already are not read again.
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
