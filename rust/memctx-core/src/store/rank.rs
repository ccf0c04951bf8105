//! Ranking of segments from elsewhere as a search over the store would rank them.

use super::embed;
use super::handle::Store;
use super::inner::{Inner, now};
use super::log::segment::Segment;
use super::warm::entry::Standing;
use super::warm::passage::passages;
use super::warm::search::{Found, Request};
use super::warm::tier::{Draft, Warm, digest};
use crate::{Error, Result};

/// A line of a log of segments, maybe of another store.
#[derive(Clone, Copy, Debug)]
pub struct RankCandidate<'a> {
    /// The line without its end.
    pub line: &'a str,
    /// The vectors of its passages, by the store's model. Without them the model makes them, if it is in the core.
    pub vectors: Option<PassageVectors<'a>>,
}

/// The vectors of a segment's passages.
#[derive(Clone, Copy, Debug)]
pub struct PassageVectors<'a> {
    /// One behind the other.
    pub values: &'a [f32],
    /// The length of each.
    pub dim: usize,
}

impl Store {
    /// Rank segments as [`Store::search`] ranks those of the store, whatever their session: best first. The request's
    /// window finds nothing, for nothing is known of what stands around them. Lines that cannot be read are skipped.
    ///
    /// ```
    /// use memctx_core::store::{LogKind, LogReader, RankCandidate, Record, Request, Settings, Store};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let (here, there) = (folder.path().join("here"), folder.path().join("there"));
    /// let said = Record { role: "user", content: "The webhook listens on port 8443", timestamp: None, metadata: None };
    /// Store::open(&there, Settings::new("s2"))?.add(&[said])?;
    /// let (lines, _) = LogReader::open(&there)?.read_lines(0, LogKind::Segments, 100)?;
    /// let candidates: Vec<_> = lines.iter().map(|(_, line)| RankCandidate { line, vectors: None }).collect();
    /// let request = Request { query: "which port?", limit: 1, ..Request::default() };
    /// let found = Store::open(&here, Settings::new("s1"))?.rank(&request, &candidates)?;
    /// assert_eq!(found[0].segment.session, "s2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rank(&self, request: &Request<'_>, candidates: &[RankCandidate<'_>]) -> Result<Vec<Found>> {
        self.inner.check_open()?;
        self.inner.rank(request, candidates)
    }

    /// Return the vectors that the segments of some ids have in memory, one behind the other; a segment that lacks one of
    /// them is left out.
    pub fn passage_vectors(&self, ids: &[&str]) -> Result<Vec<(String, Vec<f32>)>> {
        let warm = self.inner.current()?;
        Ok(ids.iter().filter_map(|&id| Some((id.to_owned(), warm.vectors_of(id)?))).collect())
    }
}

impl Inner {
    fn rank(&self, request: &Request<'_>, candidates: &[RankCandidate<'_>]) -> Result<Vec<Found>> {
        let dim = self.model().dim();
        if let Some(vectors) = candidates.iter().filter_map(|it| it.vectors).find(|vectors| vectors.dim != dim) {
            return Err(Error::Dimension { expected: dim, found: vectors.dim });
        }
        let mut parts: Vec<(Segment, Option<PassageVectors<'_>>)> = candidates
            .iter()
            .filter_map(|it| Some((Segment::from_line(it.line.as_bytes()).ok()?, it.vectors)))
            .collect();
        // Of equals the older comes first.
        parts.sort_by(|a, b| a.0.timestamp.total_cmp(&b.0.timestamp));
        let mut tier = Warm::new(dim, self.model().own_weight())?;
        for (offset, (segment, vectors)) in (0..).zip(&parts) {
            tier.push(self.part(segment, *vectors, offset)?)?;
        }
        // Neither those before nor those behind each other in a list were said so.
        tier.tie(&[]);
        let known = self.current()?;
        if known.center.len() > tier.center.len() {
            // Candidates are alike in that they are near the query; what all have in common is what all have in memory.
            tier.center = known.center.clone();
        }
        drop(known);
        if request.limit == 0 {
            return Ok(Vec::new());
        }
        let vector = embed::query(request, self.model())?.filter(|_| tier.has_vectors(None));
        let read = |number: u32| Ok(parts[number as usize].0.clone());
        tier.search_with(request, vector.as_ref(), now(), read, |fault| self.note_damage(&fault))
    }

    /// A segment with the vectors given, those in memory, or those that the model makes now; else without.
    fn part(&self, segment: &Segment, given: Option<PassageVectors<'_>>, offset: u64) -> Result<Draft> {
        let pieces = passages(&segment.content);
        let room = pieces.len() * self.model().dim();
        let given = given.map(|given| given.values.to_vec()).filter(|values| values.len() == room);
        let in_memory = || self.index().vectors_of(&segment.id).filter(|values| values.len() == room);
        let made = || {
            let vectors: Option<Vec<Vec<f32>>> =
                pieces.iter().map(|piece| self.model().vector(&segment.content[piece.clone()])).collect();
            vectors.map(|vectors| vectors.concat())
        };
        let vectors = given.or_else(in_memory).or_else(made);
        let standing = if vectors.is_some() { Standing::SAVED } else { Standing::LACKING };
        let vectors = vectors.unwrap_or_else(|| vec![0.0; room]);
        crate::vector::check_finite(&vectors, self.model().dim())?;
        Ok(Draft { vectors, standing, ..Draft::new(segment.clone(), digest(&segment.content), offset, 0) })
    }
}
