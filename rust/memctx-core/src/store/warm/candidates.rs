//! Candidate generation for hybrid search.

use std::borrow::Cow;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::center::Center;
use super::entry::Standing;
use super::gate::{Answer, Evidence};
use super::matching::{certainty, evidence};
use super::scale::Scale;
use super::search::{Ranking, Request};
use super::tier::{GONE, Warm};
use crate::bm25::Accumulator;
use crate::fusion::{Blend, Weights, calibrate, merge, normalize};
use crate::store::embed::QueryVector;
use crate::store::{Digests, SearchFilter};
use crate::{Result, Scored};

/// Candidates, unless more results are wanted. The number does not depend on that of the results, so that the first five
/// of many are those of a search for five.
const POOL: usize = 32;
/// The best candidates at most, whose neighbors are looked at, and whose pieces.
pub(crate) const BEST: usize = 10;
/// Candidates of each side for each result, as in OpenClaw's `memory-context`.
const SEED_POOL: usize = 2;

/// So many for each of them are guessed at first, so that a few bad guesses do not spoil the score to beat.
const GUESSED: usize = 2;

/// So many of the best texts are looked at to see whether one of them covers the question.
const COVERING: usize = 20;

/// Segments at most that are looked at to see whether they only say the query again,
const REPEATS: usize = 256;
/// and those that are looked at first.
const FEW_REPEATS: usize = 8;
/// Bytes by which they may be longer or shorter.
const REPETITION: usize = 8;

/// Digits of a score that are reported.
const DIGITS: f64 = 1e6;

/// A candidate segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) segment: u32,
    pub(crate) passage: u32,
    /// Of its vector and the query's; 0 where there is none.
    pub(crate) cosine: f64,
    pub(crate) blend: Blend,
    pub(crate) weights: Weights,
    /// The part of the rank lost to age.
    pub(crate) age: f64,
    /// The order of the candidates; the higher the better.
    pub(crate) rank: f64,
    /// The score from 0 to 1 that a minimum is tested on.
    pub(crate) score: f64,
    pub(crate) answer: Answer,
    pub(crate) distance: usize,
}

/// The candidates of a search, best first, and what speaks for the query being answered.
#[derive(Debug, Default)]
pub(crate) struct Ranked {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) evidence: Evidence,
}

/// One search: what is asked, and how the two sides are measured against each other.
struct Race<'a, 'b> {
    request: &'a Request<'b>,
    vector: Option<&'a [f32]>,
    scale: Scale,
    now: f64,
}

/// The filter of a request, in the tier's own numbers.
struct Scope<'a> {
    /// True if it admits every passage there is, so that nothing has to be looked up.
    is_everything: bool,
    /// True if it looks at more than whether a segment is live and wanted at all.
    is_limited: bool,
    /// None admits all, an empty list nothing.
    sessions: Option<Vec<u32>>,
    roles: Option<Vec<u32>>,
    topics: Option<Vec<u32>>,
    times: Range<f64>,
    except: Option<&'a Digests>,
}

impl<'a> Scope<'a> {
    fn new(warm: &Warm, request: &Request<'a>) -> Self {
        let SearchFilter { session, roles, since, until, topics } = &request.filter;
        let (roles, topics) = (roles.as_ref(), topics.as_ref());
        let is_in_time = since.is_none() && until.is_none();
        let is_limited = session.is_some() || roles.is_some() || topics.is_some() || !is_in_time;
        let is_everything = !is_limited && request.except.is_none() && warm.len() == warm.entries.len();
        Self {
            is_everything,
            is_limited,
            sessions: session.as_ref().map(|session| warm.sessions.find(session).into_iter().collect()),
            roles: roles.map(|roles| roles.iter().filter_map(|role| warm.roles.find(role)).collect()),
            topics: topics
                .map(|topics| topics.iter().filter_map(|topic| warm.topics.find(&topic.to_lowercase())).collect()),
            times: since.unwrap_or(f64::NEG_INFINITY)..until.unwrap_or(f64::INFINITY),
            except: request.except,
        }
    }

    fn admits(&self, warm: &Warm, passage: u32) -> bool {
        if self.is_everything {
            return true;
        }
        let digest = warm.digests[passage as usize];
        if digest == GONE || self.except.is_some_and(|except| except.has(digest)) {
            return false;
        }
        if !self.is_limited {
            return true;
        }
        let entry = &warm.entries[warm.passages[passage as usize].segment as usize];
        self.sessions.as_ref().is_none_or(|sessions| sessions.contains(&entry.session))
            && self.roles.as_ref().is_none_or(|roles| roles.contains(&entry.role))
            && self.topics.as_ref().is_none_or(|topics| topics.iter().any(|topic| entry.topics.contains(topic)))
            && self.times.start <= entry.timestamp
            && entry.timestamp <= self.times.end
    }
}

impl Warm {
    /// The candidates, best first.
    pub(crate) fn candidates(
        &self,
        request: &Request<'_>,
        query: Option<&QueryVector<'_>>,
        now: f64,
    ) -> Result<Ranked> {
        let vector = query.map(|query| &*query.values);
        let within = Scope::new(self, request);
        let admit = |passage| within.admits(self, passage);
        if request.ranking == Ranking::OpenClaw {
            let wanted = request.limit.saturating_mul(SEED_POOL);
            let first = self.texts.search(request.query, wanted, admit);
            let race = Race { request, vector, scale: Scale::raw(Weights::default()), now };
            let candidates = self.united(&race, None, &first, &self.nearest(vector, wanted, admit)?)?;
            return Ok(Ranked { candidates, ..Ranked::default() });
        }
        let question = self.texts.query(request.query);
        let wanted = pool(request);
        // Where words alone count, vectors have no candidates.
        let vector = vector.filter(|_| self.worth.share_known(request.query) > 0.0);
        let accumulator = question.scores();
        let repeats =
            if request.skips_repeats { self.repeats(request, &accumulator, admit) } else { FxHashSet::default() };
        let admit = |passage| within.admits(self, passage) && !repeats.contains(&passage);
        let mut coverage = question.coverage();
        let mut words = |first: &[Scored], spelling: Option<&dyn Fn(u32) -> f64>| {
            let of = |hit: &Scored| evidence(coverage(hit.number), spelling.map(|cosine| cosine(hit.number)));
            first.iter().take(COVERING).map(of).fold(0.0, f64::max)
        };
        let center = self.center_for(request);
        let (race, first, words, candidates) = match vector {
            Some(vector) if self.worth.is_centered() => {
                let first = accumulator.best(wanted, admit);
                let nearest = self.nearest(Some(vector), wanted, admit)?;
                let words = words(&first, None);
                let scale = self.worth.scale(request.query, certainty(words), center.cosine(vector));
                let race = Race { request, vector: Some(vector), scale, now };
                let candidates = self.united(&race, Some(&accumulator), &first, &nearest)?;
                (race, first, words, candidates)
            }
            Some(vector) => {
                let scale = self.worth.scale(request.query, 1.0, 0.0);
                let race = Race { request, vector: Some(vector), scale, now };
                let (first, decided) = self.decided(&race, &accumulator, vector, admit)?;
                let words = words(&first, Some(&self.rows.cosines(vector)?));
                let candidates = if let Some(candidates) = decided {
                    candidates
                } else {
                    let nearest = self.nearest(Some(vector), wanted, admit)?;
                    self.united(&race, Some(&accumulator), &first, &nearest)?
                };
                (race, first, words, candidates)
            }
            None => {
                let race = Race { request, vector: None, scale: Scale::raw(Weights::of_vector(0.0)), now };
                let first = accumulator.best(wanted, admit);
                let candidates = self.united(&race, Some(&accumulator), &first, &[])?;
                let words = words(&first, None);
                (race, first, words, candidates)
            }
        };
        let best = normalize(first.iter().map(|hit| hit.score)).unwrap_or(1.0);
        let bm25 = |passage| accumulator.of(passage) / best;
        let spread = center.spread();
        let candidates = self.smoothed(&race, spread, candidates, bm25, admit)?;
        let meaning = race.scale.meaning(candidates.iter().map(|candidate| candidate.cosine));
        let statistics = self.texts.statistics();
        let held = statistics.documents as f64 * statistics.average_length;
        Ok(Ranked { candidates, evidence: Evidence { words, meaning, told: None, held } })
    }

    /// The passages of segments that say the query again, up to case and punctuation.
    fn repeats(&self, request: &Request<'_>, accumulator: &Accumulator, admit: impl Fn(u32) -> bool) -> FxHashSet<u32> {
        let letters = |text: &str| -> String {
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let is_alike = |passage: u32| {
            let (own, length) = (&self.passages[passage as usize], request.query.len() as u32);
            own.start == 0 && own.end.abs_diff(length) <= REPETITION as u32 && admit(passage)
        };
        let query = letters(request.query);
        let is_repeat = |passage: &u32| {
            // What is damaged is noted when it is read for its own sake.
            let segment = self.read(self.passages[*passage as usize].segment);
            segment.is_ok_and(|segment| letters(&segment.content) == query)
        };
        // A copy has all words of the query and no other, so copies come before what is only as long.
        let mut repeats = FxHashSet::default();
        let mut looked_at = FEW_REPEATS;
        loop {
            let alike = accumulator.best(looked_at, is_alike);
            repeats.extend(alike.iter().map(|hit| hit.number).filter(is_repeat));
            if repeats.len() < looked_at || looked_at >= REPEATS {
                return repeats;
            }
            looked_at *= 2;
        }
    }

    /// The center of what a request may find. What is left out must not move it: the vectors of what a model sees may
    /// still be missing.
    fn center_for(&self, request: &Request<'_>) -> Cow<'_, Center> {
        let Some(except) = request.except.filter(|_| self.worth.is_centered()) else {
            return Cow::Borrowed(&self.center);
        };
        let mut center = self.center.clone();
        for (passage, &digest) in (0..).zip(&self.digests) {
            if digest != GONE && except.has(digest) {
                center.remove(&self.rows.row(passage));
            }
        }
        Cow::Owned(center)
    }

    fn nearest(&self, vector: Option<&[f32]>, wanted: usize, admit: impl Fn(u32) -> bool) -> Result<Vec<Scored>> {
        let Some(vector) = vector else { return Ok(Vec::new()) };
        Ok(self.rows.search(vector, wanted, admit)?.pop().unwrap_or_default())
    }

    /// The text side's best, and the candidates by both sides' score, without reading all vectors; no candidates if a
    /// segment that the text side does not know could be among the best.
    ///
    /// A first guess at the best gives the score that has to be beaten. As a cosine is at most 1, beating it takes a share
    /// of the text side, and all that have it are looked at.
    fn decided(
        &self,
        race: &Race<'_, '_>,
        accumulator: &Accumulator,
        vector: &[f32],
        admit: impl Fn(u32) -> bool,
    ) -> Result<(Vec<Scored>, Option<Vec<Candidate>>)> {
        let (wanted, weights) = (pool(race.request), race.scale.weights);
        let cosine = self.rows.cosines(vector)?;
        let mut first = accumulator.best(wanted.saturating_mul(GUESSED), &admit);
        let Some(best) = normalize(first.iter().map(|hit| hit.score)) else { return Ok((first, None)) };
        let exact = |hits: &[Scored]| {
            let ahead = hits.iter().skip(1).map(Some).chain([None]);
            let candidate = |(hit, ahead): (&Scored, Option<&Scored>)| {
                // They lie anywhere.
                if let Some(ahead) = ahead {
                    self.rows.approach(ahead.number);
                }
                self.candidate(race, hit.number, cosine(hit.number), hit.score / best)
            };
            ranked(hits.iter().zip(ahead).map(candidate).collect(), wanted)
        };
        let numbers: Vec<u32> = first.iter().map(|hit| hit.number).collect();
        let guess = |(hit, low): (&Scored, f32)| self.candidate(race, hit.number, f64::from(low), hit.score / best);
        let guessed = ranked(first.iter().zip(self.rows.lows(vector, &numbers)?).map(guess).collect(), wanted);
        first.truncate(wanted);
        let last = guessed.last().filter(|_| guessed.len() == wanted);
        let share = last.map(|last| (last.rank - weights.vector) / weights.bm25);
        let (Some(last), Some(share)) = (last, share.filter(|&share| share > 0.0)) else { return Ok((first, None)) };
        let mut hits = accumulator.above(share * best, admit);
        self.rows.keep_hopeful(vector, &mut hits, |hit, cosine| {
            let blend = Blend { vector: race.scale.value(cosine), bm25: hit.score / best };
            blend.score(self.weights(race, hit.number)) >= last.rank
        })?;
        let candidates = exact(&hits);
        Ok((first, Some(candidates)))
    }

    /// The best of each side together. With an accumulator each gets what the other side says of it, too; OpenClaw leaves
    /// that out, and ranks low what is good by both and best by neither.
    fn united(
        &self,
        race: &Race<'_, '_>,
        accumulator: Option<&Accumulator>,
        texts: &[Scored],
        nearest: &[Scored],
    ) -> Result<Vec<Candidate>> {
        let best = normalize(texts.iter().map(|hit| hit.score)).unwrap_or(1.0);
        let texts: Vec<(u32, f64)> = texts.iter().map(|hit| (hit.number, hit.score / best)).collect();
        let is_near = |hit: &&Scored| race.scale.value(hit.score) > 0.0;
        let nearest: Vec<(u32, f64)> = nearest.iter().filter(is_near).map(|hit| (hit.number, hit.score)).collect();
        let mut both = merge(&nearest, &texts);
        if let (Some(accumulator), Some(vector)) = (accumulator, race.vector) {
            let cosine = self.rows.cosines(vector)?;
            for (passage, blend) in both.iter_mut().filter(|(_, blend)| blend.vector == 0.0) {
                blend.vector = cosine(*passage);
            }
            for (passage, blend) in both.iter_mut().filter(|(_, blend)| blend.bm25 == 0.0) {
                blend.bm25 = accumulator.of(*passage) / best;
            }
        }
        let candidate = |(passage, both): (u32, Blend)| self.candidate(race, passage, both.vector, both.bm25);
        Ok(ranked(both.into_iter().map(candidate).collect(), pool(race.request)))
    }

    /// Return the weights of both sides for a passage. Without a vector only its words count.
    fn weights(&self, race: &Race<'_, '_>, passage: u32) -> Weights {
        let weights = race.scale.weights;
        let is_lacking = self.passages[passage as usize].vector == Standing::LACKING;
        if is_lacking && race.request.ranking == Ranking::Best {
            Weights { vector: 0.0, bm25: weights.bm25 + weights.vector }
        } else {
            weights
        }
    }

    fn candidate(&self, race: &Race<'_, '_>, passage: u32, cosine: f64, bm25: f64) -> Candidate {
        let weights = self.weights(race, passage);
        let blend = Blend { vector: race.scale.value(cosine), bm25 };
        let segment = self.passages[passage as usize].segment;
        let age = race.request.ranking.age_factor(self.entries[segment as usize].timestamp, race.now);
        let role = race.request.ranking.role_factor(self.roles.name(self.entries[segment as usize].role));
        let rank = blend.score(weights) * age * role;
        // As OpenClaw tests a minimum; a score of our own takes the place of it once all candidates are known.
        let score = calibrate(rank, blend.weight(weights));
        let answer = Answer::default();
        Candidate { segment, passage, cosine: cosine.max(0.0), blend, weights, age, rank, score, answer, distance: 0 }
    }
}

impl Warm {
    /// The share of its best neighbor's rank that a segment gets, of the share that a short one gets.
    ///
    /// A short remark is about what was said around it; a long answer says itself what it is about, and would rise with
    /// every question that it stands beside.
    fn share(&self, short: f64, segment: u32) -> f64 {
        /// Bytes up to which a segment counts as short.
        const SHORT: f64 = 360.0;
        let last = self.entries[segment as usize].passages.end.saturating_sub(1);
        let bytes = self.passages.get(last as usize).map_or(0, |passage| passage.end);
        short * (SHORT / f64::from(bytes)).min(1.0)
    }

    /// The candidates with a share of their best neighbor's rank, and the neighbors that this makes candidates: those
    /// that are a little like the query, too. One neighbor lifts, not their number: several that are not much like the
    /// query do not rise above the one that is.
    ///
    /// Messages around a good match belong to it: an answer rarely repeats the words of its question.
    fn smoothed(
        &self,
        race: &Race<'_, '_>,
        spread: f64,
        candidates: Vec<Candidate>,
        bm25: impl Fn(u32) -> f64,
        admit: impl Fn(u32) -> bool,
    ) -> Result<Vec<Candidate>> {
        const REACH: usize = 2;
        /// Neighbors that say the same again do not lift each other: repeating a thing must not make it matter more.
        const ALIKE: f64 = 0.8;
        /// The share that a short segment gets. Vectors know by themselves what a remark is about.
        const OF_WORDS: f64 = 0.4;
        const OF_MEANING: f64 = 0.3;
        /// The part of a neighbor's rank that counts, by its distance.
        const BY_DISTANCE: [f64; REACH] = [1.0, 0.6];
        let cosine = race.vector.map(|vector| self.rows.cosines(vector)).transpose()?;
        let likeness = self.likeness(spread);
        let mut all = candidates;
        let first_passage = |segment: u32| self.entries[segment as usize].passages.start;
        let mut places: FxHashMap<u32, usize> = all.iter().map(|candidate| candidate.segment).zip(0..).collect();
        // Those around a lesser one are not worth a look.
        let around = all.iter().take(BEST).flat_map(|candidate| {
            let neighbors = self.neighbors(candidate.segment, REACH).map(|(neighbor, _)| neighbor);
            neighbors.filter(|&neighbor| likeness(candidate.passage, first_passage(neighbor)) <= ALIKE)
        });
        let mut others: Vec<u32> =
            around.filter(|neighbor| !places.contains_key(neighbor)).map(first_passage).collect();
        others.retain(|&passage| admit(passage));
        others.sort_unstable();
        others.dedup();
        for passage in others {
            let (cosine, bm25) = (cosine.as_ref().map_or(0.0, |cosine| cosine(passage)), bm25(passage));
            if race.scale.value(cosine) > 0.0 || bm25 > 0.0 {
                let newcomer = self.candidate(race, passage, cosine, bm25);
                places.insert(newcomer.segment, all.len());
                all.push(newcomer);
            }
        }
        let short = if race.scale.is_centered() { OF_MEANING } else { OF_WORDS };
        let own: Vec<f64> = all.iter().map(|candidate| candidate.rank).collect();
        let passages: Vec<u32> = all.iter().map(|candidate| candidate.passage).collect();
        for candidate in &mut all {
            let passage = candidate.passage;
            let beside = self.neighbors(candidate.segment, REACH);
            let beside = beside.filter_map(|(neighbor, distance)| Some((*places.get(&neighbor)?, distance)));
            let others = beside.filter(|&(place, _)| likeness(passage, passages[place]) <= ALIKE);
            let best = others.map(|(place, distance)| own[place] * BY_DISTANCE[distance - 1]).fold(0.0, f64::max);
            candidate.rank += self.share(short, candidate.segment) * best;
        }
        // What is best by itself stays the best: a search for a text finds that text first.
        let best = (0..own.len()).reduce(|best, place| if own[place] > own[best] { place } else { best });
        if let Some(best) = best {
            all[best].rank = all.iter().map(|candidate| candidate.rank).fold(0.0, f64::max);
            all.swap(0, best);
        }
        self.lift_results(race, &mut all, cosine.as_ref(), &bm25, &admit);
        Ok(ranked(all, pool(race.request)))
    }

    /// Give the results of calls that are among the best most of the rank of their calls: what a tool printed rarely
    /// repeats what it was asked.
    fn lift_results(
        &self,
        race: &Race<'_, '_>,
        all: &mut Vec<Candidate>,
        cosine: Option<&impl Fn(u32) -> f64>,
        bm25: &impl Fn(u32) -> f64,
        admit: &impl Fn(u32) -> bool,
    ) {
        const SHARE: f64 = 0.9;
        /// Passages at most of a long result of which the most similar one is chosen.
        const LOOKED_AT: usize = 64;
        let mut best: Vec<(u32, f64)> = all.iter().map(|candidate| (candidate.segment, candidate.rank)).collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (call, rank) in best.into_iter().take(BEST) {
            // What is damaged is noted when it is read for its own sake.
            let Ok(Some(result)) = self.result_of(call) else { continue };
            let passages = self.entries[result as usize].passages.clone().take(LOOKED_AT).filter(|&each| admit(each));
            let candidates = passages.map(|passage| {
                self.candidate(race, passage, cosine.map_or(0.0, |cosine| cosine(passage)), bm25(passage))
            });
            let Some(mut found) = candidates.reduce(|a, b| if b.rank > a.rank { b } else { a }) else { continue };
            found.rank = found.rank.max(SHARE * rank);
            match all.iter_mut().find(|candidate| candidate.segment == result) {
                Some(known) => known.rank = known.rank.max(found.rank),
                None => all.push(found),
            }
        }
    }
}

/// Give candidates their scores, given what speaks for the query being answered.
pub(crate) fn score(candidates: &mut [Candidate], evidence: Evidence) {
    // A score must not depend on how many results are wanted.
    let answer = Answer::new(evidence, candidates.iter().take(POOL).map(|candidate| candidate.rank));
    for candidate in candidates {
        candidate.answer = answer;
        // The clock must not show in the last digits of what does not depend on it.
        candidate.score = (answer.score(candidate.rank) * DIGITS).round() / DIGITS;
    }
}

/// Return the number of candidates for a request.
pub(crate) fn pool(request: &Request<'_>) -> usize {
    match request.ranking {
        Ranking::Best => POOL.max(request.limit).max(request.pool),
        Ranking::OpenClaw => request.limit.saturating_mul(2 * SEED_POOL),
    }
}

/// Best first, each segment once, by its best passage; so many of them.
fn ranked(mut candidates: Vec<Candidate>, count: usize) -> Vec<Candidate> {
    candidates.sort_by(|a, b| b.rank.total_cmp(&a.rank));
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    candidates.retain(|candidate| seen.insert(candidate.segment));
    candidates.truncate(count);
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::embed;
    use crate::store::log::segment::Segment;
    use crate::store::log::vectors::Saved;
    use crate::store::model::Model;
    use crate::store::warm::tier::{Draft, digest};
    use proptest::prelude::*;

    fn warm(texts: &[String]) -> Warm {
        let mut warm = Warm::new(Model::hash().dim(), Model::hash().own_weight()).expect("a length that is allowed");
        let draft = |(number, text): (usize, &String)| {
            let segment = Segment {
                id: number.to_string(),
                session: "s".to_owned(),
                session_key: None,
                timestamp: number as f64 * 1e9,
                role: ["user", "assistant"][number % 2].to_owned(),
                content: text.clone(),
                tokens: 1,
                metadata: "{}".to_owned(),
            };
            Draft::new(segment, digest(text), 0, 0)
        };
        let mut drafts: Vec<Draft> = texts.iter().enumerate().map(draft).collect();
        embed::embed(&mut drafts, &Model::hash(), &Saved::default());
        drafts.into_iter().try_for_each(|draft| warm.push(draft)).expect("room");
        warm
    }

    fn race<'a, 'b>(warm: &Warm, request: &'a Request<'b>, vector: &'a [f32], now: f64) -> Race<'a, 'b> {
        let scale = warm.worth.scale(request.query, 1.0, 0.0);
        Race { request, vector: Some(vector), scale, now }
    }

    /// The scores of all passages, best first.
    fn all_scores(warm: &Warm, request: &Request<'_>, vector: &[f32], now: f64) -> Vec<f64> {
        let texts = warm.texts.query(request.query).best(usize::MAX, |_| true);
        let best = normalize(texts.iter().map(|hit| hit.score)).unwrap_or(1.0);
        let cosine = warm.rows.cosines(vector).expect("a vector");
        let race = race(warm, request, vector, now);
        let score = |passage: u32| {
            let bm25 = texts.iter().find(|hit| hit.number == passage).map_or(0.0, |hit| hit.score / best);
            warm.candidate(&race, passage, cosine(passage), bm25).rank
        };
        let mut scores: Vec<f64> = (0..warm.passages.len() as u32).map(score).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        scores
    }

    /// Return whether the search ended early; if so its result must be that of the full one.
    fn is_decided(texts: &[String], query: &str, limit: usize) -> bool {
        let warm = warm(texts);
        let request = Request { query, limit, ..Request::default() };
        let model = Model::hash();
        let Some(vector) = embed::query(&request, &model).expect("no vector given") else { return false };
        let vector = vector.values;
        let now = 1e12;
        let question = warm.texts.query(query);
        let race = race(&warm, &request, &vector, now);
        let (_, decided) = warm.decided(&race, &question.scores(), &vector, |_| true).expect("searched");
        let Some(decided) = decided else { return false };
        let scores: Vec<f64> = decided.iter().map(|candidate| candidate.rank).collect();
        assert_eq!(scores, all_scores(&warm, &request, &vector, now)[..scores.len()]);
        assert_eq!(scores.len(), pool(&request));
        true
    }

    #[test]
    fn a_search_ends_early_where_words_decide() {
        let texts: Vec<String> = (0..40).map(|n| format!("the deploy of service {n} failed")).collect();
        assert!(is_decided(&texts, "which deploy failed", 3));
        assert!(!is_decided(&texts, "something else altogether", 3));
    }

    #[test]
    fn candidates_of_one_side_get_their_score_of_the_other() {
        let texts: Vec<String> = (0..40).map(|n| format!("the deploy of service {n} failed")).collect();
        let warm = warm(&texts);
        let request = Request { query: "which deploy failed", limit: 1, ..Request::default() };
        let model = Model::hash();
        let vector = embed::query(&request, &model).expect("no vector given").expect("letters").values;
        let race = race(&warm, &request, &vector, 1e12);
        let accumulator = warm.texts.query(request.query).scores();
        let texts = accumulator.best(1, |_| true);
        let others = warm.rows.search(&vector, 2, |passage| passage != texts[0].number).expect("searched").remove(0);
        let united = warm.united(&race, Some(&accumulator), &texts, &others).expect("united");
        assert_eq!(united.len(), 3);
        for candidate in &united {
            let bm25 = accumulator.of(candidate.passage) / texts[0].score;
            assert!((candidate.blend.bm25 - bm25).abs() < 1e-12, "{candidate:?}");
            assert!(candidate.blend.bm25 > 0.0 && candidate.cosine > 0.0, "{candidate:?}");
        }
    }

    proptest! {
        #[test]
        fn an_early_decision_is_that_of_reading_everything(
            texts in prop::collection::hash_set("(alpha|beta|gamma|delta|飞书|消息|x){1,6}( (alpha|beta|gamma|delta)){0,5}", 8..60),
            query in "(alpha|beta|飞书)( (alpha|beta|gamma|消息)){0,4}",
            limit in 1..5_usize,
        ) {
            is_decided(&texts.into_iter().collect::<Vec<_>>(), &query, limit);
        }
    }
}
