//! `memctx.lowlevel.LineWriter`.

use std::path::PathBuf;

use memctx_core::store::{self, LogKind};
use pyo3::prelude::*;

use crate::boundary::{checked, enter_core, ids_of, seconds, texts_of};

/// Appends lines of other stores to the logs of a store.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct LineWriter {
    path: PathBuf,
    writer: store::LineWriter,
}

#[pymethods]
impl LineWriter {
    #[new]
    #[pyo3(signature = (path, *, lock_timeout = 5.0))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] path: PathBuf,
        #[pyo3(from_py_with = checked)] lock_timeout: f64,
    ) -> PyResult<Self> {
        let lock_timeout = seconds("lock_timeout", lock_timeout)?;
        let writer = enter_core(py, || store::LineWriter::open(&path, lock_timeout))?;
        Ok(Self { path, writer })
    }

    /// Append lines without their ends, and return the offset behind them once they are on disk.
    #[pyo3(signature = (lines, *, log = "segments"))]
    fn append(
        &self,
        py: Python<'_>,
        lines: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = checked)] log: &str,
    ) -> PyResult<u64> {
        let lines = texts_of(lines)?;
        let lines = ids_of(&lines)?;
        enter_core(py, || self.writer.append(&lines, LogKind::parse(log)?))
    }

    fn __repr__(&self) -> String {
        format!("LineWriter({:?})", self.path.display().to_string())
    }
}
