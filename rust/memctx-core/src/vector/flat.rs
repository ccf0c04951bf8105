//! Exact nearest neighbors among vectors under ids.

use super::rows::{LIMIT, Rows, check_finite};
use crate::{Error, Explanation, Filter, IdMap, Result, Scored};

/// Exact cosine search over vectors in memory.
///
/// ```
/// use memctx_core::{Filter, vector::FlatIndex};
///
/// let mut index = FlatIndex::new(2)?;
/// index.add_many(&["east", "north"], &[1.0, 0.0, 0.0, 1.0], "")?;
/// let best = index.search(&[0.9, 0.1], 1, Filter::default())?;
/// assert_eq!(index.id_map().id(best[0].number), "east");
/// # Ok::<(), memctx_core::Error>(())
/// ```
#[derive(Debug)]
pub struct FlatIndex {
    rows: Rows,
    id_map: IdMap,
}

impl FlatIndex {
    /// Create an empty index for vectors of this length.
    pub fn new(dim: usize) -> Result<Self> {
        Ok(Self { rows: Rows::new(dim)?, id_map: IdMap::default() })
    }

    /// Return the length every vector must have.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.rows.dim()
    }

    /// Return the vectors present.
    #[must_use]
    pub fn id_map(&self) -> &IdMap {
        &self.id_map
    }

    /// Add vectors, one behind the other in `values`; those with the same id are replaced. On an error none is added.
    pub fn add_many(&mut self, ids: &[&str], values: &[f32], group: &str) -> Result<()> {
        let dim = self.dim();
        if values.len() != ids.len() * dim {
            return Err(Error::Dimension { expected: ids.len() * dim, found: values.len() });
        }
        check_finite(values, dim)?;
        if self.id_map.span() + ids.len() > LIMIT {
            return Err(Error::Full { what: "the index", limit: LIMIT });
        }
        for (id, vector) in ids.iter().zip(values.chunks_exact(dim)) {
            self.remove(id);
            self.id_map.insert(id, group, LIMIT)?;
            self.rows.push(vector)?;
        }
        Ok(())
    }

    /// Take a vector out; false if there is none of that id.
    pub fn remove(&mut self, id: &str) -> bool {
        let is_present = self.id_map.remove(id).is_some();
        if is_present && self.id_map.is_sparse() {
            let renumbered = self.id_map.renumber();
            self.rows.retain(|row| renumbered[row].is_some());
        }
        is_present
    }

    /// Return the vector of an id, as it was added.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&[f32]> {
        self.id_map.number(id).and_then(|number| self.rows.exact(number))
    }

    /// Return the `k` vectors with the highest cosine, best first, older first among equals. A zero vector has cosine 0
    /// to every other.
    pub fn search(&self, vector: &[f32], k: usize, filter: Filter<'_>) -> Result<Vec<Scored>> {
        self.rows.check(vector)?;
        Ok(self.search_many(vector, k, filter)?.pop().unwrap_or_default())
    }

    /// [`FlatIndex::search`] for several vectors, one behind the other in `vectors`.
    pub fn search_many(&self, vectors: &[f32], k: usize, filter: Filter<'_>) -> Result<Vec<Vec<Scored>>> {
        self.rows.search(vectors, k, self.id_map.admit(filter))
    }

    /// Return the cosine to one vector, with the numbers behind it; none if there is no vector of that id.
    pub fn explain(&self, vector: &[f32], id: &str) -> Result<Option<Explanation>> {
        self.rows.check(vector)?;
        self.id_map.number(id).map(|number| self.rows.explain(vector, number)).transpose()
    }
}
