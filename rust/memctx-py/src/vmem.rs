//! Functions of `memctx.lowlevel.vmem`.

use std::path::PathBuf;

use memctx_core::vmem::{self, Checksum, Report, Vectors};
use numpy::{PyArray2, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::array;
use crate::boundary::{checked, enter_core, ids_of, texts_of};

/// Report of `memctx.lowlevel.vmem.verify` on a file.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct VmemReport(Report);

#[pymethods]
impl VmemReport {
    /// Return the length of the vectors.
    #[getter]
    fn dim(&self) -> usize {
        self.0.dim
    }

    /// Entries that the checksum or, without one, the header promises.
    #[getter]
    fn declared(&self) -> usize {
        self.0.declared
    }

    /// Entries that are there in full.
    #[getter]
    fn complete(&self) -> usize {
        self.0.complete
    }

    /// Complete entries that a reader must skip: an id that is not UTF-8, a value that is not finite.
    #[getter]
    fn unreadable(&self) -> usize {
        self.0.unreadable
    }

    /// Bytes after the last complete entry that belong to no entry and no checksum.
    #[getter]
    fn trailing_bytes(&self) -> u64 {
        self.0.trailing_bytes
    }

    /// State of the file's checksum.
    #[getter]
    fn checksum(&self) -> &'static str {
        match self.0.checksum {
            Checksum::Valid => "valid",
            Checksum::Absent => "absent",
            Checksum::Wrong => "wrong",
        }
    }

    /// True when every promised entry is there, readable, and no checksum contradicts it.
    #[getter]
    fn ok(&self) -> bool {
        self.0.is_ok()
    }

    fn __repr__(&self) -> String {
        let Report { dim, declared, complete, unreadable, trailing_bytes, .. } = self.0;
        format!(
            "VmemReport(dim={dim}, declared={declared}, complete={complete}, unreadable={unreadable}, \
             trailing_bytes={trailing_bytes}, checksum={:?})",
            self.checksum()
        )
    }
}

/// Read a file into ids, a matrix and what was found.
#[pyfunction]
pub(crate) fn vmem_read(
    py: Python<'_>,
    #[pyo3(from_py_with = checked)] path: PathBuf,
) -> PyResult<(Bound<'_, PyList>, Bound<'_, PyArray2<f32>>, VmemReport)> {
    let Vectors { ids, values, report } = enter_core(py, || vmem::read(&path))?;
    let ids = PyList::new(py, ids.iter())?;
    Ok((ids, array::new_matrix(py, values, report.dim)?, VmemReport(report)))
}

/// Rewrite a file, whole or not at all.
#[pyfunction]
pub(crate) fn vmem_write(
    py: Python<'_>,
    #[pyo3(from_py_with = checked)] path: PathBuf,
    ids: &Bound<'_, PyAny>,
    matrix: &Bound<'_, PyAny>,
    checksum: bool,
) -> PyResult<()> {
    let ids = texts_of(ids)?;
    let ids = ids_of(&ids)?;
    let matrix = array::matrix(matrix)?;
    let (values, dim) = (array::values(&matrix)?, matrix.shape()[1]);
    enter_core(py, || vmem::write(&path, &ids, values, dim, checksum))
}

/// Add entries at the end without rewriting what is there.
#[pyfunction]
pub(crate) fn vmem_append(
    py: Python<'_>,
    #[pyo3(from_py_with = checked)] path: PathBuf,
    ids: &Bound<'_, PyAny>,
    matrix: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let ids = texts_of(ids)?;
    let ids = ids_of(&ids)?;
    let matrix = array::matrix(matrix)?;
    let (values, dim) = (array::values(&matrix)?, matrix.shape()[1]);
    enter_core(py, || vmem::append(&path, &ids, values, dim))
}

/// Check a file and say what is in it.
#[pyfunction]
pub(crate) fn vmem_verify(py: Python<'_>, #[pyo3(from_py_with = checked)] path: PathBuf) -> PyResult<VmemReport> {
    enter_core(py, || vmem::verify(&path)).map(VmemReport)
}
