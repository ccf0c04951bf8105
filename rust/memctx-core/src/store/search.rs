//! One search over both indexes of the warm tier.

use std::collections::hash_map::Entry as Slot;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::segment::Segment;
use super::warm::Warm;
use crate::fusion::{BALANCE, Blend, DECAY, Weights, calibrate, decay_factor, merge, mmr, normalize};
use crate::{Error, Explanation, Result};

/// How the two sides are weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranking {
    /// What recalls most with the embedder in use.
    #[default]
    Best,
    /// The original's: vectors 0.7, text 0.3, whatever the vectors are worth.
    Seed,
}

impl Ranking {
    /// The ranking of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "best" => Ok(Self::Best),
            "seed" => Ok(Self::Seed),
            _ => Err(Error::argument("ranking", "\"best\" or \"seed\"", format!("{name:?}"))),
        }
    }

    fn weights(self) -> Weights {
        match self {
            // Hash vectors know spelling, not meaning: beside a good tokenizer they are worth a fifth.
            Self::Best => Weights { vector: 0.2, bm25: 0.8 },
            Self::Seed => Weights::default(),
        }
    }

    /// What a score is multiplied with at an age.
    fn age_factor(self, days: f64) -> f64 {
        /// All that age can take away: enough to prefer the newer of two equals. The original's half in five months
        /// costs 10 to 20 points of recall on long conversations.
        const MOST: f64 = 0.05;
        let decay = decay_factor(days, DECAY);
        match self {
            Self::Best => 1.0 - MOST * (1.0 - decay),
            Self::Seed => decay,
        }
    }

    /// How many the text side names.
    fn depth(self, limit: usize) -> usize {
        match self {
            // Deep enough that the rest can rarely win, so that the vectors of all need not be read.
            Self::Best => limit.saturating_mul(16).max(256),
            Self::Seed => limit.saturating_mul(2),
        }
    }
}

/// What to look for, and where.
#[derive(Clone, Debug, Default)]
pub struct Request<'a> {
    /// The text to find.
    pub query: &'a str,
    /// Results wanted, neighbours not counted.
    pub limit: usize,
    /// Only segments of this session.
    pub session: Option<&'a str>,
    /// Only segments of one of these roles.
    pub roles: Option<Vec<&'a str>>,
    /// Only segments not older than this, in milliseconds since 1970.
    pub since: Option<f64>,
    /// Only segments not newer than this.
    pub until: Option<f64>,
    /// Only segments about one of these topics.
    pub topics: Option<Vec<&'a str>>,
    /// Drop results that match less than this; 0 keeps all.
    pub min_score: f64,
    /// How the two sides are weighed.
    pub ranking: Ranking,
    /// How many neighbours on each side of a result to add.
    pub window: usize,
    /// Whether to say how each score came about.
    pub explain: bool,
}

/// One result.
#[derive(Clone, Debug)]
pub struct Found {
    /// What was found.
    pub segment: Segment,
    /// Higher is better.
    pub score: f64,
    /// The cosine, or 0.
    pub vector: f64,
    /// The BM25 score divided by the best one, or 0.
    pub bm25: f64,
    /// The score divided by the weights that contributed: what the minimum is tested on.
    pub matched: f64,
    /// 0 if it was found itself, else how far it is from the result it stands beside.
    pub distance: usize,
    /// The piece of the content that matched, in bytes; all of it for a neighbour.
    pub passage: Range<usize>,
    /// How the score came about, where that was asked for.
    pub explanation: Option<Explanation>,
}

/// A segment in the race.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    segment: u32,
    passage: u32,
    blend: Blend,
    /// What the age took of the score.
    age: f64,
    score: f64,
    matched: f64,
    distance: usize,
}

/// Which segments a request admits, in the tier's own numbers.
struct Scope {
    /// Whether it admits every passage there is, so that nothing has to be looked up.
    is_everything: bool,
    /// None admits all, an empty list nothing.
    sessions: Option<Vec<u32>>,
    roles: Option<Vec<u32>>,
    topics: Option<Vec<u32>>,
    times: Range<f64>,
}

impl Scope {
    fn new(warm: &Warm, request: &Request<'_>) -> Self {
        let roles = request.roles.as_ref();
        let topics = request.topics.as_ref();
        let is_limited = request.session.is_some() || request.since.is_some() || request.until.is_some();
        let is_everything = !is_limited && roles.is_none() && topics.is_none() && warm.len() == warm.entries.len();
        Self {
            is_everything,
            sessions: request.session.map(|session| warm.sessions.find(session).into_iter().collect()),
            roles: roles.map(|roles| roles.iter().filter_map(|role| warm.roles.find(role)).collect()),
            topics: topics
                .map(|topics| topics.iter().filter_map(|topic| warm.topics.find(&topic.to_lowercase())).collect()),
            times: request.since.unwrap_or(f64::NEG_INFINITY)..request.until.unwrap_or(f64::INFINITY),
        }
    }

    fn admits(&self, warm: &Warm, passage: u32) -> bool {
        if self.is_everything {
            return true;
        }
        let entry = &warm.entries[warm.passages[passage as usize].segment as usize];
        entry.is_live
            && self.sessions.as_ref().is_none_or(|sessions| sessions.contains(&entry.session))
            && self.roles.as_ref().is_none_or(|roles| roles.contains(&entry.role))
            && self.topics.as_ref().is_none_or(|topics| topics.iter().any(|topic| entry.topics.contains(topic)))
            && self.times.start <= entry.timestamp
            && entry.timestamp <= self.times.end
    }
}

impl Warm {
    /// The best segments for a request, best first. `vector` is the query's, or none if it could not be made; `now` is
    /// in milliseconds. What turns out to be damaged is left out and told to `damaged`.
    pub(super) fn search(
        &self,
        request: &Request<'_>,
        vector: Option<&[f32]>,
        now: f64,
        mut damaged: impl FnMut(Error),
    ) -> Result<Vec<Found>> {
        let mut candidates = self.candidates(request, vector, now)?;
        if request.min_score > 0.0 {
            candidates.retain(|candidate| candidate.matched >= request.min_score);
        }
        let mut chosen = self.diverse(candidates, request.limit);
        if request.window > 0 {
            chosen = self.with_neighbours(&chosen, request.window);
        }
        let mut found = Vec::with_capacity(chosen.len());
        for candidate in chosen {
            match self.read(candidate.segment) {
                Ok(segment) => {
                    let explanation = request.explain.then(|| self.explain(&candidate, request, vector)).transpose()?;
                    found.push(candidate.into_found(self, segment, explanation));
                }
                Err(fault) => damaged(fault),
            }
        }
        Ok(found)
    }

    fn candidates(&self, request: &Request<'_>, vector: Option<&[f32]>, now: f64) -> Result<Vec<Candidate>> {
        let within = Scope::new(self, request);
        let admit = |passage| within.admits(self, passage);
        let wanted = request.limit.saturating_mul(2);
        let depth = request.ranking.depth(request.limit);
        let texts = self.texts.search(request.query, depth, admit);
        let best = normalize(texts.iter().map(|hit| hit.score)).unwrap_or(1.0);
        let texts: Vec<(u32, f64)> = texts.iter().map(|hit| (hit.number, hit.score / best)).collect();
        let Some(vector) = vector else { return Ok(self.ranked(request, merge(&[], &texts), now)) };
        if request.ranking == Ranking::Best {
            let blends = self.completed(merge(&[], &texts), vector)?;
            let candidates = self.ranked(request, blends, now);
            // What the text side did not name has a lower share of it than the last it named, or none.
            let rest = if texts.len() < depth { 0.0 } else { texts.last().map_or(0.0, |last| last.1) };
            let rest = Blend { vector: 1.0, bm25: rest }.score(request.ranking.weights());
            if candidates.get(wanted.saturating_sub(1)).is_some_and(|last| last.score >= rest) {
                return Ok(candidates);
            }
        }
        let nearest = self.rows.search(vector, wanted, admit)?.pop().unwrap_or_default();
        let nearest: Vec<(u32, f64)> =
            nearest.iter().filter(|hit| hit.score > 0.0).map(|hit| (hit.number, hit.score)).collect();
        let mut blends = merge(&nearest, &texts);
        if request.ranking == Ranking::Best {
            blends = self.completed(blends, vector)?;
        }
        Ok(self.ranked(request, blends, now))
    }

    /// With the cosine of those that only the text side named.
    fn completed(&self, mut blends: Vec<(u32, Blend)>, vector: &[f32]) -> Result<Vec<(u32, Blend)>> {
        let cosine = self.rows.cosines(vector)?;
        for (passage, blend) in blends.iter_mut().filter(|(_, blend)| blend.vector == 0.0) {
            blend.vector = cosine(*passage).max(0.0);
        }
        Ok(blends)
    }

    /// The segments of passages, best first, each by its best passage.
    fn ranked(&self, request: &Request<'_>, blends: Vec<(u32, Blend)>, now: f64) -> Vec<Candidate> {
        const DAY: f64 = 86_400_000.0;
        let weights = request.ranking.weights();
        let mut candidates: Vec<Candidate> = Vec::with_capacity(blends.len());
        for (passage, blend) in blends {
            let segment = self.passages[passage as usize].segment;
            let age = request.ranking.age_factor((now - self.entries[segment as usize].timestamp) / DAY);
            let score = blend.score(weights) * age;
            let matched = calibrate(score, blend.weight(weights));
            candidates.push(Candidate { segment, passage, blend, age, score, matched, distance: 0 });
        }
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        candidates.retain(|candidate| seen.insert(candidate.segment));
        candidates.truncate(request.limit.saturating_mul(4));
        candidates
    }

    /// Choose from more candidates than are wanted, so that near duplicates do not take the places of others.
    fn diverse(&self, candidates: Vec<Candidate>, limit: usize) -> Vec<Candidate> {
        if candidates.len() <= limit {
            return candidates;
        }
        let scores: Vec<f64> = candidates.iter().map(|candidate| candidate.score).collect();
        let likeness = |a: usize, b: usize| self.rows.likeness(candidates[a].passage, candidates[b].passage);
        let mut picks: Vec<usize> = mmr(&scores, limit, BALANCE, likeness).iter().map(|pick| pick.index).collect();
        picks.sort_unstable();
        picks.into_iter().map(|pick| candidates[pick]).collect()
    }

    /// Add what was said around each result, worth 15 % less with every step.
    fn with_neighbours(&self, chosen: &[Candidate], window: usize) -> Vec<Candidate> {
        const STEP: f64 = 0.15;
        let mut places: FxHashMap<u32, usize> =
            chosen.iter().enumerate().map(|(place, candidate)| (candidate.segment, place)).collect();
        let mut all = chosen.to_vec();
        for hit in chosen {
            for (segment, distance) in self.neighbours(hit.segment, window) {
                let score = hit.score * (1.0 - STEP * distance as f64).max(0.0);
                let matched = hit.matched * (1.0 - STEP * distance as f64).max(0.0);
                let passage = self.entries[segment as usize].passages.start;
                let neighbour =
                    Candidate { segment, passage, blend: Blend::default(), age: 1.0, score, matched, distance };
                match places.entry(segment) {
                    Slot::Vacant(slot) => {
                        slot.insert(all.len());
                        all.push(neighbour);
                    }
                    Slot::Occupied(slot) if all[*slot.get()].score < score => {
                        // It was found itself, or beside another: what it is stays, only its score rises.
                        let known = &mut all[*slot.get()];
                        (known.score, known.matched) = (score, known.matched.max(matched));
                        known.distance = known.distance.min(distance);
                    }
                    Slot::Occupied(_) => {}
                }
            }
        }
        all.sort_by(|a, b| b.score.total_cmp(&a.score));
        all
    }

    fn explain(&self, candidate: &Candidate, request: &Request<'_>, vector: Option<&[f32]>) -> Result<Explanation> {
        if candidate.distance > 0 {
            let steps = Explanation::leaf("steps from a result", candidate.distance as f64);
            return Ok(Explanation::of("neighbour", candidate.score, vec![steps]));
        }
        let cosine = vector.map(|vector| self.rows.explain(vector, candidate.passage)).transpose()?;
        let text = self.texts.explain(request.query, candidate.passage);
        let text = Explanation::of("divided by the best", candidate.blend.bm25, vec![text]);
        let blend = candidate.blend.explain(request.ranking.weights(), cosine, Some(text));
        let parts = vec![blend, Explanation::leaf("age", candidate.age)];
        Ok(Explanation::of("score", candidate.score, parts))
    }
}

impl Candidate {
    fn into_found(self, warm: &Warm, segment: Segment, explanation: Option<Explanation>) -> Found {
        let passage = match warm.passages.get(self.passage as usize) {
            Some(piece) if self.distance == 0 => piece.start as usize..piece.end as usize,
            _ => 0..segment.content.len(),
        };
        Found {
            segment,
            score: self.score,
            vector: self.blend.vector,
            bm25: self.blend.bm25,
            matched: self.matched,
            distance: self.distance,
            passage,
            explanation,
        }
    }
}
