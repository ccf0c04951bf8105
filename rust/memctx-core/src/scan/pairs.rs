//! Which result answers which call.

use rustc_hash::FxHashMap;

use super::conversation::Conversation;
use super::shape::Shape;
use super::view::{Piece, Role, View};

/// Where a shape has its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Blocks of the one user's message that follows the calls.
    Blocks,
    /// Messages of their own that follow the calls side by side.
    Messages,
    /// Items of their own, anywhere behind their calls.
    Items,
}

impl Layout {
    pub(super) const fn of(shape: Shape) -> Self {
        match shape {
            Shape::Anthropic | Shape::Gemini | Shape::Bedrock => Self::Blocks,
            Shape::OpenAi | Shape::Pi => Self::Messages,
            Shape::Responses => Self::Items,
        }
    }
}

/// A call, and the result that answers it.
pub(super) struct Call<'a> {
    pub(super) view: usize,
    /// How many calls stand before it in its message.
    pub(super) ordinal: u32,
    pub(super) id: &'a str,
    pub(super) answer: Option<usize>,
    pub(super) is_aborted: bool,
}

/// A result, and what it is to the calls before it.
pub(super) struct Answer<'a> {
    pub(super) view: usize,
    /// How many results stand before it in its message.
    pub(super) ordinal: u32,
    pub(super) id: &'a str,
    pub(super) fate: Fate,
    is_stand_in: bool,
}

/// What a result is to the calls before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It answers this call.
    Answers(usize),
    /// It answers a call that has another answer.
    Repeats,
    /// There is no such call before it.
    Orphan,
    /// It need not have a call: there are no ids to tell, or the model's turn was cut off.
    Free,
}

/// All calls and results of a conversation.
pub(super) struct Pairs<'a> {
    pub(super) layout: Layout,
    pub(super) calls: Vec<Call<'a>>,
    pub(super) results: Vec<Answer<'a>>,
    views: &'a [View],
    /// For each message that is a result, where the run of such messages begins that it stands in.
    runs: Vec<usize>,
    /// Where the calls begin with which the list ends; its length if it ends with none.
    running: usize,
}

impl<'a> Pairs<'a> {
    /// The pairs of a conversation. A result answers the nearest call before it: some hosts count their ids from 0 in
    /// every turn. Of several answers the first counts, but none of the text `stand_in` while there is another.
    pub(super) fn new(conversation: &'a Conversation, stand_in: Option<&str>) -> Self {
        let layout = Layout::of(conversation.shape);
        let views = &*conversation.views;
        let runs = if layout == Layout::Messages { runs(views) } else { Vec::new() };
        let mut pairs = Self { layout, calls: Vec::new(), results: Vec::new(), views, runs, running: 0 };
        let mut nearest = FxHashMap::default();
        let mut turn = 0;
        for (place, view) in views.iter().enumerate() {
            // What the model says in one turn is one message, but items of their own.
            if layout != Layout::Items
                || view.role != Role::Assistant
                || place == 0
                || views[place - 1].role != view.role
            {
                turn = place;
            }
            for (ordinal, result) in view.results().enumerate() {
                pairs.answer(place, ordinal as u32, result, &nearest, stand_in);
            }
            for (ordinal, call) in view.calls().enumerate() {
                let Some(id) = call.id.as_deref().filter(|_| layout != Layout::Messages || !is_nameless(call)) else {
                    continue;
                };
                let known = nearest.insert(id, pairs.calls.len());
                // An id twice in one turn is one call to whoever looks for its result.
                if let Some(twin) = known.filter(|&known| pairs.calls[known].view >= turn) {
                    nearest.insert(id, twin);
                    continue;
                }
                let (ordinal, is_aborted) = (ordinal as u32, view.is_aborted);
                pairs.calls.push(Call { view: place, ordinal, id, answer: None, is_aborted });
            }
        }
        pairs.running = match layout {
            Layout::Items => views.len() - views.iter().rev().take_while(|view| view.role == Role::Assistant).count(),
            Layout::Blocks | Layout::Messages => views.len().saturating_sub(1),
        };
        pairs
    }

    fn answer(
        &mut self,
        view: usize,
        ordinal: u32,
        result: &'a Piece,
        nearest: &FxHashMap<&'a str, usize>,
        stand_in: Option<&str>,
    ) {
        let own = self.results.len();
        let is_stand_in = stand_in.is_some_and(|text| result.text.as_ref().is_some_and(|found| found.body() == text));
        let is_message = self.layout == Layout::Messages;
        let fate = match result.id.as_deref() {
            None => Fate::Orphan,
            Some(_) if is_message && (is_nameless(result) || self.views[view].role != Role::Tool) => Fate::Free,
            Some(id) => match nearest.get(id).copied() {
                None => Fate::Orphan,
                Some(call) if self.calls[call].is_aborted => Fate::Free,
                Some(call) => self.taken(call, own, is_stand_in),
            },
        };
        let id = result.id.as_deref().unwrap_or_default();
        self.results.push(Answer { view, ordinal, id, fate, is_stand_in });
    }

    /// What a result is to its call, which it answers unless another does.
    fn taken(&mut self, call: usize, result: usize, is_stand_in: bool) -> Fate {
        let other = self.calls[call].answer;
        if other.is_some_and(|other| is_stand_in || !self.results[other].is_stand_in) {
            return Fate::Repeats;
        }
        if let Some(other) = other {
            self.results[other].fate = Fate::Repeats;
        }
        self.calls[call].answer = Some(result);
        Fate::Answers(call)
    }

    /// Whether an answer stands where the provider wants it.
    pub(super) fn is_adjacent(&self, call: &Call<'_>, answer: &Answer<'_>) -> bool {
        match self.layout {
            Layout::Blocks => answer.view == call.view + 1 && is_users(&self.views[answer.view]),
            Layout::Messages => self.runs[answer.view] == call.view + 1,
            Layout::Items => true,
        }
    }

    /// The call that a result answers from where the provider wants it.
    pub(super) fn caller(&self, answer: &Answer<'_>) -> Option<&Call<'a>> {
        let Fate::Answers(call) = answer.fate else { return None };
        Some(&self.calls[call]).filter(|call| self.is_adjacent(call, answer))
    }

    /// Whether the list ends with a call, so that its tools may still be running.
    pub(super) fn is_running(&self, call: &Call<'_>) -> bool {
        call.view >= self.running
    }

    /// The results of one message.
    pub(super) fn results_of(&self, view: usize) -> &[Answer<'a>] {
        let start = self.results.partition_point(|answer| answer.view < view);
        let count = self.results[start..].iter().take_while(|answer| answer.view == view).count();
        &self.results[start..start + count]
    }

    /// The calls of one message that need an answer.
    pub(super) fn calls_of(&self, view: usize) -> &[Call<'a>] {
        let start = self.calls.partition_point(|call| call.view < view);
        let count = self.calls[start..].iter().take_while(|call| call.view == view && !call.is_aborted).count();
        &self.calls[start..start + count]
    }
}

/// Whether a message is on the user's side, where results stand.
pub(super) fn is_users(view: &View) -> bool {
    matches!(view.role, Role::User | Role::Tool)
}

/// Whether all of a message is a result that belongs to a call.
pub(super) fn is_answer(view: &View) -> bool {
    view.role == Role::Tool && view.results().any(|result| !is_nameless(result))
}

/// Whether an id is only made up. Where calls and results without ids are messages, nobody asks which are whose.
fn is_nameless(piece: &Piece) -> bool {
    piece.id.is_some() && piece.own_id().is_none()
}

fn runs(views: &[View]) -> Vec<usize> {
    let mut start = 0;
    let run = |(place, view): (usize, &View)| {
        start = if !is_answer(view) {
            usize::MAX
        } else if place == 0 || start == usize::MAX {
            place
        } else {
            start
        };
        start
    };
    views.iter().enumerate().map(run).collect()
}
