//! `memctx.lowlevel.StoreOptions`.

use std::collections::HashMap;

use memctx_core::redact::Redaction;
use memctx_core::store::{Durability, Model, Settings, VectorWeight};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{amount_of, checked, enter_core, guarded, milliseconds, seconds, session_of};
use crate::encoder::Encoder;
use crate::error::ConfigError;
use crate::hash::HashEmbedder;
use crate::static_embedder::StaticEmbedder;

/// Options of a store of segments, and of a store of facts where they apply.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct StoreOptions(pub(crate) Settings);

#[pymethods]
impl StoreOptions {
    #[new]
    #[pyo3(signature = (
        *, session_id, cross_session = false, max_segments = 20_000, eviction_days = 90.0, durability = "fsync",
        redaction = "mask", pii = false, patterns = None, lock_timeout = 5.0, disk_index = true,
        disk_deadline_ms = 50.0, model = None, replaces_vectors = false
    ))]
    #[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)] // named in Python
    fn new(
        session_id: &Bound<'_, PyString>,
        cross_session: bool,
        #[pyo3(from_py_with = checked)] max_segments: i64,
        #[pyo3(from_py_with = checked)] eviction_days: f64,
        #[pyo3(from_py_with = checked)] durability: &str,
        #[pyo3(from_py_with = checked)] redaction: &str,
        pii: bool,
        #[pyo3(from_py_with = checked)] patterns: Option<HashMap<String, String>>,
        #[pyo3(from_py_with = checked)] lock_timeout: f64,
        disk_index: bool,
        #[pyo3(from_py_with = checked)] disk_deadline_ms: f64,
        model: Option<&Bound<'_, PyAny>>,
        replaces_vectors: bool,
    ) -> PyResult<Self> {
        let mut patterns: Vec<(String, String)> = patterns.unwrap_or_default().into_iter().collect();
        patterns.sort_unstable();
        let (durability, redaction) = guarded(|| Ok((Durability::parse(durability)?, Redaction::parse(redaction)?)))?;
        Ok(Self(Settings {
            cross_session,
            max_segments: amount_of("max_segments", max_segments)?,
            eviction_days,
            durability,
            redaction,
            pii,
            patterns,
            disk_index,
            disk_deadline: milliseconds("disk_deadline_ms", disk_deadline_ms)?,
            lock_timeout: seconds("lock_timeout", lock_timeout)?,
            model: model.map(model_of).transpose()?.unwrap_or_else(Model::hash),
            replaces_vectors,
            ..Settings::new(session_of(session_id)?)
        }))
    }

    /// The session that writes.
    #[getter]
    fn session_id(&self) -> &str {
        &self.0.session
    }

    fn __repr__(&self) -> String {
        format!("StoreOptions(session_id={:?})", self.0.session)
    }
}

/// Return the model: an embedder that the core runs itself, or the name, revision and length of another's, and whether
/// it knows Latin letters only.
fn model_of(model: &Bound<'_, PyAny>) -> PyResult<Model> {
    if let Ok(hash) = model.cast::<HashEmbedder>() {
        return hash.get().model();
    }
    if let Ok(encoder) = model.cast::<Encoder>() {
        return encoder.get().model();
    }
    if let Ok(table) = model.cast::<StaticEmbedder>() {
        return table.get().model();
    }
    let (name, revision, dim, is_latin_only): (String, String, usize, bool) = model.extract().map_err(|_| {
        let found = model.get_type().to_string();
        let expected = "an embedder of the core or (name, revision, dim, is_latin_only)";
        ConfigError::new_err(format!("model must be {expected}, not {found}"))
    })?;
    let worth = if is_latin_only { VectorWeight::LATIN_MEANING } else { VectorWeight::MEANING };
    Ok(enter_core(model.py(), || Model::supplied(&name, &revision, dim))?.worth(worth))
}
