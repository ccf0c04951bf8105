//! `memctx._core.LogEditor` and what it returns.

use std::path::PathBuf;

use memctx_core::store::{self, Problem, Selection};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::boundary::{checked, enter_core, seconds, session_of, texts_of};

/// Verifies and rewrites the files of a store.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct LogEditor {
    path: PathBuf,
    editor: store::LogEditor,
}

#[pymethods]
impl LogEditor {
    #[new]
    #[pyo3(signature = (path, *, lock_timeout = 5.0))]
    fn new(
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] path: PathBuf,
        #[pyo3(from_py_with = checked)] lock_timeout: f64,
    ) -> PyResult<Self> {
        let lock_timeout = seconds("lock_timeout", lock_timeout)?;
        let editor = enter_core(py, || store::LogEditor::open(&path, lock_timeout))?;
        Ok(Self { path, editor })
    }

    /// Wait until no other process writes to the store.
    fn wait_for_writers(&self, py: Python<'_>) -> PyResult<()> {
        enter_core(py, || self.editor.wait_for_writers())
    }

    /// Read everything, and report what cannot be read.
    fn verify(&self, py: Python<'_>) -> PyResult<Verified> {
        enter_core(py, || self.editor.verify()).map(Verified)
    }

    /// Move damaged lines to a file beside their log, keep the vectors that can be read, and remove derived files.
    fn repair(&self, py: Python<'_>) -> PyResult<()> {
        enter_core(py, || self.editor.repair())
    }

    /// Report what `remove` would take.
    #[pyo3(signature = (*, sessions = None, before = None))]
    fn find(
        &self,
        py: Python<'_>,
        sessions: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = checked)] before: Option<f64>,
    ) -> PyResult<Removal> {
        let selection = selection_of(sessions, before)?;
        enter_core(py, || self.editor.find(&selection)).map(Removal)
    }

    /// Delete the lines that match, their vectors and what was derived from them.
    #[pyo3(signature = (*, sessions = None, before = None))]
    fn remove(
        &self,
        py: Python<'_>,
        sessions: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = checked)] before: Option<f64>,
    ) -> PyResult<Removal> {
        let selection = selection_of(sessions, before)?;
        enter_core(py, || self.editor.remove(&selection)).map(Removal)
    }

    fn __repr__(&self) -> String {
        format!("LogEditor({:?})", self.path.display().to_string())
    }
}

fn selection_of(sessions: Option<&Bound<'_, PyAny>>, before: Option<f64>) -> PyResult<Selection> {
    let sessions = sessions.map(texts_of).transpose()?.unwrap_or_default();
    let sessions: PyResult<Vec<String>> = sessions.iter().map(owned).collect();
    Ok(Selection { sessions: sessions?, before })
}

fn owned(session: &Bound<'_, PyString>) -> PyResult<String> {
    session_of(session).map(ToOwned::to_owned)
}

/// Findings of a verification.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Verified(store::Verified);

#[pymethods]
impl Verified {
    /// Segments that can be read.
    #[getter]
    fn segments(&self) -> usize {
        self.0.segments
    }

    /// States of facts that can be read.
    #[getter]
    fn facts(&self) -> usize {
        self.0.facts
    }

    /// Vectors that can be read.
    #[getter]
    fn vectors(&self) -> usize {
        self.0.vectors
    }

    /// Unreadable parts: file, line, offset and fault of each.
    #[getter]
    fn problems(&self) -> Vec<(&'static str, Option<u64>, Option<u64>, &str)> {
        let problems = self.0.problems.iter();
        problems.map(|Problem { file, line, offset, fault }| (*file, *line, *offset, fault.as_str())).collect()
    }

    fn __repr__(&self) -> String {
        let store::Verified { segments, facts, vectors, problems } = &self.0;
        format!("Verified(segments={segments}, facts={facts}, vectors={vectors}, problems={})", problems.len())
    }
}

/// Contents of a removal.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct Removal(store::Removal);

#[pymethods]
impl Removal {
    /// Lines of segments.
    #[getter]
    fn segments(&self) -> usize {
        self.0.segments
    }

    /// Lines of facts.
    #[getter]
    fn facts(&self) -> usize {
        self.0.facts
    }

    /// Derived files and folders, by their paths in the store.
    #[getter]
    fn files(&self) -> Vec<String> {
        self.0.files.iter().map(|file| file.to_string_lossy().into_owned()).collect()
    }

    /// Bytes of all of these.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    fn __repr__(&self) -> String {
        let store::Removal { segments, facts, files, bytes } = &self.0;
        format!("Removal(segments={segments}, facts={facts}, files={}, bytes={bytes})", files.len())
    }
}
