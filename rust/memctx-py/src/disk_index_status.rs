//! `memctx.lowlevel.DiskIndexStatus`.

use memctx_core::disk_index;
use pyo3::prelude::*;

/// Progress of the disk index.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct DiskIndexStatus(pub(crate) disk_index::IndexStatus);

#[pymethods]
impl DiskIndexStatus {
    /// ``absent``, ``ready``, ``indexing`` or ``unavailable``.
    #[getter]
    fn state(&self) -> &'static str {
        self.0.state.name()
    }

    /// Segments that are indexed on disk.
    #[getter]
    fn segments(&self) -> u64 {
        self.0.segments
    }

    /// Pieces they are indexed in.
    #[getter]
    fn passages(&self) -> u64 {
        self.0.passages
    }

    /// Bytes of the log that are indexed.
    #[getter]
    fn indexed_bytes(&self) -> u64 {
        self.0.indexed_bytes
    }

    /// Bytes that the log has.
    #[getter]
    fn log_bytes(&self) -> u64 {
        self.0.log_bytes
    }

    /// Bytes that the index takes on disk.
    #[getter]
    fn disk_bytes(&self) -> u64 {
        self.0.disk_bytes
    }

    /// Last error, or None.
    #[getter]
    fn fault(&self) -> Option<&str> {
        self.0.fault.as_deref()
    }

    fn __repr__(&self) -> String {
        let disk_index::IndexStatus { state, segments, indexed_bytes, log_bytes, .. } = &self.0;
        let state = state.name();
        format!(
            "DiskIndexStatus(state={state:?}, segments={segments}, indexed_bytes={indexed_bytes}, log_bytes={log_bytes})"
        )
    }
}
