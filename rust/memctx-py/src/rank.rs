//! Candidates of `Store.rank`, read off Python objects.

use memctx_core::store::{PassageVectors, RankCandidate};
use numpy::{Ix2, PyReadonlyArray, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::array;
use crate::boundary::{checked, text_of};

/// A line with the vectors of its passages.
type Given<'py> = (Bound<'py, PyString>, Option<PyReadonlyArray<'py, f32, Ix2>>);

/// Lines with the vectors of their passages, kept alive for the call.
pub(crate) struct Candidates<'py>(Vec<Given<'py>>);

impl<'py> Candidates<'py> {
    pub(crate) fn new(candidates: &Bound<'py, PyAny>) -> PyResult<Self> {
        let read = |candidate: PyResult<Bound<'py, PyAny>>| -> PyResult<Given<'py>> {
            let (line, vectors): (Bound<'py, PyString>, Option<Bound<'py, PyAny>>) = checked(&candidate?)?;
            Ok((line, vectors.as_ref().map(array::matrix).transpose()?))
        };
        candidates.try_iter()?.map(read).collect::<PyResult<_>>().map(Self)
    }

    /// Call `rank` with the candidates as the core takes them.
    pub(crate) fn apply<T>(&self, rank: impl FnOnce(&[RankCandidate<'_>]) -> PyResult<T>) -> PyResult<T> {
        let lines = self.0.iter().map(|(line, _)| text_of(line)).collect::<PyResult<Vec<_>>>()?;
        let mut candidates = Vec::with_capacity(lines.len());
        for (line, (_, array)) in lines.iter().zip(&self.0) {
            let vectors = match array {
                Some(array) => Some(PassageVectors { values: array::values(array)?, dim: array.shape()[1] }),
                None => None,
            };
            candidates.push(RankCandidate { line, vectors });
        }
        rank(&candidates)
    }
}
