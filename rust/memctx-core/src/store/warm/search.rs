//! One search over both indexes of the warm tier.

use std::collections::hash_map::Entry as Slot;
use std::ops::Range;
use std::time::Duration;

use rustc_hash::FxHashMap;

use super::candidates::{BEST, Candidate, Ranked, score};
use super::tier::Warm;
use crate::fusion::{BALANCE, Blend, DECAY, Weights, decay_factor, mmr};
use crate::store::captured::Digests;
use crate::store::embed::QueryVector;
use crate::store::log::segment::Segment;
use crate::store::search_filter::SearchFilter;
use crate::{Error, Explanation, Result};

/// The weights of words and vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranking {
    /// The weights that recall most with the embedder in use.
    #[default]
    Best,
    /// OpenClaw compatibility: vectors 0.7, text 0.3, whatever the weight of the vectors.
    OpenClaw,
}

impl Ranking {
    /// The ranking of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "best" => Ok(Self::Best),
            "openclaw" => Ok(Self::OpenClaw),
            _ => Err(Error::argument("ranking", "\"best\" or \"openclaw\"", format!("{name:?}"))),
        }
    }

    /// Return the factor of a score for the speaker's role.
    pub(crate) fn role_factor(self, role: &str) -> f64 {
        /// People say what matters; what answers them repeats it at length.
        const OTHERS: f64 = 1.0 / 1.3;
        if self == Self::OpenClaw || role == "user" { 1.0 } else { OTHERS }
    }

    /// Return the factor of a score for a segment's age.
    ///
    /// Ages count from the end of the day, so that the same search ranks and scores alike all day long.
    pub(crate) fn age_factor(self, timestamp: f64, now: f64) -> f64 {
        const DAY: f64 = 86_400_000.0;
        /// All that age can take away: enough to prefer the newer of two equals. OpenClaw's half in five months
        /// costs 10 to 20 points of recall on long conversations.
        const MOST: f64 = 0.05;
        let now = if self == Self::Best { (now / DAY).ceil() * DAY } else { now };
        let decay = decay_factor((now - timestamp) / DAY, DECAY);
        match self {
            Self::Best => 1.0 - MOST * (1.0 - decay),
            Self::OpenClaw => decay,
        }
    }
}

/// A search request.
#[derive(Clone, Debug, Default)]
pub struct Request<'a> {
    /// The text to find.
    pub query: &'a str,
    /// Its vector, where the store cannot make it itself; without one only words count.
    pub vector: Option<&'a [f32]>,
    /// Results wanted, neighbors not counted.
    pub limit: usize,
    /// Conditions that every result meets.
    pub filter: SearchFilter,
    /// Drop results with a lower score; 0 keeps all.
    pub min_score: f64,
    /// Return nothing if it is less sure than this that the query is answered at all. The compatibility ranking does
    /// not know how sure that is.
    pub min_certainty: f64,
    /// The weights of words and vectors.
    pub ranking: Ranking,
    /// The number of neighbors to add on each side of a result.
    pub window: usize,
    /// Candidates that are looked at, if that is more than usual: as many as a list or a summary needs.
    pub pool: usize,
    /// True if to say how each score came about.
    pub explain: bool,
    /// Segments in memory that are not wanted, by the digests of their contents.
    pub except: Option<&'a Digests>,
    /// True if segments that only say the query again are not wanted either.
    pub skips_repeats: bool,
    /// The time in which missing vectors may be made for the search, where the store makes them.
    pub embedding: Duration,
}

/// A request that outlives its caller.
#[cfg(feature = "disk-index")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OwnedRequest {
    query: String,
    vector: Option<Vec<f32>>,
    limit: usize,
    filter: SearchFilter,
    min_score: f64,
    min_certainty: f64,
    ranking: Ranking,
    window: usize,
    pool: usize,
    explain: bool,
    skips_repeats: bool,
}

#[cfg(feature = "disk-index")]
impl OwnedRequest {
    pub(crate) fn new(request: &Request<'_>) -> Self {
        Self {
            query: request.query.to_owned(),
            vector: request.vector.map(<[f32]>::to_vec),
            limit: request.limit,
            filter: request.filter.clone(),
            min_score: request.min_score,
            min_certainty: request.min_certainty,
            ranking: request.ranking,
            window: request.window,
            pool: request.pool,
            explain: request.explain,
            skips_repeats: request.skips_repeats,
        }
    }

    pub(crate) fn request(&self) -> Request<'_> {
        Request {
            query: &self.query,
            vector: self.vector.as_deref(),
            limit: self.limit,
            filter: self.filter.clone(),
            min_score: self.min_score,
            min_certainty: self.min_certainty,
            ranking: self.ranking,
            window: self.window,
            pool: self.pool,
            explain: self.explain,
            skips_repeats: self.skips_repeats,
            ..Request::default()
        }
    }
}

/// One result.
#[derive(Clone, Debug)]
pub struct Found {
    /// The segment.
    pub segment: Segment,
    /// The probability that the segment answers the query; results are ordered by it. With the compatibility ranking
    /// OpenClaw's weighted sum.
    pub score: f64,
    /// The cosine, or 0.
    pub vector: f64,
    /// The BM25 score divided by the best one, or 0.
    pub bm25: f64,
    /// 0 if it was found itself, else how far it is from the result it stands beside.
    pub distance: usize,
    /// The piece of the content that matched, in bytes; all of it for a neighbor.
    pub passage: Range<usize>,
    /// The explanation of the score, if it was asked for.
    pub explanation: Option<Explanation>,
}

impl Warm {
    /// The best segments for a request, best first. `vector` is the query's, or none if it could not be made; `now` is
    /// in milliseconds. What turns out to be damaged is left out and reported to `damaged`.
    pub(crate) fn search(
        &self,
        request: &Request<'_>,
        vector: Option<&QueryVector<'_>>,
        now: f64,
        damaged: impl FnMut(Error),
    ) -> Result<Vec<Found>> {
        self.search_with(request, vector, now, |number| self.read(number), damaged)
    }

    /// [`Warm::search`] over segments that `read` returns by their numbers.
    pub(crate) fn search_with(
        &self,
        request: &Request<'_>,
        vector: Option<&QueryVector<'_>>,
        now: f64,
        read: impl Fn(u32) -> Result<Segment>,
        mut damaged: impl FnMut(Error),
    ) -> Result<Vec<Found>> {
        let Ranked { mut candidates, mut evidence } = self.candidates(request, vector, now)?;
        let mut segments: FxHashMap<u32, Segment> = FxHashMap::default();
        if request.ranking == Ranking::Best {
            if let Some(question) = vector.and_then(|vector| vector.question.as_ref()) {
                // One text that has all of it is enough.
                let all = question.tells();
                for candidate in candidates.iter().take(BEST) {
                    if evidence.told.is_some_and(|told| told >= all) {
                        break;
                    }
                    // What cannot be read is reported below.
                    let Ok(segment) = read(candidate.segment) else { continue };
                    let passage = &self.passages[candidate.passage as usize];
                    let text = segment.content.get(passage.start as usize..passage.end as usize).unwrap_or_default();
                    evidence.add(question.told_by(text));
                    segments.insert(candidate.segment, segment);
                }
            }
            score(&mut candidates, evidence);
        }
        let is_unsure = |candidate: &Candidate| candidate.answer.certainty() < request.min_certainty;
        if request.ranking == Ranking::Best && candidates.first().is_some_and(is_unsure) {
            candidates.clear();
        }
        if request.min_score > 0.0 {
            candidates.retain(|candidate| candidate.score >= request.min_score);
        }
        let mut chosen = self.diverse(candidates, request.limit);
        if request.window > 0 {
            chosen = self.with_neighbors(&chosen, request);
        }
        let mut found = Vec::with_capacity(chosen.len());
        for candidate in chosen {
            match segments.remove(&candidate.segment).map_or_else(|| read(candidate.segment), Ok) {
                Ok(segment) => {
                    let explanation = request.explain.then(|| self.explain(&candidate, request, vector)).transpose()?;
                    found.push(candidate.into_found(self, segment, request.ranking, explanation));
                }
                Err(fault) => damaged(fault),
            }
        }
        Ok(found)
    }

    /// Choose from more candidates than are wanted, so that near duplicates do not take the places of others.
    fn diverse(&self, candidates: Vec<Candidate>, limit: usize) -> Vec<Candidate> {
        if candidates.len() <= limit {
            return candidates;
        }
        let ranks: Vec<f64> = candidates.iter().map(|candidate| candidate.rank).collect();
        let alike = self.likeness(self.center.spread());
        let likeness = |a: usize, b: usize| alike(candidates[a].passage, candidates[b].passage);
        let mut picks: Vec<usize> = mmr(&ranks, limit, BALANCE, likeness).iter().map(|pick| pick.index).collect();
        picks.sort_unstable();
        picks.into_iter().map(|pick| candidates[pick]).collect()
    }

    /// Add what was said around each result, worth 15 % less with every step.
    fn with_neighbors(&self, chosen: &[Candidate], request: &Request<'_>) -> Vec<Candidate> {
        const STEP: f64 = 0.15;
        let ranking = request.ranking;
        let mut places: FxHashMap<u32, usize> =
            chosen.iter().enumerate().map(|(place, candidate)| (candidate.segment, place)).collect();
        let mut all = chosen.to_vec();
        for hit in chosen {
            for (segment, distance) in self.neighbors(hit.segment, request.window) {
                let less = (1.0 - STEP * distance as f64).max(0.0);
                let (rank, score) = (hit.rank * less, hit.score * less);
                let passage = self.entries[segment as usize].passages.start;
                let neighbor = Candidate {
                    segment,
                    passage,
                    cosine: 0.0,
                    blend: Blend::default(),
                    weights: Weights::default(),
                    age: 1.0,
                    rank,
                    score,
                    answer: hit.answer,
                    distance,
                };
                match places.entry(segment) {
                    Slot::Vacant(slot) => {
                        slot.insert(all.len());
                        all.push(neighbor);
                    }
                    Slot::Occupied(slot) if all[*slot.get()].shown(ranking) < neighbor.shown(ranking) => {
                        // It was found itself, or beside another: what it is stays, only its score rises.
                        let known = &mut all[*slot.get()];
                        (known.rank, known.score) = (known.rank.max(rank), known.score.max(score));
                        known.distance = known.distance.min(distance);
                    }
                    Slot::Occupied(_) => {}
                }
            }
        }
        all.sort_by(|a, b| b.shown(ranking).total_cmp(&a.shown(ranking)));
        all
    }

    fn explain(
        &self,
        candidate: &Candidate,
        request: &Request<'_>,
        query: Option<&QueryVector<'_>>,
    ) -> Result<Explanation> {
        let shown = candidate.shown(request.ranking);
        if candidate.distance > 0 {
            let steps = Explanation::leaf("steps from a result", candidate.distance as f64);
            return Ok(Explanation::of("neighbor", shown, vec![steps]));
        }
        let ranked = self.explain_rank(candidate, request, query.map(|query| &*query.values))?;
        if request.ranking == Ranking::OpenClaw {
            return Ok(Explanation::of("score", shown, ranked));
        }
        Ok(Explanation::of("score", shown, candidate.answer.explain(candidate.rank, ranked)))
    }

    /// The operands of a candidate's rank.
    fn explain_rank(
        &self,
        candidate: &Candidate,
        request: &Request<'_>,
        vector: Option<&[f32]>,
    ) -> Result<Vec<Explanation>> {
        let cosine = vector.map(|vector| self.rows.explain(vector, candidate.passage)).transpose()?;
        let above = |cosine| Explanation::of("cosine above the mean", candidate.blend.vector, vec![cosine]);
        let is_centered = self.worth.is_centered() && request.ranking == Ranking::Best;
        let cosine = if is_centered { cosine.map(above) } else { cosine };
        let text = match request.ranking {
            Ranking::Best => self.texts.query(request.query).explain(candidate.passage),
            Ranking::OpenClaw => self.texts.explain(request.query, candidate.passage),
        };
        let text = Explanation::of("divided by the best", candidate.blend.bm25, vec![text]);
        let weights = candidate.weights;
        let mut parts =
            vec![candidate.blend.explain(weights, cosine, Some(text)), Explanation::leaf("age", candidate.age)];
        if request.ranking == Ranking::Best {
            let role = request.ranking.role_factor(self.roles.name(self.entries[candidate.segment as usize].role));
            let own = candidate.blend.score(weights) * candidate.age * role;
            parts.push(Explanation::leaf("who said it", role));
            parts.push(Explanation::leaf("added by a neighbor", candidate.rank - own));
        }
        Ok(parts)
    }
}

impl Candidate {
    /// Return the score that is shown, which is also the order of the results.
    fn shown(&self, ranking: Ranking) -> f64 {
        match ranking {
            Ranking::Best => self.score,
            Ranking::OpenClaw => self.rank,
        }
    }

    fn into_found(self, warm: &Warm, segment: Segment, ranking: Ranking, explanation: Option<Explanation>) -> Found {
        let passage = match warm.passages.get(self.passage as usize) {
            Some(piece) if self.distance == 0 => piece.start as usize..piece.end as usize,
            _ => 0..segment.content.len(),
        };
        Found {
            segment,
            score: self.shown(ranking),
            vector: self.cosine,
            bm25: self.blend.bm25,
            distance: self.distance,
            passage,
            explanation,
        }
    }
}
