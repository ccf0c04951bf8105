//! `memctx.lowlevel.FlatIndex`.

use std::sync::RwLock;

use memctx_core::vector::FlatIndex as Core;
use memctx_core::vmem::MAX_DIM;
use numpy::{PyArray1, PyUntypedArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::array;
use crate::boundary::{Limits, checked, count_of, dim_of, enter_core, ids_of, reading, texts_of, writing};
use crate::error::DimensionMismatchError;
use crate::explanation::Explanation;
use crate::hit::Hit;

/// Exact cosine search over vectors in memory.
#[pyclass(frozen, module = "memctx._core")]
pub(crate) struct FlatIndex {
    dim: usize,
    inner: RwLock<Core>,
}

#[pymethods]
impl FlatIndex {
    #[new]
    fn new(py: Python<'_>, #[pyo3(from_py_with = checked)] dim: i64) -> PyResult<Self> {
        let dim = dim_of(dim, MAX_DIM)?;
        let inner = enter_core(py, || Core::new(dim))?;
        Ok(Self { dim, inner: RwLock::new(inner) })
    }

    /// The length every vector must have.
    #[getter]
    fn dim(&self) -> usize {
        self.dim
    }

    /// Add a vector; one with the same id is replaced.
    #[pyo3(signature = (id, vector, *, group = ""))]
    fn add(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = checked)] id: &str,
        vector: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = checked)] group: &str,
    ) -> PyResult<()> {
        let vector = array::vector(vector)?;
        let values = array::values(&vector)?;
        enter_core(py, || writing(&self.inner).add_many(&[id], values, group))
    }

    /// Add one row of ``matrix`` for each id. Either all are added or, on an error, none.
    #[pyo3(signature = (ids, matrix, *, group = ""))]
    fn add_many(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        matrix: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = checked)] group: &str,
    ) -> PyResult<()> {
        let ids = texts_of(ids)?;
        let ids = ids_of(&ids)?;
        let matrix = array::matrix(matrix)?;
        if matrix.shape() != [ids.len(), self.dim] {
            return Err(wrong_shape(matrix.shape(), ids.len(), self.dim));
        }
        let values = array::values(&matrix)?;
        enter_core(py, || writing(&self.inner).add_many(&ids, values, group))
    }

    /// Take a vector out. False when there was none.
    fn remove(&self, py: Python<'_>, #[pyo3(from_py_with = checked)] id: &str) -> PyResult<bool> {
        enter_core(py, || Ok(writing(&self.inner).remove(id)))
    }

    /// Return a copy of the vector as it was added, or None.
    fn get<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = checked)] id: &str,
    ) -> PyResult<Option<Bound<'py, PyArray1<f32>>>> {
        let values = enter_core(py, || Ok(reading(&self.inner).get(id).map(<[f32]>::to_vec)))?;
        Ok(values.map(|values| array::new_vector(py, values)))
    }

    /// Return the ``k`` nearest by cosine, best first, older first among equals. A zero vector has cosine 0 to all.
    #[pyo3(signature = (vector, k = 10, *, group = None, within = None))]
    fn search<'py>(
        &self,
        py: Python<'py>,
        vector: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = checked)] k: i64,
        group: Option<Bound<'py, PyString>>,
        within: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Hit>> {
        let vector = array::vector(vector)?;
        let (values, k) = (array::values(&vector)?, count_of(k)?);
        if values.len() != self.dim {
            return Err(wrong_length(values.len(), self.dim));
        }
        Limits::new(group, within)?.apply(|filter| {
            enter_core(py, || {
                let index = reading(&self.inner);
                Ok(Hit::list(index.id_map(), &index.search(values, k, filter)?, "cosine"))
            })
        })
    }

    /// `search` for every row of ``matrix``, reading the index once for several of them.
    #[pyo3(signature = (matrix, k = 10, *, group = None, within = None))]
    fn search_many<'py>(
        &self,
        py: Python<'py>,
        matrix: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = checked)] k: i64,
        group: Option<Bound<'py, PyString>>,
        within: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Vec<Hit>>> {
        let matrix = array::matrix(matrix)?;
        let (values, k) = (array::values(&matrix)?, count_of(k)?);
        if matrix.shape()[1] != self.dim {
            return Err(wrong_length(matrix.shape()[1], self.dim));
        }
        Limits::new(group, within)?.apply(|filter| {
            enter_core(py, || {
                let index = reading(&self.inner);
                let hits = index.search_many(values, k, filter)?;
                Ok(hits.iter().map(|hits| Hit::list(index.id_map(), hits, "cosine")).collect())
            })
        })
    }

    /// Return the cosine to one stored vector, with the product and the lengths behind it; None when the id is unknown.
    fn explain(
        &self,
        py: Python<'_>,
        vector: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = checked)] id: &str,
    ) -> PyResult<Option<Explanation>> {
        let vector = array::vector(vector)?;
        let values = array::values(&vector)?;
        enter_core(py, || Ok(reading(&self.inner).explain(values, id)?.map(Explanation)))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        enter_core(py, || Ok(reading(&self.inner).id_map().len()))
    }

    fn __contains__(&self, py: Python<'_>, #[pyo3(from_py_with = checked)] id: &str) -> PyResult<bool> {
        enter_core(py, || Ok(reading(&self.inner).id_map().number(id).is_some()))
    }
}

fn wrong_shape(shape: &[usize], rows: usize, dim: usize) -> PyErr {
    let message = format!("the matrix has the shape {shape:?}; {rows} ids of dimension {dim} need [{rows}, {dim}]");
    DimensionMismatchError::new_err(message)
}

fn wrong_length(found: usize, dim: usize) -> PyErr {
    DimensionMismatchError::new_err(format!("the query has {found} values where the index has {dim}"))
}
