//! Arrays across the boundary: in without a copy where they are C-contiguous float32, out by moving.

use numpy::ndarray::Dimension;
use numpy::{Element, PyArray, PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray, PyUntypedArrayMethods as _};
use numpy::{Ix1, Ix2};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

use crate::error::VectorError;

/// Return one vector, from anything that numpy can make an array of.
pub(crate) fn vector<'py>(source: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray<'py, f32, Ix1>> {
    contiguous(source, "one dimension")
}

/// Return vectors as the rows of a matrix, likewise.
pub(crate) fn matrix<'py>(source: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray<'py, f32, Ix2>> {
    contiguous(source, "two dimensions, a row for each vector")
}

/// Return the values, row by row.
pub(crate) fn values<'a, D: Dimension>(array: &'a PyReadonlyArray<'_, f32, D>) -> PyResult<&'a [f32]> {
    Ok(array.as_slice()?)
}

/// Create a new array that takes the values over.
pub(crate) fn new_vector(py: Python<'_>, values: Vec<f32>) -> Bound<'_, PyArray1<f32>> {
    PyArray1::from_vec(py, values)
}

/// Create a new array of rows of length `dim` that takes the values over.
pub(crate) fn new_matrix(py: Python<'_>, values: Vec<f32>, dim: usize) -> PyResult<Bound<'_, PyArray2<f32>>> {
    let rows = values.len() / dim;
    PyArray1::from_vec(py, values).reshape([rows, dim])
}

/// Return the array itself if it is C-contiguous float32, or else a copy that is.
fn contiguous<'py, D: Dimension>(source: &Bound<'py, PyAny>, expected: &str) -> PyResult<PyReadonlyArray<'py, f32, D>> {
    if let Ok(array) = source.cast::<PyArray<f32, D>>()
        && array.is_c_contiguous()
    {
        let array = array.try_readonly()?;
        // Not so if it is misaligned.
        if array.as_slice().is_ok() {
            return Ok(array);
        }
    }
    let py = source.py();
    let convert = py.import(intern!(py, "numpy"))?.getattr(intern!(py, "require"))?;
    let array = convert.call1((source, f32::get_dtype(py), ("C", "A"))).map_err(|fault| {
        if fault.is_instance_of::<PyValueError>(py) || fault.is_instance_of::<PyOverflowError>(py) {
            return VectorError::new_err(format!("expected an array of {expected}: {}", fault.value(py)));
        }
        fault
    })?;
    match array.cast_into::<PyArray<f32, D>>() {
        Ok(array) => Ok(array.try_readonly()?),
        Err(refused) => {
            let shape = refused.into_inner().getattr(intern!(py, "shape"))?;
            Err(VectorError::new_err(format!("expected an array of {expected}; this one has the shape {shape}")))
        }
    }
}
