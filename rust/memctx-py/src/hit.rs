//! `memctx.lowlevel.Hit`.

use memctx_core::{Explanation as Core, IdMap, Scored};
use pyo3::prelude::*;

use crate::boundary::checked;

use crate::error::VectorError;
use crate::explanation::Explanation;

/// One result of a search.
#[pyclass(frozen, eq, module = "memctx._core")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hit {
    pub(crate) id: String,
    pub(crate) score: f64,
    /// The sum of the weights that contributed to the score.
    pub(crate) weight: f64,
    pub(crate) explain: Core,
}

impl Hit {
    /// Return the hits of a search by vectors.
    pub(crate) fn cosines(found: Vec<(String, f64)>) -> Vec<Self> {
        let hit = |(id, score)| Self { id, score, weight: 1.0, explain: Core::leaf("cosine", score) };
        found.into_iter().map(hit).collect()
    }

    /// Return the hits of a search, whose scores are called `name`.
    pub(crate) fn list(id_map: &IdMap, scored: &[Scored], name: &'static str) -> Vec<Self> {
        let hit = |item: &Scored| Self {
            id: id_map.id(item.number).to_owned(),
            score: item.score,
            weight: 1.0,
            explain: Core::leaf(name, item.score),
        };
        scored.iter().map(hit).collect()
    }
}

#[pymethods]
impl Hit {
    #[new]
    fn new(#[pyo3(from_py_with = checked)] id: String, #[pyo3(from_py_with = checked)] score: f64) -> PyResult<Self> {
        if !score.is_finite() {
            return Err(VectorError::new_err(format!(
                "the score of hit {id:?} is {score}; it must be a finite number"
            )));
        }
        Ok(Self { id, score, weight: 1.0, explain: Core::leaf("score", score) })
    }

    /// The id given when the item was added.
    #[getter]
    fn id(&self) -> &str {
        &self.id
    }

    /// Higher is better. The scale is that of whatever made the hit.
    #[getter]
    fn score(&self) -> f64 {
        self.score
    }

    /// Explain the score.
    #[getter]
    fn explain(&self) -> Explanation {
        Explanation(self.explain.clone())
    }

    fn __repr__(&self) -> String {
        format!("Hit(id={:?}, score={:.6})", self.id, self.score)
    }
}
