//! Mending calls and results that do not belong together.
//!
//! A plan says what to do with the host's messages; whoever has them carries it out. No result leaves that has a call
//! before it and no other answer, no id changes, and a plan for what was mended is none.

use super::conversation::Conversation;
use super::pairs::{self, Call, Fate, Layout, Pairs, is_answer, is_users};
use super::rules::{dangling_reasoning, own, result_behind_text, results_come_first, with_id};
use super::view::{Kind, Role, View};

/// What a result reads that stands for one nobody has.
pub const STAND_IN: &str = "[memctx] The result of this call is not in the conversation.";

/// What to do, from the first message of the mended list to its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What the mended list is made of.
    pub steps: Vec<Step>,
    /// What is different in it, in the order of the messages that were given.
    pub changes: Vec<Change>,
}

/// One message of the mended list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A message as it is, by its place in the list.
    Keep(u32),
    /// A message with these results in front instead of its own; without a message, one of the results alone.
    Answer(Option<u32>, Vec<Answer>),
    /// A message of which nothing is left, but whose place in the order of roles must be held.
    Hold(u32),
}

/// A result of the mended list, by the place of its message and how many of its kind stand before it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A result that is there.
    Given(u32, u32),
    /// One that stands for the missing result of a call.
    Missing(u32, u32),
}

/// How something was mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mend {
    /// A result without a call left.
    DroppedOrphan,
    /// A second result for a call left.
    DroppedDuplicate,
    /// A result went to its call.
    MovedResult,
    /// A call got a result that stands for the missing one.
    AddedResult,
    /// The results of a message went in front of its text.
    ReorderedResults,
    /// Reasoning left that had lost what it led to.
    DroppedReasoning,
}

impl Mend {
    /// Its name; it stays the same in every version.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::DroppedOrphan => "dropped-orphan",
            Self::DroppedDuplicate => "dropped-duplicate",
            Self::MovedResult => "moved-result",
            Self::AddedResult => "added-result",
            Self::ReorderedResults => "reordered-results",
            Self::DroppedReasoning => "dropped-reasoning",
        }
    }

    const fn sentence(self) -> &'static str {
        match self {
            Self::DroppedOrphan => "dropped a tool result whose call does not stand before it",
            Self::DroppedDuplicate => "dropped a second tool result for a call that has one",
            Self::MovedResult => "moved a tool result behind its call",
            Self::AddedResult => "answered a tool call that has no result by an error",
            Self::ReorderedResults => "put tool results in front of the text of their message",
            Self::DroppedReasoning => "dropped a reasoning item that is not followed by what it led to",
        }
    }
}

/// Something that was mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The message of the call, the result or the reasoning, by its place in the list that was given.
    pub index: u32,
    /// How many of its kind stand before it in its message.
    pub ordinal: u32,
    /// What was done.
    pub mend: Mend,
    /// The id of the call or the result, where there is one.
    pub id: Option<Box<str>>,
}

impl Change {
    fn new(mend: Mend, view: usize, ordinal: u32, id: &str) -> Self {
        Self { index: view as u32, ordinal, mend, id: own(id).map(Into::into) }
    }

    /// The change in words.
    #[must_use]
    pub fn message(&self) -> String {
        with_id(self.mend.sentence(), self.id.as_deref())
    }
}

/// How to mend a conversation; nothing if there is nothing to mend.
#[must_use]
pub fn repair(conversation: &Conversation) -> Option<Plan> {
    let mut mending = Mending {
        conversation,
        pairs: Pairs::new(conversation, Some(STAND_IN)),
        steps: Vec::with_capacity(conversation.views.len()),
        changes: Vec::new(),
    };
    mending.note_results();
    match mending.pairs.layout {
        Layout::Blocks => mending.lay_blocks(),
        Layout::Messages => mending.lay_messages(),
        Layout::Items => mending.lay_items(),
    }
    let Mending { steps, mut changes, .. } = mending;
    changes.sort_by_key(|change| change.index);
    (!changes.is_empty()).then_some(Plan { steps, changes })
}

struct Mending<'a> {
    conversation: &'a Conversation,
    pairs: Pairs<'a>,
    steps: Vec<Step>,
    changes: Vec<Change>,
}

impl<'a> Mending<'a> {
    fn views(&self) -> &'a [View] {
        &self.conversation.views
    }

    /// Write down what happens to results that cannot stay where they are.
    fn note_results(&mut self) {
        for result in &self.pairs.results {
            let mend = match result.fate {
                Fate::Orphan => Mend::DroppedOrphan,
                Fate::Repeats => Mend::DroppedDuplicate,
                Fate::Answers(_) if self.pairs.caller(result).is_none() => Mend::MovedResult,
                Fate::Answers(_) | Fate::Free => continue,
            };
            self.changes.push(Change::new(mend, result.view, result.ordinal, result.id));
        }
    }

    /// What answers the calls of a message beside the results that stand where they should.
    fn absent(&mut self, caller: usize) -> Vec<Answer> {
        let mut absent = Vec::new();
        for call in self.pairs.calls_of(caller) {
            match call.answer.map(|answer| &self.pairs.results[answer]) {
                Some(result) if self.pairs.is_adjacent(call, result) => {}
                Some(result) => absent.push(Answer::Given(result.view as u32, result.ordinal)),
                None => {
                    absent.push(Answer::Missing(call.view as u32, call.ordinal));
                    self.changes.push(Change::new(Mend::AddedResult, call.view, call.ordinal, call.id));
                }
            }
        }
        absent
    }

    fn lay_blocks(&mut self) {
        let views = self.views();
        let mut emptied = Vec::new();
        for (place, view) in views.iter().enumerate() {
            let caller = place.checked_sub(1).filter(|_| is_users(view));
            let absent = caller.map(|caller| self.absent(caller)).unwrap_or_default();
            let own = self.pairs.results_of(place);
            let stays = |result: &&pairs::Answer<'_>| result.fate == Fate::Free || self.pairs.caller(result).is_some();
            let kept: Vec<Answer> =
                own.iter().filter(stays).map(|result| Answer::Given(place as u32, result.ordinal)).collect();
            let late = self.result_behind_text(place, view);
            if let Some((ordinal, id)) = late {
                self.changes.push(Change::new(Mend::ReorderedResults, place, ordinal, id));
            }
            if kept.len() == self.pairs.results_of(place).len() && absent.is_empty() && late.is_none() {
                self.steps.push(Step::Keep(place as u32));
            } else if kept.is_empty() && absent.is_empty() && is_all_results(view) {
                emptied.push(self.steps.len());
                self.steps.push(Step::Hold(place as u32));
            } else {
                self.steps.push(Step::Answer(Some(place as u32), [kept, absent].concat()));
            }
            if views.get(place + 1).is_some_and(|next| !is_users(next)) {
                let absent = self.absent(place);
                if !absent.is_empty() {
                    self.steps.push(Step::Answer(None, absent));
                }
            }
        }
        self.drop_emptied(&emptied);
    }

    /// A result of a message that stands right behind its call but behind text of its own message.
    fn result_behind_text(&self, place: usize, view: &View) -> Option<(u32, &'a str)> {
        let ordinal = result_behind_text(view).filter(|_| results_come_first(self.conversation.shape))?;
        let mut behind = self.pairs.results_of(place).iter().skip(ordinal as usize);
        behind.find(|result| self.pairs.caller(result).is_some()).map(|result| (result.ordinal, result.id))
    }

    /// Let go of messages of which nothing is left, unless two of one side would meet or the user no longer begin or end.
    fn drop_emptied(&mut self, emptied: &[usize]) {
        let mut is_held = vec![true; self.steps.len()];
        for &place in emptied {
            let before = (0..place).rev().find(|&place| is_held[place]).and_then(|place| self.side(place));
            let after = (place + 1..self.steps.len()).find(|place| emptied.binary_search(place).is_err());
            let after = after.and_then(|place| self.side(place));
            let own = self.side(place);
            is_held[place] = match (before, after) {
                (None, None) => false,
                (Some(before), Some(after)) => before == after && Some(before) != own,
                (Some(side), None) | (None, Some(side)) => Some(side) != own,
            };
        }
        let mut held = is_held.into_iter();
        self.steps.retain(|_| held.next().unwrap_or(true));
    }

    /// Whether a step is on the user's side; nothing if it is on neither.
    fn side(&self, step: usize) -> Option<bool> {
        match self.steps[step] {
            Step::Answer(None, _) => Some(true),
            Step::Keep(view) | Step::Hold(view) | Step::Answer(Some(view), _) => {
                let view = &self.conversation.views[view as usize];
                (is_users(view) || view.role == Role::Assistant).then(|| is_users(view))
            }
        }
    }

    fn lay_messages(&mut self) {
        let views = self.views();
        for (place, view) in views.iter().enumerate() {
            // Results follow with their calls.
            let is_free = || self.pairs.results_of(place).iter().any(|result| result.fate == Fate::Free);
            if !is_answer(view) || is_free() {
                self.steps.push(Step::Keep(place as u32));
            }
            let calls = self.pairs.calls_of(place);
            if calls.is_empty() || calls.iter().any(|call| self.is_open(call)) {
                continue;
            }
            for next in (place + 1..views.len()).take_while(|&next| is_answer(&views[next])) {
                if self.pairs.results_of(next).iter().any(|result| self.pairs.caller(result).is_some()) {
                    self.steps.push(Step::Keep(next as u32));
                }
            }
            for answer in self.absent(place) {
                self.steps.push(match answer {
                    Answer::Given(view, _) => Step::Keep(view),
                    Answer::Missing(..) => Step::Answer(None, vec![answer]),
                });
            }
        }
    }

    fn is_open(&self, call: &Call<'_>) -> bool {
        call.answer.is_none() && self.pairs.is_running(call)
    }

    fn lay_items(&mut self) {
        let views = self.views();
        let dangling = dangling_reasoning(views);
        let mut waiting = Vec::new();
        for (place, view) in views.iter().enumerate() {
            if view.role != Role::Assistant {
                self.steps.append(&mut waiting);
            }
            let leaves = |result: &pairs::Answer<'_>| matches!(result.fate, Fate::Orphan | Fate::Repeats);
            if dangling.binary_search(&place).is_ok() {
                self.changes.push(Change::new(Mend::DroppedReasoning, place, 0, ""));
            } else if !self.pairs.results_of(place).iter().any(leaves) {
                self.steps.push(Step::Keep(place as u32));
            }
            if !self.pairs.calls_of(place).iter().any(|call| self.is_open(call)) {
                waiting.extend(self.absent(place).into_iter().map(|answer| Step::Answer(None, vec![answer])));
            }
        }
        self.steps.append(&mut waiting);
    }
}

/// Whether a message holds nothing but results.
fn is_all_results(view: &View) -> bool {
    view.pieces.iter().all(|piece| piece.kind == Kind::Result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::draft::{call, result, said};
    use crate::scan::{Piece, Rule, Shape, problems};
    use proptest::prelude::*;

    const PAIRS: [Rule; 6] = [
        Rule::OrphanResult,
        Rule::DuplicateResult,
        Rule::ResultNotAdjacent,
        Rule::TextBeforeResult,
        Rule::UnansweredCall,
        Rule::ReasoningWithoutFollower,
    ];

    /// The views of the mended messages.
    fn mended(conversation: &Conversation) -> Conversation {
        let Some(plan) = repair(conversation) else { return conversation.clone() };
        let views = &conversation.views;
        let given = |&answer: &Answer| match answer {
            Answer::Given(view, ordinal) => views[view as usize].results().nth(ordinal as usize).cloned(),
            Answer::Missing(view, ordinal) => {
                let call = views[view as usize].calls().nth(ordinal as usize);
                call.and_then(|call| call.id.as_deref()).map(|id| result(id, STAND_IN))
            }
        };
        let lay = |step: &Step| match step {
            Step::Keep(view) => views[*view as usize].clone(),
            Step::Hold(view) => said(views[*view as usize].role, "held"),
            Step::Answer(view, answers) => {
                let own = view.map_or(&[][..], |view| &views[view as usize].pieces);
                let rest = own.iter().filter(|piece| piece.kind != Kind::Result).cloned();
                let role = if own.iter().any(|piece| piece.kind != Kind::Result) { Role::User } else { Role::Tool };
                View::new(role, answers.iter().filter_map(given).chain(rest).collect::<Vec<_>>())
            }
        };
        Conversation::new(conversation.shape, plan.steps.iter().map(lay).collect())
    }

    fn mends(conversation: &Conversation) -> Vec<(u32, &'static str)> {
        let changes = repair(conversation).map(|plan| plan.changes).unwrap_or_default();
        changes.into_iter().map(|change| (change.index, change.mend.code())).collect()
    }

    fn calling(ids: &[&str]) -> View {
        View::new(Role::Assistant, ids.iter().map(|id| call(id, "read", "{}")).collect::<Vec<_>>())
    }

    fn answering(ids: &[&str]) -> View {
        View::new(Role::Tool, ids.iter().map(|id| result(id, "done")).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_whole_has_no_plan() {
        for shape in Shape::ALL {
            let views = vec![said(Role::User, "go"), calling(&["a"]), answering(&["a"]), said(Role::Assistant, "so")];
            assert_eq!(repair(&Conversation::new(shape, views)), None, "{shape:?}");
        }
    }

    #[test]
    fn a_late_result_is_pulled_in_before_one_is_made_up() {
        let views = vec![said(Role::User, "go"), calling(&["a", "b"]), said(Role::User, "well?"), answering(&["a"])];
        let conversation = Conversation::new(Shape::OpenAi, views);
        let plan = repair(&conversation).expect("a plan");
        let made_up = Step::Answer(None, vec![Answer::Missing(1, 1)]);
        assert_eq!(plan.steps, [Step::Keep(0), Step::Keep(1), Step::Keep(3), made_up, Step::Keep(2)]);
        assert_eq!(mends(&conversation), [(1, "added-result"), (3, "moved-result")]);
    }

    #[test]
    fn a_result_takes_the_place_of_what_stood_for_it() {
        let stand_in = View::new(Role::Tool, vec![result("a", STAND_IN)]);
        let views = vec![said(Role::User, "go"), calling(&["a"]), stand_in, said(Role::User, "?"), answering(&["a"])];
        let conversation = Conversation::new(Shape::OpenAi, views);
        assert_eq!(mends(&conversation), [(2, "dropped-duplicate"), (4, "moved-result")]);
    }

    #[test]
    fn the_running_turn_is_left_alone() {
        for shape in Shape::ALL {
            let views = vec![said(Role::User, "go"), calling(&["a"])];
            assert_eq!(repair(&Conversation::new(shape, views)), None, "{shape:?}");
        }
    }

    #[test]
    fn a_turn_that_was_cut_off_is_left_alone() {
        let aborted = View { is_aborted: true, ..calling(&["a", "b"]) };
        let views = vec![said(Role::User, "go"), aborted, answering(&["a"]), said(Role::User, "again")];
        assert_eq!(repair(&Conversation::new(Shape::Pi, views)), None);
    }

    #[test]
    fn a_place_is_held_where_roles_would_meet() {
        let views =
            vec![answering(&["x"]), said(Role::Assistant, "one"), answering(&["y"]), said(Role::Assistant, "two")];
        let conversation = Conversation::new(Shape::Bedrock, views);
        let plan = repair(&conversation).expect("a plan");
        assert_eq!(plan.steps, [Step::Hold(0), Step::Keep(1), Step::Hold(2), Step::Keep(3)]);
    }

    #[test]
    fn reasoning_that_lost_its_item_leaves() {
        let reasoning = || View::new(Role::Assistant, vec![Piece::new(Kind::Thinking, None)]);
        let views =
            vec![said(Role::User, "go"), reasoning(), answering(&["a"]), reasoning(), said(Role::Assistant, "so")];
        let conversation = Conversation::new(Shape::Responses, views);
        assert_eq!(mends(&conversation), [(1, "dropped-reasoning"), (2, "dropped-orphan")]);
    }

    fn message(shape: Shape) -> impl Strategy<Value = View> {
        let id = || (0..4_u8).prop_map(|id| id.to_string());
        let most = if Layout::of(shape) == Layout::Blocks { 3 } else { 1 };
        let calls =
            prop::collection::vec(id(), 1..4).prop_map(|ids| calling(&ids.iter().map(|id| &**id).collect::<Vec<_>>()));
        let piece = move |id: String| {
            if most == 1 || id != "3" { result(&id, "done") } else { said(Role::User, "x").pieces[0].clone() }
        };
        let results = prop::collection::vec(id().prop_map(piece), 1..=most).prop_map(|pieces| {
            let speaks = pieces.iter().any(|piece| piece.kind != Kind::Result);
            View::new(if speaks { Role::User } else { Role::Tool }, pieces)
        });
        prop_oneof![
            Just(said(Role::User, "go")),
            Just(said(Role::Assistant, "so")),
            Just(View::new(Role::Assistant, vec![Piece::new(Kind::Thinking, None)])),
            (calls, any::<bool>())
                .prop_map(|(view, is_aborted)| View { is_aborted: is_aborted && view.pieces.len() == 3, ..view }),
            results,
        ]
    }

    fn conversation() -> impl Strategy<Value = Conversation> {
        prop::sample::select(Shape::ALL.to_vec()).prop_flat_map(|shape| {
            prop::collection::vec(message(shape), 0..12).prop_map(move |views| Conversation::new(shape, views))
        })
    }

    proptest! {
        #[test]
        fn what_was_mended_is_whole_and_stays(conversation in conversation()) {
            let after = mended(&conversation);
            prop_assert_eq!(repair(&after), None, "{:?}", after);
            let pairs = Pairs::new(&after, None);
            let left = problems(&after).into_iter().filter(|problem| PAIRS.contains(&problem.rule));
            let running = |problem: &crate::scan::Problem| problem.rule == Rule::UnansweredCall
                && pairs.calls_of(problem.index as usize).iter().any(|call| pairs.is_running(call));
            prop_assert_eq!(left.filter(|problem| !running(problem)).collect::<Vec<_>>(), vec![]);
        }

        #[test]
        fn no_result_leaves_that_is_the_only_answer_to_a_call(conversation in conversation()) {
            let before = Pairs::new(&conversation, None);
            let answered = before.calls.iter().filter(|call| call.answer.is_some()).count();
            let after = mended(&conversation);
            let real = after.views.iter().flat_map(View::results).filter(|result| {
                result.text.as_ref().is_some_and(|text| text.body() == "done")
            });
            prop_assert!(real.count() >= answered);
        }

        #[test]
        fn roles_are_no_worse_than_before(conversation in conversation()) {
            let broken = |conversation: &Conversation| {
                let rules = [Rule::FirstNotUser, Rule::RolesAlternate];
                problems(conversation).iter().filter(|problem| rules.contains(&problem.rule)).count()
            };
            prop_assert!(broken(&mended(&conversation)) <= broken(&conversation));
        }
    }
}
