//! `memctx.SearchHit`.

use memctx_core::store::Found;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::explanation::Explanation;
use crate::segment::Segment;

/// One result of a search over segments.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct SearchHit {
    pub(crate) found: Found,
    /// Made when it is first looked at, and then the same.
    segment: PyOnceLock<Py<Segment>>,
}

impl SearchHit {
    pub(crate) fn new(found: Found) -> Self {
        Self { found, segment: PyOnceLock::new() }
    }
}

#[pymethods]
impl SearchHit {
    /// The segment.
    #[getter]
    fn segment(&self, py: Python<'_>) -> PyResult<Py<Segment>> {
        let made = || Py::new(py, Segment(self.found.segment.clone()));
        Ok(self.segment.get_or_try_init(py, made)?.clone_ref(py))
    }

    /// Probability that the segment answers the query, which ``min_score`` is compared with.
    #[getter]
    fn score(&self) -> f64 {
        self.found.score
    }

    /// The cosine, or 0.
    #[getter]
    fn vector(&self) -> f64 {
        self.found.vector
    }

    /// The BM25 score divided by the best one, or 0.
    #[getter]
    fn bm25(&self) -> f64 {
        self.found.bm25
    }

    /// 0 when it was found itself, else its distance from the result it stands beside.
    #[getter]
    fn distance(&self) -> usize {
        self.found.distance
    }

    /// The part of the content that matched, as start and end of a slice.
    #[getter]
    fn passage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let Found { segment, passage, .. } = &self.found;
        let start = segment.content[..passage.start].chars().count();
        let end = start + segment.content[passage.clone()].chars().count();
        PyTuple::new(py, [start, end])
    }

    /// Breakdown of the score, if the search was asked for it.
    #[getter]
    fn explanation(&self) -> Option<Explanation> {
        self.found.explanation.clone().map(Explanation)
    }

    /// Return a hit of another segment, all of it, found as this one was but with another score.
    fn moved_to(&self, segment: &Segment, score: f64) -> Self {
        let (segment, passage) = (segment.0.clone(), 0..segment.0.content.len());
        Self::new(Found { segment, passage, score, explanation: None, ..self.found.clone() })
    }

    fn __repr__(&self) -> String {
        let Found { segment, score, distance, .. } = &self.found;
        format!("SearchHit(id={:?}, score={score:.6}, distance={distance})", segment.id)
    }
}
