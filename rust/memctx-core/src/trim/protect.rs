//! Protection of messages from a trim.

use rustc_hash::FxHashMap;

use super::request::Request;
use crate::messages::{Conversation, MessageView, Role, Unit};

/// Reason why a message is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The host speaks.
    System,
    /// The first message of the person: the task.
    Task,
    /// It is what a compaction left.
    Summary,
    /// It is a block that we recalled.
    Recalled,
    /// The host wants it.
    Pinned,
    /// Unknown role.
    Unknown,
    /// It is among the last messages of the person and the model.
    Recent,
    /// It belongs to the last calls of tools.
    LastGroup,
    /// A call of its unit has no result yet.
    Unfinished,
    /// Another message of its unit is protected.
    Unit,
}

impl Reason {
    /// Return the name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Task => "task",
            Self::Summary => "summary",
            Self::Recalled => "recalled",
            Self::Pinned => "pinned",
            Self::Unknown => "unknown role",
            Self::Recent => "recent",
            Self::LastGroup => "last tool group",
            Self::Unfinished => "unfinished",
            Self::Unit => "same unit",
        }
    }
}

/// Reason why each message is protected, or none if it may leave. A unit is protected as a whole.
pub(super) struct Protection {
    pub(super) reasons: Vec<Option<Reason>>,
    /// The model waits for tools, or tools have answered and the model has not.
    pub(super) is_running: bool,
}

impl Protection {
    pub(super) fn new(conversation: &Conversation, request: &Request<'_>) -> Self {
        let reasons = conversation.views.iter().map(own_reason).collect();
        let mut protection = Self { reasons, is_running: false };
        if request.protects_task {
            protection.protect(task(&conversation.views), Reason::Task);
        }
        protection.protect(request.pinned.iter().map(|&index| index as usize), Reason::Pinned);
        protection.protect(recent(conversation, request.protected_recent), Reason::Recent);
        protection.protect(last_calls(conversation), Reason::LastGroup);
        let last = conversation.views.iter().rposition(|view| !view.is_recalled);
        protection.is_running = last.is_some_and(|last| conversation.views[last].results().next().is_some());
        let mut balance = FxHashMap::default();
        for unit in &conversation.units {
            if unit.is_group && is_unfinished(unit, &conversation.views, &mut balance) {
                protection.protect(indices(unit), Reason::Unfinished);
                protection.is_running |= last.is_some_and(|last| unit.messages.contains(&(last as u32)));
            }
            if protection.is_protected(unit) {
                protection.protect(indices(unit), Reason::Unit);
            }
        }
        protection
    }

    pub(super) fn is_protected(&self, unit: &Unit) -> bool {
        indices(unit).any(|index| self.reasons[index].is_some())
    }

    /// Give messages a reason that have none yet.
    fn protect(&mut self, indices: impl IntoIterator<Item = usize>, reason: Reason) {
        for index in indices {
            if let Some(found) = self.reasons.get_mut(index) {
                found.get_or_insert(reason);
            }
        }
    }
}

fn indices(unit: &Unit) -> impl Iterator<Item = usize> {
    unit.messages.iter().map(|&index| index as usize)
}

/// Return the reason that protects a message by itself.
fn own_reason(view: &MessageView) -> Option<Reason> {
    match view.role {
        _ if view.is_summary || view.outline.has_compaction => Some(Reason::Summary),
        _ if view.is_recalled => Some(Reason::Recalled),
        Role::System => Some(Reason::System),
        Role::Other => Some(Reason::Unknown),
        Role::User | Role::Assistant | Role::Tool => None,
    }
}

fn task(views: &[MessageView]) -> Option<usize> {
    views.iter().position(MessageView::is_person)
}

/// Return the last so many messages of the person and the model. An answer that came in several items is one of them.
fn recent(conversation: &Conversation, count: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut begun = 0;
    for (index, view) in conversation.views.iter().enumerate().rev() {
        if begun == count {
            break;
        }
        if matches!(view.role, Role::User | Role::Assistant) && !view.is_recalled {
            found.push(index);
            begun += usize::from(!conversation.continues(index));
        }
    }
    found
}

/// Return the message with the last calls, or all items of that answer.
fn last_calls(conversation: &Conversation) -> Vec<usize> {
    let views = &conversation.views;
    let Some(last) = views.iter().rposition(|view| view.calls().next().is_some()) else { return Vec::new() };
    let mut first = last;
    while conversation.continues(first) {
        first -= 1;
    }
    (first..=last).filter(|&index| index == last || views[index].calls().next().is_some()).collect()
}

/// Return whether a unit is a call and its result, as most are: that takes no table.
fn is_answered(unit: &Unit, views: &[MessageView]) -> bool {
    let [caller, answer] = unit.messages[..] else { return false };
    let (mut calls, mut results) = (views[caller as usize].calls(), views[answer as usize].results());
    let (Some(call), Some(result)) = (calls.next(), results.next()) else { return false };
    let is_all = calls.next().is_none() && results.next().is_none() && views[answer as usize].calls().next().is_none();
    is_all && call.id.is_some() && call.id == result.id
}

/// Return whether a call of the unit has no result yet. A turn that was cut off waits for none.
fn is_unfinished<'v>(unit: &Unit, views: &'v [MessageView], balance: &mut FxHashMap<&'v str, i64>) -> bool {
    if is_answered(unit, views) {
        return false;
    }
    balance.clear();
    for view in indices(unit).map(|index| &views[index]) {
        for call in view.calls().filter(|_| !view.is_aborted) {
            // Without an id nothing can tell that the result is there.
            let Some(id) = call.id.as_deref() else { return true };
            *balance.entry(id).or_default() += 1;
        }
        for id in view.results().filter_map(|result| result.id.as_deref()) {
            *balance.entry(id).or_default() -= 1;
        }
    }
    balance.values().any(|&open| open > 0)
}
