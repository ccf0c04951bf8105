//! Vectors that embedders of the core make, as numpy arrays.

use memctx_core::store::Maker;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::array;
use crate::boundary::{enter_core, text_of, texts_of};

/// Return the vector of a text.
pub(crate) fn embed<'py>(
    embedder: &impl Maker,
    dim: usize,
    text: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyArray1<f32>>> {
    let py = text.py();
    let text = text_of(text)?;
    let values = enter_core(py, || {
        let mut values = vec![0.0; dim];
        embedder.embed(&text, &mut values);
        Ok(values)
    })?;
    Ok(array::new_vector(py, values))
}

/// Return one row for each text.
pub(crate) fn embed_many<'py>(
    embedder: &impl Maker,
    dim: usize,
    texts: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let py = texts.py();
    let texts = texts_of(texts)?;
    let texts = texts.iter().map(text_of).collect::<PyResult<Vec<_>>>()?;
    let values = enter_core(py, || {
        let mut values = vec![0.0; texts.len() * dim];
        for (text, row) in texts.iter().zip(values.chunks_exact_mut(dim)) {
            embedder.embed(text, row);
        }
        Ok(values)
    })?;
    array::new_matrix(py, values, dim)
}
