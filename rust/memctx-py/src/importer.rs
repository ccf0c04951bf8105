//! `memctx._core.Importer`.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use memctx_core::redact::{Redaction, Redactor};
use memctx_core::store::{self, Outcome, Record};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{checked, enter_core, seconds, session_of, text_of};

/// Appends messages of many sessions to the log of a store, each once.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Importer {
    path: PathBuf,
    importer: Mutex<store::Importer>,
}

/// Session, role, content, timestamp and metadata.
type Given<'py> =
    (Bound<'py, PyString>, Bound<'py, PyString>, Bound<'py, PyString>, Option<f64>, Option<Bound<'py, PyString>>);

#[pymethods]
impl Importer {
    #[new]
    #[pyo3(signature = (path, *, redaction = "mask", pii = false, patterns = None, lock_timeout = 5.0))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] path: PathBuf,
        #[pyo3(from_py_with = checked)] redaction: &str,
        pii: bool,
        #[pyo3(from_py_with = checked)] patterns: Option<HashMap<String, String>>,
        #[pyo3(from_py_with = checked)] lock_timeout: f64,
    ) -> PyResult<Self> {
        let lock_timeout = seconds("lock_timeout", lock_timeout)?;
        let mut patterns: Vec<(String, String)> = patterns.unwrap_or_default().into_iter().collect();
        patterns.sort_unstable();
        let importer = enter_core(py, || {
            let redactor = Redactor::new(Redaction::parse(redaction)?, pii, &patterns)?;
            store::Importer::open(&path, redactor, lock_timeout)
        })?;
        Ok(Self { path, importer: Mutex::new(importer) })
    }

    /// The offset up to which the log is known.
    #[getter]
    fn end(&self, py: Python<'_>) -> PyResult<u64> {
        enter_core(py, || Ok(self.importer.lock().unwrap_or_else(PoisonError::into_inner).end()))
    }

    /// Append the ``(session_id, role, content, timestamp, metadata)`` records that are new, and return the outcome of each.
    fn add(&self, py: Python<'_>, records: &Bound<'_, PyAny>) -> PyResult<Vec<&'static str>> {
        let given: Vec<Given<'_>> = records.try_iter()?.map(|record| record?.extract()).collect::<PyResult<_>>()?;
        let texts = given
            .iter()
            .map(|(session, role, content, _, metadata)| {
                let metadata = metadata.as_ref().map(text_of).transpose()?;
                Ok((session_of(session)?, text_of(role)?, text_of(content)?, metadata))
            })
            .collect::<PyResult<Vec<_>>>()?;
        let records: Vec<(&str, Record<'_>)> = texts
            .iter()
            .zip(&given)
            .map(|((session, role, content, metadata), given)| {
                (*session, Record { role, content, timestamp: given.3, metadata: metadata.as_deref() })
            })
            .collect();
        let add = || self.importer.lock().unwrap_or_else(PoisonError::into_inner).add(&records);
        Ok(enter_core(py, add)?.into_iter().map(Outcome::name).collect())
    }

    fn __repr__(&self) -> String {
        format!("Importer({:?})", self.path.display().to_string())
    }
}
