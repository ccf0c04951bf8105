//! Repetition of earlier trims.

use std::sync::Arc;

use super::plan::{Plan, plan};
use super::request::Request;
use crate::messages::Conversation;

/// Takes the same units out of a conversation turn after turn. While it only gets longer, what is left of it does, too,
/// and is put behind what was left in the turn before.
#[derive(Debug, Default)]
pub struct Replay {
    last: Option<Last>,
}

#[derive(Debug)]
struct Last {
    sticky: Vec<u64>,
    recent: usize,
    task: bool,
    lineage: u64,
    /// Number of messages and units of the conversation.
    views: usize,
    units: usize,
    replayed: Replayed,
}

/// Messages that stay although one that reads alike was trimmed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protected<'a> {
    /// Number of the last messages of the person and the model.
    pub recent: usize,
    /// True for the first message of the person.
    pub task: bool,
    /// Indices of messages that the host wants to stay.
    pub pinned: &'a [u32],
}

/// A conversation without the units that were trimmed before.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The units that left. It does not tell what had to stay.
    pub plan: Arc<Plan>,
    /// Rest of the conversation.
    pub kept: Arc<Conversation>,
    /// For each message left the place it had.
    pub indices: Vec<u32>,
}

impl Replay {
    /// Remove the units of these keys that are not protected.
    pub fn of(&mut self, conversation: &Conversation, sticky: &[u64], protected: Protected<'_>) -> Replayed {
        let may_continue = protected.pinned.is_empty();
        let last = self.last.take().filter(|last| may_continue && last.leads_to(conversation, sticky, protected));
        let replayed = match last {
            Some(last) => last.extended(conversation),
            None => replay_all(conversation, sticky, protected),
        };
        if may_continue {
            self.last = Some(Last {
                sticky: sticky.to_vec(),
                recent: protected.recent,
                task: protected.task,
                lineage: conversation.lineage(),
                views: conversation.views.len(),
                units: conversation.units.len(),
                replayed: replayed.clone(),
            });
        }
        replayed
    }
}

impl Last {
    /// Return whether the units that leave a conversation are those that left the one before, and no other.
    ///
    /// What is protected by its place is near the end, so that a unit that left once is never protected later; and none
    /// that could have left must have been protected then.
    fn leads_to(&self, conversation: &Conversation, sticky: &[u64], protected: Protected<'_>) -> bool {
        let Plan { removed, recognized, .. } = &*self.replayed.plan;
        self.lineage == conversation.lineage()
            && self.views <= conversation.views.len()
            && (self.recent, self.task) == (protected.recent, protected.task)
            && removed.len() == *recognized
            && self.sticky == sticky
            && !conversation.units[self.units..].iter().any(|unit| sticky.contains(&unit.key))
    }

    fn extended(self, conversation: &Conversation) -> Replayed {
        let Replayed { plan, mut kept, mut indices } = self.replayed;
        let tokens: u64 = conversation.units[self.units..].iter().map(|unit| unit.tokens).sum();
        let plan = Plan {
            tokens_before: plan.tokens_before + tokens,
            tokens_after: plan.tokens_after + tokens,
            ..Arc::unwrap_or_clone(plan)
        };
        Arc::make_mut(&mut kept).append(conversation, self.views, self.units);
        indices.extend(self.views as u32..conversation.views.len() as u32);
        Replayed { plan: Arc::new(plan), kept, indices }
    }
}

fn replay_all(conversation: &Conversation, sticky: &[u64], protected: Protected<'_>) -> Replayed {
    let Protected { recent, task, pinned } = protected;
    let request =
        Request { sticky, protected_recent: recent, protects_task: task, pinned, ..Request::new("", u64::MAX) };
    let plan = Plan { protected: Vec::new(), ..plan(conversation, &request) };
    let mut units: Vec<u32> = plan.removed.iter().map(|removed| removed.unit).collect();
    units.sort_unstable();
    let (kept, indices) = conversation.without_units(&units);
    Replayed { plan: Arc::new(plan), kept: Arc::new(kept), indices }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::draft::{call, result, said};
    use crate::messages::{Format, Growth, MessageView, Role, problems};
    use proptest::prelude::*;

    fn message() -> impl Strategy<Value = MessageView> {
        let id = || (0..4_u8).prop_map(|id| id.to_string());
        prop_oneof![
            (0..9_u8).prop_map(|number| said(Role::User, &format!("question {number}"))),
            (0..3_u8).prop_map(|number| said(Role::Assistant, &format!("answer {number}"))),
            id().prop_map(|id| MessageView::new(Role::Assistant, vec![call(&id, "read", "{}")])),
            id().prop_map(|id| MessageView::new(Role::User, vec![result(&id, "done")])),
        ]
    }

    proptest! {
        #[test]
        fn continuing_a_replay_equals_starting_over(
            views in prop::collection::vec(message(), 1..40),
            steps in prop::collection::vec(1..5_usize, 40),
            gone in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
            recent in 0..4_usize,
            task: bool,
            keeps_turns: bool,
        ) {
            let whole = Conversation::new(Format::Anthropic, views.clone());
            let sticky: Vec<u64> = gone.iter().map(|unit| unit.get(&whole.units).key).collect();
            let mut grown = Conversation::new(Format::Anthropic, Vec::new());
            let (mut growth, mut replay, mut rest) = (Growth::default(), Replay::default(), &views[..]);
            let mut turns = Vec::new();
            for step in steps {
                let (more, behind) = rest.split_at(step.min(rest.len()));
                rest = behind;
                growth.extend(&mut grown, more.to_vec());
                let protected = Protected { recent, task, pinned: &[] };
                let (again, first) = (replay.of(&grown, &sticky, protected), replay_all(&grown, &sticky, protected));
                prop_assert_eq!(&again.plan, &first.plan);
                prop_assert_eq!(&again.indices, &first.indices);
                prop_assert_eq!(&again.kept.units, &first.kept.units);
                prop_assert_eq!(format!("{:?}", again.kept.views), format!("{:?}", first.kept.views));
                prop_assert_eq!(problems(&again.kept), problems(&first.kept));
                turns.extend(keeps_turns.then_some(again));
            }
        }
    }
}
