//! Plan of a trim.

use rustc_hash::FxHashSet;

use super::protect::{Protection, Reason};
use super::relevance::{has_text, scores};
use super::request::Request;
use crate::facts::{Version, outdated};
use crate::messages::{Conversation, Indices, Kind, MessageView, Role, Unit};
use crate::text::{trim_js, utf16_len};

/// A shorter query says nothing about what is relevant.
const SHORTEST_QUERY: usize = 3;
/// Tokens up to which a message is few words. What is longer was pasted more often than said.
const FEW_WORDS: u64 = 256;
/// Lead of a short message of a person over others, as a share of the best score. A relevant answer has more than that.
const ADVANCE: f64 = 0.8;
/// Lead of the newest tool output over the oldest, as a share of the best score. Much old output shares a word with the
/// question; without a lead it takes the place of what the agent has just seen.
const FRESHNESS: f64 = 0.5;

/// Reason for the removal of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// It was trimmed before.
    Sticky,
    /// Something said later took its place.
    Replaced,
    /// It was least relevant to the query.
    Relevance,
    /// It was the oldest.
    Age,
}

impl Layer {
    /// Return the name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sticky => "sticky",
            Self::Replaced => "replaced",
            Self::Relevance => "relevance",
            Self::Age => "age",
        }
    }

    /// Return the reason as a sentence.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Sticky => "trimmed before",
            Self::Replaced => "replaced by something said later",
            Self::Relevance => "least relevant to the query",
            Self::Age => "oldest",
        }
    }
}

/// A unit that leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Removed {
    /// Index among the units.
    pub unit: u32,
    /// Its key.
    pub key: u64,
    /// Its messages.
    pub messages: Indices,
    /// Tokens of the unit.
    pub tokens: u64,
    /// Relevance to the query; 0 if it was not scored.
    pub score: f64,
    /// Reason for the removal.
    pub layer: Layer,
}

/// Plan of a trim.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The units that leave, in the order that was decided.
    pub removed: Vec<Removed>,
    /// The messages that had to stay, and why; none if nothing had to leave.
    pub protected: Vec<(u32, Reason)>,
    /// Tokens of the conversation.
    pub tokens_before: u64,
    /// Tokens left after the trim.
    pub tokens_after: u64,
    /// True if a trim is due but waits until the tools have finished.
    pub is_deferred: bool,
    /// Number of units trimmed before that are still there, protected ones included.
    pub recognized: usize,
}

impl Plan {
    /// Return a plan for what fits as it is.
    fn nothing(tokens: u64) -> Self {
        Self {
            removed: Vec::new(),
            protected: Vec::new(),
            tokens_before: tokens,
            tokens_after: tokens,
            is_deferred: false,
            recognized: 0,
        }
    }

    /// Return the messages that leave, in order.
    #[must_use]
    pub fn removed_messages(&self) -> Vec<u32> {
        let mut messages: Vec<u32> = self.removed.iter().flat_map(|removed| &removed.messages).copied().collect();
        messages.sort_unstable();
        messages
    }
}

/// Decide what leaves a conversation.
///
/// The same request for what is left of it afterwards takes nothing more.
#[must_use]
pub fn plan(conversation: &Conversation, request: &Request<'_>) -> Plan {
    let costs = costs(&conversation.units, request);
    let tokens = costs.iter().sum();
    if request.sticky.is_empty() && tokens <= request.limit {
        return Plan::nothing(tokens);
    }
    let protection = Protection::new(conversation, request);
    let mut trim = Trim::new(conversation, costs, &protection);
    let mut recognized = 0;
    if !request.sticky.is_empty() {
        let sticky: FxHashSet<u64> = request.sticky.iter().copied().collect();
        let is_sticky: Vec<bool> = conversation.units.iter().map(|unit| sticky.contains(&unit.key)).collect();
        recognized = is_sticky.iter().filter(|&&is_sticky| is_sticky).count();
        trim.remove_all(Layer::Sticky, |unit| is_sticky[unit]);
    }
    if trim.tokens > request.limit {
        if protection.is_running && request.ceiling.is_some_and(|ceiling| trim.tokens <= ceiling) {
            trim.is_deferred = true;
        } else {
            trim.by_correction(request);
            trim.by_relevance(request);
            trim.by_age(request);
        }
    }
    let protected = (0..).zip(&protection.reasons).filter_map(|(index, reason)| Some((index, (*reason)?)));
    Plan {
        protected: protected.collect(),
        tokens_before: trim.tokens_before,
        tokens_after: trim.tokens,
        is_deferred: trim.is_deferred,
        recognized,
        removed: trim.removed,
    }
}

/// Return the tokens of each unit.
fn costs(units: &[Unit], request: &Request<'_>) -> Vec<u64> {
    let Some(costs) = request.costs else { return units.iter().map(|unit| unit.tokens).collect() };
    let cost = |&index: &u32| costs.get(index as usize).copied().map_or(0, u64::from);
    units.iter().map(|unit| unit.messages.iter().map(cost).sum()).collect()
}

/// Return what a person or a model said in a message that is one text.
fn version(view: &MessageView) -> Option<Version<'_>> {
    let role = match view.role {
        Role::User if !view.is_summary && !view.is_recalled => "user",
        Role::Assistant => "assistant",
        _ => return None,
    };
    match &view.parts[..] {
        [part] if part.kind == Kind::Text => Some(Version { role, text: part.text.as_deref()?.body() }),
        _ => None,
    }
}

/// A trim under way.
struct Trim<'a> {
    conversation: &'a Conversation,
    /// Tokens of each unit.
    costs: Vec<u64>,
    tokens_before: u64,
    tokens: u64,
    /// Units that may leave and have not, oldest first.
    candidates: Vec<usize>,
    removed: Vec<Removed>,
    is_deferred: bool,
}

impl<'a> Trim<'a> {
    fn new(conversation: &'a Conversation, costs: Vec<u64>, protection: &Protection) -> Self {
        let units = &conversation.units;
        let tokens = costs.iter().sum();
        let candidates = (0..units.len()).filter(|&unit| !protection.is_protected(&units[unit])).collect();
        Self { conversation, costs, tokens_before: tokens, tokens, candidates, removed: Vec::new(), is_deferred: false }
    }

    fn remove(&mut self, unit: usize, score: f64, layer: Layer) {
        let found = &self.conversation.units[unit];
        let tokens = self.costs[unit];
        self.tokens -= tokens;
        self.removed.push(Removed {
            unit: unit as u32,
            key: found.key,
            messages: found.messages.clone(),
            tokens,
            score,
            layer,
        });
    }

    fn remove_all(&mut self, layer: Layer, leaves: impl Fn(usize) -> bool) {
        let (leaving, staying) = self.candidates.iter().partition(|&&unit| leaves(unit));
        self.candidates = staying;
        for unit in Vec::into_iter(leaving) {
            self.remove(unit, 0.0, layer);
        }
    }

    /// Return whether a unit is a short message of a person: it costs little, and often holds a decision.
    fn is_said(&self, unit: usize) -> bool {
        let Conversation { units, views, .. } = self.conversation;
        let unit = &units[unit];
        unit.tokens <= FEW_WORDS && unit.messages.iter().all(|&index| views[index as usize].is_person())
    }

    /// Remove what a person took back: it costs little, and misleads a model that reads it beside what holds.
    fn by_correction(&mut self, request: &Request<'_>) {
        if !request.spares_people {
            return;
        }
        let Conversation { units, views, .. } = self.conversation;
        let (indices, said): (Vec<usize>, Vec<Version<'_>>) =
            views.iter().enumerate().filter_map(|(index, view)| Some((index, version(view)?))).unzip();
        let outdated: FxHashSet<usize> =
            indices.into_iter().zip(outdated(&said)).filter_map(|(index, is_out)| is_out.then_some(index)).collect();
        let is_outdated = |unit: usize| {
            let mut messages = units[unit].messages.iter();
            messages.all(|&index| outdated.contains(&(index as usize)))
        };
        if !outdated.is_empty() {
            self.remove_all(Layer::Replaced, is_outdated);
        }
    }

    /// Remove the least relevant units first, among equals the oldest. Units without text are not scored.
    fn by_relevance(&mut self, request: &Request<'_>) {
        if self.tokens <= request.target || utf16_len(trim_js(request.query)) < SHORTEST_QUERY {
            return;
        }
        let Conversation { units, views, .. } = self.conversation;
        let (readable, unreadable): (Vec<usize>, Vec<usize>) =
            self.candidates.iter().partition(|&&unit| has_text(&units[unit], views));
        self.candidates = unreadable;
        let judged: Vec<&Unit> = readable.iter().map(|&unit| &units[unit]).collect();
        let scores = scores(&judged, views, request.query);
        let best = scores.iter().copied().fold(0.0, f64::max);
        // Where nothing is relevant, it still leaves last.
        let advance = (ADVANCE * best).max(f64::MIN_POSITIVE);
        let freshness = |unit: usize| FRESHNESS * best * unit as f64 / units.len() as f64;
        let lead = |unit: usize| {
            if !request.spares_people {
                0.0
            } else if self.is_said(unit) {
                advance
            } else if units[unit].is_group {
                freshness(unit)
            } else {
                0.0
            }
        };
        let mut ranked: Vec<(f64, f64, usize)> =
            scores.into_iter().zip(readable).map(|(score, unit)| (score + lead(unit), score, unit)).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (_, score, unit) in ranked {
            if self.tokens <= request.target {
                break;
            }
            self.remove(unit, score, Layer::Relevance);
        }
    }

    /// Remove the oldest units first, short messages of a person last if they are to be spared.
    fn by_age(&mut self, request: &Request<'_>) {
        let mut candidates = std::mem::take(&mut self.candidates);
        if request.spares_people {
            candidates.sort_by_key(|&unit| self.is_said(unit));
        }
        for unit in candidates {
            if self.tokens <= request.target {
                break;
            }
            self.remove(unit, 0.0, Layer::Age);
        }
    }
}
