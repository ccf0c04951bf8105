//! `memctx.lowlevel.EmbeddingStatus`.

use memctx_core::store;
use pyo3::prelude::*;

/// Progress of embedding.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct EmbeddingStatus(pub(crate) store::EmbeddingStatus);

#[pymethods]
impl EmbeddingStatus {
    /// Name of the model that makes the vectors.
    #[getter]
    fn model(&self) -> &str {
        &self.0.model
    }

    /// Revision of the model.
    #[getter]
    fn revision(&self) -> &str {
        &self.0.revision
    }

    /// Their length.
    #[getter]
    fn dim(&self) -> usize {
        self.0.dim
    }

    /// True if vectors are made at once with their texts.
    #[getter]
    fn is_instant(&self) -> bool {
        self.0.is_instant
    }

    /// True if these vectors will replace those of another model and have not yet.
    #[getter]
    fn is_replacing(&self) -> bool {
        self.0.is_replacing
    }

    /// Bytes of the log before the first text that lacks its vector.
    #[getter]
    fn done_bytes(&self) -> u64 {
        self.0.done_bytes
    }

    /// Bytes that the log has.
    #[getter]
    fn log_bytes(&self) -> u64 {
        self.0.log_bytes
    }

    /// Pieces in memory whose vectors are still to come.
    #[getter]
    fn lacking(&self) -> usize {
        self.0.lacking
    }

    /// Texts that were given up until the store is opened again.
    #[getter]
    fn aside(&self) -> usize {
        self.0.aside
    }

    fn __repr__(&self) -> String {
        let store::EmbeddingStatus { model, dim, done_bytes, log_bytes, lacking, .. } = &self.0;
        format!(
            "EmbeddingStatus(model={model:?}, dim={dim}, done_bytes={done_bytes}, log_bytes={log_bytes}, lacking={lacking})"
        )
    }
}
