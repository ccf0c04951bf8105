//! Functions of `memctx.lowlevel.fusion`.

use std::cmp::Ordering;
use std::collections::HashMap;

use memctx_core::Explanation;
use memctx_core::fusion::{self, Trigrams, Weights};
use memctx_core::vector::cosine;
use numpy::PyUntypedArrayMethods as _;
use pyo3::prelude::*;

use crate::array;
use crate::boundary::{checked, count_of, enter_core, text_of, texts_of};
use crate::error::ConfigError;
use crate::hit::Hit;

type Hits<'py> = Vec<Bound<'py, Hit>>;

/// Divide every score by the largest.
#[pyfunction]
pub(crate) fn normalize(hits: Hits<'_>) -> Vec<Hit> {
    let divisor = fusion::normalize(hits.iter().map(|hit| hit.get().score));
    hits.iter()
        .map(|hit| {
            let hit = hit.get().clone();
            let Some(divisor) = divisor else { return hit };
            let score = hit.score / divisor;
            let parts = vec![hit.explain, Explanation::leaf("divided by the largest", divisor)];
            Hit { score, explain: Explanation::of("normalized", score, parts), ..hit }
        })
        .collect()
}

/// Add two rankings up by weight, best first.
#[pyfunction]
pub(crate) fn blend(
    vector: Hits<'_>,
    bm25: Hits<'_>,
    #[pyo3(from_py_with = checked)] vector_weight: f64,
    #[pyo3(from_py_with = checked)] bm25_weight: f64,
) -> PyResult<Vec<Hit>> {
    let weights =
        Weights { vector: finite("vector_weight", vector_weight)?, bm25: finite("bm25_weight", bm25_weight)? };
    let (vector, bm25) = (Side::of(&vector), Side::of(&bm25));
    let blended = fusion::merge(&vector.scores, &bm25.scores).into_iter().map(|(id, blend)| Hit {
        id: id.to_owned(),
        score: blend.score(weights),
        weight: blend.weight(weights),
        explain: blend.explain(weights, vector.explanation(id), bm25.explanation(id)),
    });
    Ok(best_first(blended.collect()))
}

/// Multiply each score by ``rate`` to the power of its age in days, then sort again.
#[pyfunction]
pub(crate) fn decay(
    hits: Hits<'_>,
    #[pyo3(from_py_with = checked)] ages_days: Vec<f64>,
    #[pyo3(from_py_with = checked)] rate: f64,
) -> PyResult<Vec<Hit>> {
    same_length(&hits, "ages_days", ages_days.len())?;
    let decayed = hits.iter().zip(ages_days).map(|(hit, age)| {
        let hit = hit.get().clone();
        let factor = fusion::decay_factor(age, rate);
        let score = hit.score * factor;
        let parts = vec![hit.explain, Explanation::leaf(format!("age of {age:.1} days"), factor)];
        Hit { score, explain: Explanation::of("decayed", score, parts), ..hit }
    });
    Ok(best_first(decayed.collect()))
}

/// Keep hits whose score, divided by the weights that contributed to it, reaches ``min_score``.
#[pyfunction]
pub(crate) fn threshold(hits: Hits<'_>, #[pyo3(from_py_with = checked)] min_score: f64) -> Vec<Hit> {
    hits.iter()
        .map(|hit| (hit.get(), fusion::calibrate(hit.get().score, hit.get().weight)))
        .filter(|(_, calibrated)| min_score <= 0.0 || *calibrated >= min_score)
        .map(|(hit, calibrated)| {
            let parts = vec![hit.explain.clone(), Explanation::leaf("weights that contributed", hit.weight)];
            let name = format!("calibrated, at least {min_score}");
            Hit { explain: Explanation::of(name, calibrated, parts), ..hit.clone() }
        })
        .collect()
}

/// Choose ``k`` hits one by one, each the best mix of relevance and difference from those already chosen.
#[pyfunction]
pub(crate) fn mmr(
    py: Python<'_>,
    hits: Hits<'_>,
    #[pyo3(from_py_with = checked)] k: i64,
    #[pyo3(from_py_with = checked)] balance: f64,
    vectors: Option<&Bound<'_, PyAny>>,
    texts: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Hit>> {
    let k = count_of(k)?;
    let scores: Vec<f64> = hits.iter().map(|hit| hit.get().score).collect();
    let picks = if let Some(vectors) = vectors {
        let matrix = array::matrix(vectors)?;
        same_length(&hits, "vectors", matrix.shape()[0])?;
        let (values, dim) = (array::values(&matrix)?, matrix.shape()[1]);
        let row = |index: usize| &values[index * dim..(index + 1) * dim];
        enter_core(py, || Ok(fusion::mmr(&scores, k, balance, |a, b| cosine(row(a), row(b)))))?
    } else if let Some(texts) = texts {
        let texts = texts_of(texts)?;
        same_length(&hits, "texts", texts.len())?;
        let texts = texts.iter().map(text_of).collect::<PyResult<Vec<_>>>()?;
        enter_core(py, || {
            let grams: Vec<Trigrams> = texts.iter().map(|text| Trigrams::new(text)).collect();
            Ok(fusion::mmr(&scores, k, balance, |a, b| grams[a].likeness(&grams[b])))
        })?
    } else {
        return Err(ConfigError::new_err("mmr needs vectors or texts to compare the hits by"));
    };
    Ok(picks
        .iter()
        .map(|pick| {
            let hit = hits[pick.index].get().clone();
            Hit { explain: pick.explain(hit.explain), ..hit }
        })
        .collect())
}

/// One ranking, for looking hits up.
struct Side<'a> {
    scores: Vec<(&'a str, f64)>,
    hits: HashMap<&'a str, &'a Hit>,
}

impl<'a> Side<'a> {
    fn of(hits: &'a [Bound<'_, Hit>]) -> Self {
        let hits = hits.iter().map(Bound::get);
        Self {
            scores: hits.clone().map(|hit| (hit.id.as_str(), hit.score)).collect(),
            hits: hits.map(|hit| (hit.id.as_str(), hit)).collect(),
        }
    }

    fn explanation(&self, id: &str) -> Option<Explanation> {
        self.hits.get(id).map(|hit| hit.explain.clone())
    }
}

fn best_first(mut hits: Vec<Hit>) -> Vec<Hit> {
    // Scores are finite; zero and minus zero are equal.
    hits.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
    hits
}

fn finite(what: &str, value: f64) -> PyResult<f64> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(ConfigError::new_err(format!("{what} must be a finite number, not {value}")))
}

fn same_length(hits: &[Bound<'_, Hit>], what: &str, length: usize) -> PyResult<()> {
    if hits.len() == length {
        return Ok(());
    }
    Err(ConfigError::new_err(format!("{what} must have one item for each of the {} hits, not {length}", hits.len())))
}
