//! Pairs of calls and results.

use rustc_hash::FxHashMap;

use super::conversation::Conversation;
use super::format::Layout;
use super::view::{MessageView, Part, Role};

/// A call, and the result that answers it.
pub(super) struct Call<'a> {
    pub(super) view: usize,
    /// Number of calls before it in its message.
    pub(super) ordinal: u32,
    pub(super) id: &'a str,
    pub(super) answer: Option<usize>,
    /// It needs no result: the model's turn was cut off, or what answers it is not known.
    pub(super) is_aborted: bool,
}

/// A result, and what it is to the calls before it.
pub(super) struct Answer<'a> {
    pub(super) view: usize,
    /// Number of results before it in its message.
    pub(super) ordinal: u32,
    pub(super) id: &'a str,
    pub(super) fate: Fate,
    is_stand_in: bool,
}

/// Relation of a result to the calls before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It answers this call.
    Answers(usize),
    /// It answers a call that has another answer.
    Repeats,
    /// There is no such call before it.
    Orphan,
    /// It need not have a call: there are no ids to tell, the model's turn was cut off, or what it belongs to is not
    /// known.
    Free,
}

/// All calls and results of a conversation.
pub(super) struct Pairs<'a> {
    pub(super) layout: Layout,
    pub(super) calls: Vec<Call<'a>>,
    pub(super) results: Vec<Answer<'a>>,
    views: &'a [MessageView],
    /// For each message that is a result, where the run of such messages begins that it stands in.
    runs: Vec<usize>,
    /// Index of the trailing calls that still run; the length of the list if there are none.
    running: usize,
}

impl<'a> Pairs<'a> {
    /// Create the pairs of a conversation. A result answers the nearest call before it: some hosts count their ids from
    /// 0 in every turn. Of several answers the first counts, but none of the text `stand_in` while there is another.
    ///
    /// A `stand_in` is given to repair. Then calls and results need nothing that stand in a message with something that
    /// is not known, or whose counterpart does.
    pub(super) fn new(conversation: &'a Conversation, stand_in: Option<&str>) -> Self {
        let layout = conversation.format.rules().layout;
        let views = &*conversation.views;
        let runs = if layout == Layout::Messages { runs(views) } else { Vec::new() };
        let mut pairs = Self { layout, calls: Vec::new(), results: Vec::new(), views, runs, running: 0 };
        let mut nearest = FxHashMap::default();
        let mut turn = 0;
        for (index, view) in views.iter().enumerate() {
            // What the model says in one turn is one message, but items of their own.
            if layout != Layout::Items
                || view.role != Role::Assistant
                || index == 0
                || views[index - 1].role != view.role
            {
                turn = index;
            }
            let is_left_alone = stand_in.is_some() && view.is_opaque();
            if is_left_alone && layout == Layout::Blocks && is_users(view) {
                // What is not known may answer the calls before it.
                let waiting = pairs.calls.iter().rposition(|call| call.view + 1 < index).map_or(0, |last| last + 1);
                (waiting..pairs.calls.len()).for_each(|call| pairs.release(call));
            }
            for (ordinal, result) in view.results().enumerate() {
                if is_left_alone && let Some(&call) = result.id.as_deref().and_then(|id| nearest.get(id)) {
                    pairs.release(call);
                }
                pairs.answer(index, ordinal as u32, result, &nearest, stand_in);
            }
            for id in view.opaque_ids() {
                let call = *nearest.entry(&**id).or_insert(pairs.calls.len());
                if call == pairs.calls.len() {
                    // Not a call, but what a result of that id belongs to.
                    pairs.calls.push(Call { view: index, ordinal: 0, id, answer: None, is_aborted: true });
                }
                pairs.release(call);
            }
            for (ordinal, call) in view.calls().enumerate() {
                let Some(id) = call.id.as_deref().filter(|_| layout != Layout::Messages || !is_nameless(call)) else {
                    continue;
                };
                let known = nearest.insert(id, pairs.calls.len());
                // An id twice in one turn counts as one call.
                if let Some(earlier) = known.filter(|&known| pairs.calls[known].view >= turn) {
                    nearest.insert(id, earlier);
                    continue;
                }
                let (ordinal, is_aborted) = (ordinal as u32, view.is_aborted || is_left_alone);
                pairs.calls.push(Call { view: index, ordinal, id, answer: None, is_aborted });
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
        result: &'a Part,
        nearest: &FxHashMap<&'a str, usize>,
        stand_in: Option<&str>,
    ) {
        let own = self.results.len();
        let is_stand_in = stand_in.is_some_and(|text| result.text.as_ref().is_some_and(|found| found.body() == text));
        let is_message = self.layout == Layout::Messages;
        let fate = match result.id.as_deref() {
            None => Fate::Orphan,
            Some(_) if stand_in.is_some() && self.views[view].is_opaque() => Fate::Free,
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

    /// Let a call need no result.
    fn release(&mut self, call: usize) {
        let call = &mut self.calls[call];
        call.is_aborted = true;
        if let Some(answer) = call.answer.take() {
            self.results[answer].fate = Fate::Free;
        }
    }

    /// Return the relation of a result to its call, which it answers unless another result does.
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

    /// Return whether an answer stands where the provider wants it.
    pub(super) fn is_adjacent(&self, call: &Call<'_>, answer: &Answer<'_>) -> bool {
        match self.layout {
            Layout::Blocks => answer.view == call.view + 1 && is_users(&self.views[answer.view]),
            Layout::Messages => self.runs[answer.view] == call.view + 1,
            Layout::Items => true,
        }
    }

    /// Return the call that a result answers from where the provider wants it.
    pub(super) fn caller(&self, answer: &Answer<'_>) -> Option<&Call<'a>> {
        let Fate::Answers(call) = answer.fate else { return None };
        Some(&self.calls[call]).filter(|call| self.is_adjacent(call, answer))
    }

    /// Return whether the list ends with a call, so that its tools may still be running.
    pub(super) fn is_running(&self, call: &Call<'_>) -> bool {
        call.view >= self.running
    }

    /// Return the results of one message.
    pub(super) fn results_of(&self, view: usize) -> &[Answer<'a>] {
        let start = self.results.partition_point(|answer| answer.view < view);
        let count = self.results[start..].iter().take_while(|answer| answer.view == view).count();
        &self.results[start..start + count]
    }

    /// Return the calls of one message that need an answer.
    pub(super) fn calls_of(&self, view: usize) -> impl Iterator<Item = &Call<'a>> {
        let start = self.calls.partition_point(|call| call.view < view);
        self.calls[start..].iter().take_while(move |call| call.view == view).filter(|call| !call.is_aborted)
    }
}

/// Return whether a message is on the user's side, where results stand.
pub(super) fn is_users(view: &MessageView) -> bool {
    matches!(view.role, Role::User | Role::Tool)
}

/// Return whether all of a message is a result that belongs to a call.
pub(super) fn is_answer(view: &MessageView) -> bool {
    view.role == Role::Tool && view.results().any(|result| !is_nameless(result))
}

/// Return whether an id is only made up. Where calls and results without ids are messages, they are paired by order.
fn is_nameless(part: &Part) -> bool {
    part.id.is_some() && part.own_id().is_none()
}

fn runs(views: &[MessageView]) -> Vec<usize> {
    let mut start = 0;
    let run = |(index, view): (usize, &MessageView)| {
        start = if !is_answer(view) {
            usize::MAX
        } else if index == 0 || start == usize::MAX {
            index
        } else {
            start
        };
        start
    };
    views.iter().enumerate().map(run).collect()
}
