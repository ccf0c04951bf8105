//! Messages that break a rule of their provider.
//!
//! What a message does not show (whether thinking is enabled, what the model supports) is not judged, nor are roles and
//! blocks that we do not know.

use rustc_hash::FxHashSet;

use super::conversation::Conversation;
use super::format::{FormatRules, Layout};
use super::pairs::{Fate, Pairs, is_users};
use super::rules::Rule;
use super::unit::is_reasoning;
use super::view::{Kind, MADE_UP, MessageView, Role};

/// A rule that a message breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The message by its index in the list.
    pub index: u32,
    /// Rule that is broken.
    pub rule: Rule,
    /// The id of the call or the result, where there is one.
    pub id: Option<Box<str>>,
}

impl Problem {
    /// Return the problem in words.
    #[must_use]
    pub fn message(&self) -> String {
        with_id(self.rule.sentence(), self.id.as_deref())
    }
}

/// Return a sentence that names an id where there is one.
pub(super) fn with_id(sentence: &str, id: Option<&str>) -> String {
    id.map_or_else(|| sentence.to_owned(), |id| format!("{sentence} (id {id:?})"))
}

/// Return the problems that a provider would refuse, in the order of the messages.
#[must_use]
pub fn problems(conversation: &Conversation) -> Vec<Problem> {
    let mut found = Found(Vec::new());
    if plainly_paired(conversation) < conversation.views.len() {
        found.judge_pairs(conversation);
    }
    let (rules, views) = (conversation.format.rules(), &conversation.views);
    if rules.enforces(Rule::DuplicateCall) && !conversation.has_own_ids {
        found.judge_ids(views);
    }
    if rules.enforces(Rule::ReasoningWithoutFollower) {
        found.judge_reasoning(views);
    }
    if rules.enforces(Rule::CallNotAfterUser) {
        found.judge_callers(views);
    }
    if rules.enforces(Rule::RolesAlternate) {
        found.judge_turns(views);
    }
    if rules.enforces(Rule::FirstNotUser) {
        found.judge_start(views);
    }
    if rules.enforces(Rule::EmptyContent) {
        found.judge_content(views, rules);
    }
    found.0.sort_by_key(|problem| problem.index);
    found.0
}

/// Return the number of leading messages in which every call is followed at once by the message with all results, in
/// the order of the calls. Nothing can be wrong with them, and in nearly every turn they are all, so no table of ids is
/// needed.
pub(super) fn plainly_paired(conversation: &Conversation) -> usize {
    if conversation.format.rules().layout != Layout::Blocks {
        return 0;
    }
    let views = &conversation.views;
    let mut paired = conversation.paired;
    let is_open = |index: usize| views[index].calls().next().is_some();
    for index in conversation.paired..views.len() {
        let is_plain = match index.checked_sub(1) {
            Some(before) => is_plain_answer(&views[before], &views[index]),
            None => views[index].results().next().is_none(),
        };
        if !is_plain {
            return paired;
        }
        if !is_open(index) {
            paired = index + 1;
        }
    }
    paired
}

/// Return whether a message has a result for each call of the one before it, in their order, and no other.
fn is_plain_answer(before: &MessageView, view: &MessageView) -> bool {
    /// So many can be compared with each other without a table.
    const FEW: usize = 16;
    let mut results = view.results();
    let mut calls = 0;
    for call in before.calls() {
        let is_answered = call.id.is_some() && results.next().is_some_and(|result| result.id == call.id);
        // Two calls of one id count as one call.
        if !is_answered || calls == FEW || before.calls().take(calls).any(|other| other.id == call.id) {
            return false;
        }
        calls += 1;
    }
    let is_plain = calls == 0 || (is_users(view) && !before.is_aborted && result_behind_text(view).is_none());
    is_plain && results.next().is_none()
}

/// Return the first result of a message that stands behind something said, by how many results stand before it.
pub(super) fn result_behind_text(view: &MessageView) -> Option<u32> {
    let mut said = false;
    let mut ordinal = 0;
    let parts = if view.results().next().is_some() { &*view.parts } else { &[] };
    for part in parts {
        match part.kind {
            Kind::Text | Kind::Media => said = true,
            Kind::Result if !part.is_server && said => return Some(ordinal),
            Kind::Result if !part.is_server => ordinal += 1,
            _ => {}
        }
    }
    None
}

/// Return the indices of reasoning that is not followed by output of the model.
pub(super) fn dangling_reasoning(views: &[MessageView]) -> Vec<usize> {
    let mut is_followed = false;
    let mut dangling = Vec::new();
    for (index, view) in views.iter().enumerate().rev() {
        if is_reasoning(view) {
            if !is_followed {
                dangling.push(index);
            }
        } else {
            // What we do not know may be what it led to.
            is_followed = !matches!(view.role, Role::User | Role::Tool | Role::System);
        }
    }
    dangling.reverse();
    dangling
}

/// Return an id as the host wrote it: none that the scan made up, and none that is not there.
pub(super) fn own(id: &str) -> Option<&str> {
    Some(id).filter(|id| !id.is_empty() && !id.starts_with(MADE_UP))
}

struct Found(Vec<Problem>);

impl Found {
    fn add(&mut self, rule: Rule, view: usize, id: Option<&str>) {
        self.0.push(Problem { index: view as u32, rule, id: id.and_then(own).map(Into::into) });
    }

    fn judge_pairs(&mut self, conversation: &Conversation) {
        let pairs = Pairs::new(conversation, None);
        self.judge_results(&pairs);
        self.judge_calls(&pairs);
        if conversation.format.rules().enforces(Rule::TextBeforeResult) {
            self.judge_order(&pairs, &conversation.views);
        }
    }

    fn judge_results(&mut self, pairs: &Pairs<'_>) {
        for result in &pairs.results {
            let rule = match result.fate {
                Fate::Orphan => Rule::OrphanResult,
                Fate::Repeats => Rule::DuplicateResult,
                Fate::Answers(call) if !pairs.is_adjacent(&pairs.calls[call], result) => Rule::ResultNotAdjacent,
                Fate::Answers(_) | Fate::Free => continue,
            };
            self.add(rule, result.view, Some(result.id));
        }
    }

    fn judge_calls(&mut self, pairs: &Pairs<'_>) {
        for call in pairs.calls.iter().filter(|call| call.answer.is_none() && !call.is_aborted) {
            self.add(Rule::UnansweredCall, call.view, Some(call.id));
        }
    }

    fn judge_order(&mut self, pairs: &Pairs<'_>, views: &[MessageView]) {
        for (index, view) in views.iter().enumerate().filter(|(_, view)| is_users(view)) {
            let Some(ordinal) = result_behind_text(view) else { continue };
            let mut behind = pairs.results_of(index).iter().skip(ordinal as usize);
            if let Some(result) = behind.find(|result| pairs.caller(result).is_some()) {
                self.add(Rule::TextBeforeResult, index, Some(result.id));
            }
        }
    }

    fn judge_ids(&mut self, views: &[MessageView]) {
        let mut known = FxHashSet::default();
        for (index, view) in views.iter().enumerate() {
            for id in view.calls().filter_map(|call| call.id.as_deref()) {
                if !known.insert(id) {
                    self.add(Rule::DuplicateCall, index, Some(id));
                }
            }
        }
    }

    fn judge_reasoning(&mut self, views: &[MessageView]) {
        for index in dangling_reasoning(views) {
            self.add(Rule::ReasoningWithoutFollower, index, None);
        }
    }

    fn judge_callers(&mut self, views: &[MessageView]) {
        for (index, pair) in views.windows(2).enumerate() {
            let [before, view] = pair else { continue };
            if let Some(call) = view.calls().next().filter(|_| is_models(before)) {
                self.add(Rule::CallNotAfterUser, index + 1, call.id.as_deref());
            }
        }
    }

    fn judge_turns(&mut self, views: &[MessageView]) {
        for (index, pair) in views.windows(2).enumerate() {
            let [before, view] = pair else { continue };
            if (is_users(before) && is_users(view)) || (is_models(before) && is_models(view)) {
                self.add(Rule::RolesAlternate, index + 1, None);
            }
        }
    }

    fn judge_start(&mut self, views: &[MessageView]) {
        let first = views.iter().position(|view| view.role != Role::System);
        // The provider's own compaction may leave an assistant's message at the front.
        let is_judged = |view: &MessageView| is_models(view) && !view.outline.has_compaction;
        if let Some(first) = first.filter(|&first| is_judged(&views[first])) {
            self.add(Rule::FirstNotUser, first, None);
        }
    }

    fn judge_content(&mut self, views: &[MessageView], rules: &FormatRules) {
        let last = views.len().saturating_sub(1);
        for (index, view) in views.iter().enumerate() {
            let may_be_empty = rules.resumes_empty_message && index == last && is_models(view);
            let is_judged = (is_users(view) || is_models(view)) && !view.is_aborted && !may_be_empty;
            let says_nothing = !rules.accepts_blank_text && view.outline.has_blank_text;
            if is_judged && (view.outline.is_empty || says_nothing) {
                self.add(Rule::EmptyContent, index, None);
            }
        }
    }
}

fn is_models(view: &MessageView) -> bool {
    view.role == Role::Assistant
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::draft::{call, result, said};
    use crate::messages::{Format, Part};
    use proptest::prelude::*;

    fn broken(format: Format, views: Vec<MessageView>) -> Vec<(u32, &'static str)> {
        let found = problems(&Conversation::new(format, views));
        found.iter().map(|problem| (problem.index, problem.rule.code())).collect()
    }

    fn calling(ids: &[&str]) -> MessageView {
        MessageView::new(Role::Assistant, ids.iter().map(|id| call(id, "read", "{}")).collect::<Vec<_>>())
    }

    fn answering(ids: &[&str]) -> MessageView {
        MessageView::new(Role::Tool, ids.iter().map(|id| result(id, "done")).collect::<Vec<_>>())
    }

    fn message() -> impl Strategy<Value = MessageView> {
        let ids = || prop::collection::vec(prop_oneof![Just("a"), Just("b"), Just("c")], 1..3);
        let answered = |ids: Vec<&str>, is_behind: bool| {
            let said = is_behind.then(|| said(Role::User, "so").parts[0].clone());
            MessageView::new(
                Role::User,
                said.into_iter().chain(ids.iter().map(|id| result(id, "done"))).collect::<Vec<_>>(),
            )
        };
        let called = |ids: Vec<&str>, is_aborted: bool| MessageView { is_aborted, ..calling(&ids) };
        prop_oneof![
            Just(said(Role::User, "go")),
            (ids(), prop::bool::weighted(0.1)).prop_map(move |(ids, is_aborted)| called(ids, is_aborted)),
            (ids(), prop::bool::weighted(0.1)).prop_map(move |(ids, is_behind)| answered(ids, is_behind)),
            Just(MessageView::new(Role::User, vec![Part { id: None, ..result("", "done") }])),
            Just(MessageView::new(Role::Assistant, vec![Part { id: None, ..call("", "read", "{}") }])),
        ]
    }

    proptest! {
        #[test]
        fn plainly_paired_conversations_are_valid(views in prop::collection::vec(message(), 0..5), format in 0..Format::ALL.len()) {
            let conversation = Conversation::new(Format::ALL[format], views);
            let mut found = Found(Vec::new());
            found.judge_pairs(&conversation);
            if plainly_paired(&conversation) == conversation.views.len() {
                prop_assert_eq!(found.0, []);
            }
        }
    }

    #[test]
    fn calls_with_their_results_right_behind_are_plainly_paired() {
        let plain = |views| {
            let conversation = Conversation::new(Format::Anthropic, views);
            plainly_paired(&conversation) == conversation.views.len()
        };
        assert!(plain(vec![
            said(Role::User, "go"),
            calling(&["a", "b"]),
            answering(&["a", "b"]),
            calling(&["a"]),
            answering(&["a"])
        ]));
        assert!(
            !plain(vec![calling(&["a", "b"]), answering(&["b", "a"])]),
            "nothing is wrong, but it takes a closer look"
        );
        assert!(!plain(vec![calling(&["a", "a"]), answering(&["a", "a"])]));
        assert!(!plain(vec![calling(&["a"])]));
        assert!(!plain(vec![answering(&["a"])]));
    }

    #[test]
    fn names_are_distinguished() {
        let mut codes = Rule::ALL.map(Rule::code).to_vec();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Rule::ALL.len());
    }

    #[test]
    fn the_same_messages_break_other_rules_elsewhere() {
        let views = || {
            vec![
                said(Role::User, "go"),
                calling(&["a"]),
                said(Role::User, "well?"),
                answering(&["a"]),
                answering(&["b"]),
            ]
        };
        let late = [(3, "result-not-adjacent"), (4, "orphan-result")];
        assert_eq!(broken(Format::Anthropic, views()), late);
        assert_eq!(broken(Format::OpenAi, views()), late);
        assert_eq!(broken(Format::Responses, views()), late[1..]);
        let turns = [(3, "result-not-adjacent"), (3, "roles-alternate"), (4, "orphan-result"), (4, "roles-alternate")];
        assert_eq!(broken(Format::Bedrock, views()), turns);
    }

    #[test]
    fn results_in_two_messages_are_two_messages_too_many_for_blocks() {
        let views = || vec![said(Role::User, "go"), calling(&["a", "b"]), answering(&["a"]), answering(&["b"])];
        assert_eq!(broken(Format::Anthropic, views()), [(3, "result-not-adjacent")]);
        assert_eq!(broken(Format::OpenAi, views()), []);
    }

    #[test]
    fn a_reused_id_is_legal_where_results_are_paired_by_position() {
        let views =
            || vec![said(Role::User, "go"), calling(&["a"]), answering(&["a"]), calling(&["a"]), answering(&["a"])];
        for format in Format::ALL {
            let expected = if format == Format::Anthropic { vec![(3, "duplicate-call")] } else { vec![] };
            assert_eq!(broken(format, views()), expected, "{format:?}");
        }
    }

    #[test]
    fn text_stands_behind_results() {
        let said = |body: &str| said(Role::User, body).parts[0].clone();
        let view = MessageView::new(Role::User, vec![said("so"), result("a", "done")]);
        let views = || vec![MessageView::new(Role::User, vec![said("go")]), calling(&["a"]), view.clone()];
        assert_eq!(broken(Format::Anthropic, views()), [(2, "text-before-result")]);
        assert_eq!(broken(Format::Gemini, views()), []);
    }

    #[test]
    fn an_empty_last_message_of_the_model_is_one_to_go_on_with() {
        let views = || vec![said(Role::User, "go"), MessageView::new(Role::Assistant, vec![])];
        assert_eq!(broken(Format::Anthropic, views()), []);
        assert_eq!(broken(Format::Bedrock, views()), [(1, "empty-content")]);
        assert_eq!(broken(Format::Anthropic, vec![said(Role::User, " \n")]), [(0, "empty-content")]);
    }

    #[test]
    fn reasoning_needs_what_it_led_to() {
        let reasoning = || MessageView::new(Role::Assistant, vec![Part::new(Kind::Thinking, None)]);
        let views = vec![reasoning(), reasoning(), calling(&["a"]), reasoning(), answering(&["a"]), reasoning()];
        let expected = [(3, "reasoning-without-follower"), (5, "reasoning-without-follower")];
        assert_eq!(broken(Format::Responses, views), expected);
    }

    #[test]
    fn a_provider_compaction_may_come_first() {
        let compacted = MessageView::new(Role::Assistant, vec![Part::new(Kind::Compaction, None)]);
        assert_eq!(broken(Format::Anthropic, vec![compacted, said(Role::User, "go")]), []);
        assert_eq!(broken(Format::Anthropic, vec![said(Role::Assistant, "hi")]), [(0, "first-not-user")]);
    }
}
