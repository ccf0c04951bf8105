//! Units: the smallest groups of messages that may leave a conversation.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_64;

use super::view::{MessageView, Role};

/// Messages by their place in the list, in order. Most units have few, and units are copied with their conversation.
pub type Indices = SmallVec<[u32; 4]>;

/// One plain message, or a tool group: the message with the calls, all their results, and the reasoning bound to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its messages. They need not stand side by side.
    pub messages: Indices,
    /// Tokens of all messages.
    pub tokens: u64,
    /// A hash of its messages' keys and of how many units of the same messages stand before it.
    pub key: u64,
    /// True if it holds a call or a result.
    pub is_group: bool,
}

/// Return the units of a list of messages, in the order of their first messages.
pub(super) fn units(views: &[MessageView]) -> Vec<Unit> {
    let mut units = Vec::with_capacity(views.len());
    Grouping::default().enter(views, &mut units);
    units
}

/// State of the messages so far that determines the units of the next ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Grouping {
    /// By their ids the messages with calls. A result answers the nearest call before it: some hosts count their ids
    /// from 0 in every turn.
    callers: FxHashMap<Arc<str>, usize>,
    /// Calls with the id of another call.
    repeated: usize,
    /// The first of the reasoning that what the model says next belongs to.
    reasoning: Option<usize>,
    /// Number of units with the same messages.
    repeats: FxHashMap<u64, u64>,
    /// Messages that were entered.
    count: usize,
}

impl Grouping {
    /// Add the units of the messages that are new in the list. False, and all is to be rebuilt, if one of them belongs
    /// to a unit that was there before.
    pub(super) fn enter(&mut self, views: &[MessageView], units: &mut Vec<Unit>) -> bool {
        let start = std::mem::replace(&mut self.count, views.len());
        let mut groups = Groups { start, firsts: (start..views.len()).collect() };
        for (index, view) in views.iter().enumerate().skip(start) {
            for result in view.results() {
                let caller = result.id.as_deref().and_then(|id| self.callers.get(id));
                if caller.is_some_and(|&caller| !groups.join(caller, index)) {
                    return false;
                }
            }
            for id in view.opaque_ids() {
                let caller = *self.callers.entry(Arc::clone(id)).or_insert(index);
                if caller != index && !groups.join(caller, index) {
                    return false;
                }
            }
            for id in view.calls().filter_map(|call| call.id.as_ref()) {
                self.repeated += usize::from(self.callers.insert(Arc::clone(id), index).is_some());
            }
        }
        self.bind_reasoning(views, &mut groups) && {
            self.collect(views, &groups, units);
            true
        }
    }

    /// Return whether no two calls have the same id.
    pub(super) fn has_own_ids(&self) -> bool {
        self.repeated == 0
    }

    /// Reasoning that is a message of its own belongs to all that the model said or called right after it.
    fn bind_reasoning(&mut self, views: &[MessageView], groups: &mut Groups) -> bool {
        let mut reasoning = self.reasoning;
        for (index, view) in views.iter().enumerate().skip(groups.start) {
            if is_reasoning(view) {
                // Several in a row belong to the same answer.
                reasoning = reasoning.filter(|_| index > 0 && is_reasoning(&views[index - 1])).or(Some(index));
            } else if view.role != Role::Assistant {
                reasoning = None;
            }
            if reasoning.is_some_and(|first| !groups.join(first, index)) {
                return false;
            }
        }
        self.reasoning = reasoning;
        true
    }

    fn collect(&mut self, views: &[MessageView], groups: &Groups, units: &mut Vec<Unit>) {
        let (old, start) = (units.len(), groups.start);
        let mut known = vec![usize::MAX; views.len() - start];
        for (index, view) in views.iter().enumerate().skip(start) {
            let known = &mut known[groups.first(index) - start];
            if *known == usize::MAX {
                *known = units.len();
                units.push(Unit { messages: Indices::new(), tokens: 0, key: 0, is_group: false });
            }
            let unit = &mut units[*known];
            unit.messages.push(index as u32);
            unit.tokens += u64::from(view.tokens());
            unit.is_group |= view.calls().next().is_some() || view.results().next().is_some();
        }
        let mut keys = Vec::new();
        self.repeats.reserve(units.len() - old);
        for unit in &mut units[old..] {
            keys.clear();
            unit.messages.iter().for_each(|&index| keys.extend(views[index as usize].key.to_le_bytes()));
            let repeat = self.repeats.entry(xxh3_64(&keys)).or_default();
            keys.extend(repeat.to_le_bytes());
            *repeat += 1;
            unit.key = xxh3_64(&keys);
        }
    }
}

/// Return whether all of a message is reasoning.
pub(super) fn is_reasoning(view: &MessageView) -> bool {
    view.role == Role::Assistant && view.outline.is_reasoning
}

/// Groups of messages: a forest in which the root of each tree is its first message.
struct Groups {
    /// The messages before this one have their units already.
    start: usize,
    firsts: Vec<usize>,
}

impl Groups {
    fn first(&self, mut index: usize) -> usize {
        while self.firsts[index - self.start] != index {
            index = self.firsts[index - self.start];
        }
        index
    }

    /// Return false if one of them has its unit already.
    fn join(&mut self, a: usize, b: usize) -> bool {
        if a.min(b) < self.start {
            return false;
        }
        let (a, b) = (self.first(a), self.first(b));
        self.firsts[a.max(b) - self.start] = a.min(b);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::draft::{call, result, said};
    use crate::messages::{Kind, Part};
    use proptest::prelude::*;

    fn indices(views: &[MessageView]) -> Vec<Vec<u32>> {
        units(views).into_iter().map(|unit| unit.messages.into_vec()).collect()
    }

    fn calling(ids: &[&str]) -> MessageView {
        MessageView::new(Role::Assistant, ids.iter().map(|id| call(id, "read", "{}")).collect::<Vec<_>>())
    }

    fn answering(ids: &[&str]) -> MessageView {
        MessageView::new(Role::Tool, ids.iter().map(|id| result(id, "done")).collect::<Vec<_>>())
    }

    #[test]
    fn a_call_and_its_results_are_one_unit_despite_messages_between() {
        let views = [
            said(Role::User, "go"),
            calling(&["a", "b"]),
            answering(&["a"]),
            said(Role::User, "wait"),
            answering(&["b"]),
        ];
        assert_eq!(indices(&views), [vec![0], vec![1, 2, 4], vec![3]]);
    }

    #[test]
    fn an_id_used_again_belongs_to_the_nearest_call() {
        let views = [calling(&["call_0"]), answering(&["call_0"]), calling(&["call_0"]), answering(&["call_0"])];
        assert_eq!(indices(&views), [[0, 1], [2, 3]]);
        let units = units(&views);
        assert_ne!(units[0].key, units[1].key, "equal messages are told apart by how many came before");
    }

    #[test]
    fn reasoning_stays_with_all_that_follows_it() {
        let reasoning = || MessageView::new(Role::Assistant, vec![Part::new(Kind::Thinking, None)]);
        let views = [
            said(Role::User, "go"),
            reasoning(),
            calling(&["a"]),
            calling(&["b"]),
            answering(&["a"]),
            answering(&["b"]),
            reasoning(),
            said(Role::Assistant, "done"),
            said(Role::User, "thanks"),
        ];
        assert_eq!(indices(&views), [vec![0], vec![1, 2, 3, 4, 5], vec![6, 7], vec![8]]);
    }

    proptest! {
        #[test]
        fn every_message_is_in_one_unit(kinds in prop::collection::vec((0..3_u8, 0..4_u8), 0..40)) {
            let views: Vec<MessageView> = kinds
                .iter()
                .map(|(kind, id)| match kind {
                    0 => said(Role::User, "hello"),
                    1 => calling(&[&id.to_string()]),
                    _ => answering(&[&id.to_string()]),
                })
                .collect();
            let units = units(&views);
            let mut all: Vec<u32> = units.iter().flat_map(|unit| unit.messages.clone()).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..views.len() as u32).collect::<Vec<_>>());
            let tokens: u64 = views.iter().map(|view| u64::from(view.tokens())).sum();
            prop_assert_eq!(units.iter().map(|unit| unit.tokens).sum::<u64>(), tokens);
        }
    }
}
