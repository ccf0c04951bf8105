//! Repair of calls and results that do not belong together.
//!
//! A plan says what to do with the host's messages; the caller carries it out. No result leaves that has a call
//! before it and no other answer, no id changes, and a plan for a repaired list is none. What is not known stays as it
//! is, and so do the calls and results that stand in one message with it or that it may belong to.

use super::conversation::Conversation;
use super::format::Layout;
use super::pairs::{self, Call, Fate, Pairs, is_answer, is_users};
use super::problems::{dangling_reasoning, result_behind_text};
use super::repair_plan::{Answer, Change, Plan, Repair, Step};
use super::rules::Rule;
use super::view::{Kind, MessageView, Role};

/// Text of a result that stands for a missing one.
pub const MISSING_RESULT: &str = "[memctx] The result of this call is not in the conversation.";

/// Plan the repair of a conversation; none if nothing is wrong.
#[must_use]
pub fn repair(conversation: &Conversation) -> Option<Plan> {
    let mut repairer = Repairer {
        conversation,
        pairs: Pairs::new(conversation, Some(MISSING_RESULT)),
        steps: Vec::with_capacity(conversation.views.len()),
        changes: Vec::new(),
    };
    repairer.note_results();
    match repairer.pairs.layout {
        Layout::Blocks => repairer.lay_blocks(),
        Layout::Messages => repairer.lay_messages(),
        Layout::Items => repairer.lay_items(),
    }
    let Repairer { steps, mut changes, .. } = repairer;
    changes.sort_by_key(|change| change.index);
    (!changes.is_empty()).then_some(Plan { steps, changes })
}

struct Repairer<'a> {
    conversation: &'a Conversation,
    pairs: Pairs<'a>,
    steps: Vec<Step>,
    changes: Vec<Change>,
}

impl<'a> Repairer<'a> {
    fn views(&self) -> &'a [MessageView] {
        &self.conversation.views
    }

    /// Write down what happens to results that cannot stay where they are.
    fn note_results(&mut self) {
        for result in &self.pairs.results {
            let repair = match result.fate {
                Fate::Orphan => Repair::DroppedOrphan,
                Fate::Repeats => Repair::DroppedDuplicate,
                Fate::Answers(_) if self.pairs.caller(result).is_none() => Repair::MovedResult,
                Fate::Answers(_) | Fate::Free => continue,
            };
            self.changes.push(Change::new(repair, result.view, result.ordinal, result.id));
        }
    }

    /// Return the answers to the calls of a message that are not results in the right position.
    fn absent(&mut self, caller: usize) -> Vec<Answer> {
        let mut absent = Vec::new();
        for call in self.pairs.calls_of(caller) {
            match call.answer.map(|answer| &self.pairs.results[answer]) {
                Some(result) if self.pairs.is_adjacent(call, result) => {}
                Some(result) => absent.push(Answer::Given(result.view as u32, result.ordinal)),
                None => {
                    absent.push(Answer::Missing(call.view as u32, call.ordinal));
                    self.changes.push(Change::new(Repair::AddedResult, call.view, call.ordinal, call.id));
                }
            }
        }
        absent
    }

    fn lay_blocks(&mut self) {
        let views = self.views();
        let mut emptied = Vec::new();
        for (index, view) in views.iter().enumerate() {
            let caller = index.checked_sub(1).filter(|_| is_users(view));
            let absent = caller.map(|caller| self.absent(caller)).unwrap_or_default();
            let own = self.pairs.results_of(index);
            let stays = |result: &&pairs::Answer<'_>| result.fate == Fate::Free || self.pairs.caller(result).is_some();
            let kept: Vec<Answer> =
                own.iter().filter(stays).map(|result| Answer::Given(index as u32, result.ordinal)).collect();
            let late = self.result_behind_text(index, view);
            if let Some((ordinal, id)) = late {
                self.changes.push(Change::new(Repair::ReorderedResults, index, ordinal, id));
            }
            if kept.len() == self.pairs.results_of(index).len() && absent.is_empty() && late.is_none() {
                self.steps.push(Step::Keep(index as u32));
            } else if kept.is_empty() && absent.is_empty() && is_all_results(view) {
                emptied.push(self.steps.len());
                self.steps.push(Step::Hold(index as u32));
            } else {
                self.steps.push(Step::Answer(Some(index as u32), [kept, absent].concat()));
            }
            if views.get(index + 1).is_some_and(|next| !is_users(next)) {
                let absent = self.absent(index);
                if !absent.is_empty() {
                    self.steps.push(Step::Answer(None, absent));
                }
            }
        }
        self.drop_emptied(&emptied);
    }

    /// Return a result of a message that stands right behind its call but behind text of its own message.
    fn result_behind_text(&self, index: usize, view: &MessageView) -> Option<(u32, &'a str)> {
        let comes_first = self.conversation.format.rules().enforces(Rule::TextBeforeResult);
        let ordinal = result_behind_text(view).filter(|_| comes_first)?;
        let mut behind = self.pairs.results_of(index).iter().skip(ordinal as usize);
        behind.find(|result| self.pairs.caller(result).is_some()).map(|result| (result.ordinal, result.id))
    }

    /// Let go of messages of which nothing is left, unless two of one side would meet or the user no longer begin or
    /// end.
    fn drop_emptied(&mut self, emptied: &[usize]) {
        let mut is_held = vec![true; self.steps.len()];
        for &index in emptied {
            let before = (0..index).rev().find(|&index| is_held[index]).and_then(|index| self.side(index));
            let after = (index + 1..self.steps.len()).find(|index| emptied.binary_search(index).is_err());
            let after = after.and_then(|index| self.side(index));
            let own = self.side(index);
            is_held[index] = match (before, after) {
                (None, None) => false,
                (Some(before), Some(after)) => before == after && Some(before) != own,
                (Some(side), None) | (None, Some(side)) => Some(side) != own,
            };
        }
        let mut held = is_held.into_iter();
        self.steps.retain(|_| held.next().unwrap_or(true));
    }

    /// Return whether a step is on the user's side; nothing if it is on neither.
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
        for (index, view) in views.iter().enumerate() {
            // Results follow with their calls.
            let is_free = || self.pairs.results_of(index).iter().any(|result| result.fate == Fate::Free);
            if !is_answer(view) || is_free() {
                self.steps.push(Step::Keep(index as u32));
            }
            let is_open = self.pairs.calls_of(index).any(|call| self.is_open(call));
            if is_open || self.pairs.calls_of(index).next().is_none() {
                continue;
            }
            for next in (index + 1..views.len()).take_while(|&next| is_answer(&views[next])) {
                if self.pairs.results_of(next).iter().any(|result| self.pairs.caller(result).is_some()) {
                    self.steps.push(Step::Keep(next as u32));
                }
            }
            for answer in self.absent(index) {
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
        for (index, view) in views.iter().enumerate() {
            if view.role != Role::Assistant {
                self.steps.append(&mut waiting);
            }
            let leaves = |result: &pairs::Answer<'_>| matches!(result.fate, Fate::Orphan | Fate::Repeats);
            if dangling.binary_search(&index).is_ok() {
                self.changes.push(Change::new(Repair::DroppedReasoning, index, 0, ""));
            } else if !self.pairs.results_of(index).iter().any(leaves) {
                self.steps.push(Step::Keep(index as u32));
            }
            if !self.pairs.calls_of(index).any(|call| self.is_open(call)) {
                waiting.extend(self.absent(index).into_iter().map(|answer| Step::Answer(None, vec![answer])));
            }
        }
        self.steps.append(&mut waiting);
    }
}

/// Return whether a message holds nothing but results.
fn is_all_results(view: &MessageView) -> bool {
    view.parts.iter().all(|part| part.kind == Kind::Result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::draft::{call, result, said};
    use crate::messages::{Format, Part, problems};
    use proptest::prelude::*;

    const PAIRS: [Rule; 6] = [
        Rule::OrphanResult,
        Rule::DuplicateResult,
        Rule::ResultNotAdjacent,
        Rule::TextBeforeResult,
        Rule::UnansweredCall,
        Rule::ReasoningWithoutFollower,
    ];

    /// Return the views of the repaired messages.
    fn repaired(conversation: &Conversation) -> Conversation {
        let Some(plan) = repair(conversation) else { return conversation.clone() };
        let views = &conversation.views;
        let given = |&answer: &Answer| match answer {
            Answer::Given(view, ordinal) => views[view as usize].results().nth(ordinal as usize).cloned(),
            Answer::Missing(view, ordinal) => {
                let call = views[view as usize].calls().nth(ordinal as usize);
                call.and_then(|call| call.id.as_deref()).map(|id| result(id, MISSING_RESULT))
            }
        };
        let lay = |step: &Step| match step {
            Step::Keep(view) => views[*view as usize].clone(),
            Step::Hold(view) => said(views[*view as usize].role, "held"),
            Step::Answer(view, answers) => {
                let own = view.map_or(&[][..], |view| &views[view as usize].parts);
                let rest = own.iter().filter(|part| part.kind != Kind::Result).cloned();
                let role = if own.iter().any(|part| part.kind != Kind::Result) { Role::User } else { Role::Tool };
                MessageView::new(role, answers.iter().filter_map(given).chain(rest).collect::<Vec<_>>())
            }
        };
        Conversation::new(conversation.format, plan.steps.iter().map(lay).collect())
    }

    fn repairs(conversation: &Conversation) -> Vec<(u32, &'static str)> {
        let changes = repair(conversation).map(|plan| plan.changes).unwrap_or_default();
        changes.into_iter().map(|change| (change.index, change.repair.code())).collect()
    }

    fn calling(ids: &[&str]) -> MessageView {
        MessageView::new(Role::Assistant, ids.iter().map(|id| call(id, "read", "{}")).collect::<Vec<_>>())
    }

    fn answering(ids: &[&str]) -> MessageView {
        MessageView::new(Role::Tool, ids.iter().map(|id| result(id, "done")).collect::<Vec<_>>())
    }

    #[test]
    fn a_valid_conversation_has_no_plan() {
        for format in Format::ALL {
            let views = vec![said(Role::User, "go"), calling(&["a"]), answering(&["a"]), said(Role::Assistant, "so")];
            assert_eq!(repair(&Conversation::new(format, views)), None, "{format:?}");
        }
    }

    #[test]
    fn a_late_result_is_pulled_in_before_one_is_made_up() {
        let views = vec![said(Role::User, "go"), calling(&["a", "b"]), said(Role::User, "well?"), answering(&["a"])];
        let conversation = Conversation::new(Format::OpenAi, views);
        let plan = repair(&conversation).expect("a plan");
        let made_up = Step::Answer(None, vec![Answer::Missing(1, 1)]);
        assert_eq!(plan.steps, [Step::Keep(0), Step::Keep(1), Step::Keep(3), made_up, Step::Keep(2)]);
        assert_eq!(repairs(&conversation), [(1, "added-result"), (3, "moved-result")]);
    }

    #[test]
    fn a_real_result_replaces_its_placeholder() {
        let stand_in = MessageView::new(Role::Tool, vec![result("a", MISSING_RESULT)]);
        let views = vec![said(Role::User, "go"), calling(&["a"]), stand_in, said(Role::User, "?"), answering(&["a"])];
        let conversation = Conversation::new(Format::OpenAi, views);
        assert_eq!(repairs(&conversation), [(2, "dropped-duplicate"), (4, "moved-result")]);
    }

    #[test]
    fn the_running_turn_is_left_alone() {
        for format in Format::ALL {
            let views = vec![said(Role::User, "go"), calling(&["a"])];
            assert_eq!(repair(&Conversation::new(format, views)), None, "{format:?}");
        }
    }

    #[test]
    fn a_turn_that_was_cut_off_is_left_alone() {
        let aborted = MessageView { is_aborted: true, ..calling(&["a", "b"]) };
        let views = vec![said(Role::User, "go"), aborted, answering(&["a"]), said(Role::User, "again")];
        assert_eq!(repair(&Conversation::new(Format::Pi, views)), None);
    }

    #[test]
    fn a_placeholder_separates_equal_roles() {
        let views =
            vec![answering(&["x"]), said(Role::Assistant, "one"), answering(&["y"]), said(Role::Assistant, "two")];
        let conversation = Conversation::new(Format::Bedrock, views);
        let plan = repair(&conversation).expect("a plan");
        assert_eq!(plan.steps, [Step::Hold(0), Step::Keep(1), Step::Hold(2), Step::Keep(3)]);
    }

    #[test]
    fn reasoning_that_lost_its_item_leaves() {
        let reasoning = || MessageView::new(Role::Assistant, vec![Part::new(Kind::Thinking, None)]);
        let views =
            vec![said(Role::User, "go"), reasoning(), answering(&["a"]), reasoning(), said(Role::Assistant, "so")];
        let conversation = Conversation::new(Format::Responses, views);
        assert_eq!(repairs(&conversation), [(1, "dropped-reasoning"), (2, "dropped-orphan")]);
    }

    fn message(format: Format) -> impl Strategy<Value = MessageView> {
        let id = || (0..4_u8).prop_map(|id| id.to_string());
        let most = if format.rules().layout == Layout::Blocks { 3 } else { 1 };
        let calls =
            prop::collection::vec(id(), 1..4).prop_map(|ids| calling(&ids.iter().map(|id| &**id).collect::<Vec<_>>()));
        let part = move |id: String| {
            if most == 1 || id != "3" { result(&id, "done") } else { said(Role::User, "x").parts[0].clone() }
        };
        let results = prop::collection::vec(id().prop_map(part), 1..=most).prop_map(|parts| {
            let speaks = parts.iter().any(|part| part.kind != Kind::Result);
            MessageView::new(if speaks { Role::User } else { Role::Tool }, parts)
        });
        prop_oneof![
            Just(said(Role::User, "go")),
            Just(said(Role::Assistant, "so")),
            Just(MessageView::new(Role::Assistant, vec![Part::new(Kind::Thinking, None)])),
            (calls, any::<bool>())
                .prop_map(|(view, is_aborted)| MessageView { is_aborted: is_aborted && view.parts.len() == 3, ..view }),
            results,
        ]
    }

    fn conversation() -> impl Strategy<Value = Conversation> {
        prop::sample::select(Format::ALL.to_vec()).prop_flat_map(|format| {
            prop::collection::vec(message(format), 0..12).prop_map(move |views| Conversation::new(format, views))
        })
    }

    fn opaque(id: Option<&str>) -> Part {
        Part { id: id.map(Into::into), is_opaque: true, ..Part::new(Kind::Other, None) }
    }

    /// Return the same with something that is not known in some messages.
    fn with_unknown(conversation: &Conversation, marks: &[bool]) -> Conversation {
        let views = conversation.views.iter().zip(marks).map(|(view, &is_marked)| {
            let more = is_marked.then(|| opaque(None));
            let parts: Vec<Part> = view.parts.iter().cloned().chain(more).collect();
            MessageView { is_aborted: view.is_aborted, ..MessageView::new(view.role, parts) }
        });
        Conversation::new(conversation.format, views.collect())
    }

    #[test]
    fn calls_that_may_belong_to_unknown_parts_are_left_alone() {
        let unknown = |role, id| MessageView::new(role, vec![opaque(id)]);
        let user = || said(Role::User, "go");
        for format in Format::ALL {
            let answered = vec![user(), calling(&["a"]), unknown(Role::User, Some("a")), user()];
            let called = vec![user(), unknown(Role::Assistant, Some("a")), answering(&["a"]), user()];
            let beside = MessageView::new(Role::Assistant, vec![opaque(None), call("a", "read", "{}")]);
            for views in [answered, called, vec![user(), beside, user()]] {
                let conversation = Conversation::new(format, views);
                assert_eq!(repair(&conversation), None, "{format:?}");
            }
        }
        let units = Conversation::new(
            Format::Anthropic,
            vec![user(), unknown(Role::Assistant, Some("a")), user(), answering(&["a"])],
        );
        assert_eq!(units.units.iter().map(|unit| &unit.messages[..]).collect::<Vec<_>>(), [&[0][..], &[1, 3], &[2]]);
    }

    proptest! {
        #[test]
        fn messages_with_something_unknown_stay_as_they_are(
            conversation in conversation(),
            marks in prop::collection::vec(prop::bool::weighted(0.3), 12),
        ) {
            let conversation = with_unknown(&conversation, &marks);
            let Some(plan) = repair(&conversation) else { return Ok(()) };
            let unknown: Vec<u32> =
                (0..).zip(&conversation.views).filter(|(_, view)| view.is_opaque()).map(|(index, _)| index).collect();
            let kept: Vec<u32> = plan.steps.iter().filter_map(|step| match step {
                Step::Keep(view) => Some(*view).filter(|view| unknown.contains(view)),
                _ => None,
            }).collect();
            prop_assert_eq!(&kept, &unknown);
            prop_assert!(plan.changes.iter().all(|change| !unknown.contains(&change.index)), "{:?}", plan);
        }

        #[test]
        fn a_repaired_conversation_is_valid_and_stable(conversation in conversation()) {
            let after = repaired(&conversation);
            prop_assert_eq!(repair(&after), None, "{:?}", after);
            let pairs = Pairs::new(&after, None);
            let left = problems(&after).into_iter().filter(|problem| PAIRS.contains(&problem.rule));
            let running = |problem: &crate::messages::Problem| problem.rule == Rule::UnansweredCall
                && pairs.calls_of(problem.index as usize).any(|call| pairs.is_running(call));
            prop_assert_eq!(left.filter(|problem| !running(problem)).collect::<Vec<_>>(), vec![]);
        }

        #[test]
        fn no_result_leaves_that_is_the_only_answer_to_a_call(conversation in conversation()) {
            let before = Pairs::new(&conversation, None);
            let answered = before.calls.iter().filter(|call| call.answer.is_some()).count();
            let after = repaired(&conversation);
            let real = after.views.iter().flat_map(MessageView::results).filter(|result| {
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
            prop_assert!(broken(&repaired(&conversation)) <= broken(&conversation));
        }
    }
}
