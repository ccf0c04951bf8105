//! Summaries that a host's compaction left as plain text.

use super::view::{Kind, MessageView, Role};

/// Markers that hosts write into summaries, rare elsewhere so early in a conversation.
const MARKERS: [&str; 4] = ["<read-files>", "<modified-files>", "Summary unavailable", "Turn Context"];

/// Opening of a summary that our compaction left; `memctx.hosts.pi` writes it.
const OURS: &str = "Turn Context: what was said before this point was compacted.";

/// Flag the message that is the summary of what was compacted, identified by its position and its text.
///
/// It stands second, or third where the second message is a system prompt; one of ours may stand before all others.
pub(super) fn mark(views: &mut [MessageView]) {
    let first = views.iter_mut().find(|view| view.role != Role::System && !view.is_recalled);
    if let Some(view) = first.filter(|view| view.role == Role::User && is_ours(view)) {
        view.is_summary = true;
    }
    let index = if views.get(1).is_some_and(|view| view.role == Role::System) { 2 } else { 1 };
    if let Some(view) = views.get_mut(index) {
        view.is_summary |= matches!(view.role, Role::User | Role::Assistant) && !view.is_recalled && is_summary(view);
    }
}

/// Return whether a message is a summary of ours and says nothing else.
fn is_ours(view: &MessageView) -> bool {
    let mut parts = view.parts.iter().filter(|part| !part.is_recalled());
    match (parts.next(), parts.next()) {
        (Some(only), None) => only.text.as_deref().is_some_and(|text| text.body().starts_with(OURS)),
        _ => false,
    }
}

fn is_summary(view: &MessageView) -> bool {
    let texts = view.parts.iter().filter(|part| part.kind == Kind::Text && !part.is_recalled());
    texts.filter_map(|part| part.text.as_deref()).any(|text| MARKERS.iter().any(|mark| text.body().contains(mark)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::draft::said;

    fn marked(roles: &[Role]) -> Vec<usize> {
        let mut views: Vec<MessageView> = roles.iter().map(|&role| said(role, "done\n<read-files>\na.py")).collect();
        mark(&mut views);
        (0..views.len()).filter(|&index| views[index].is_summary).collect()
    }

    #[test]
    fn a_summary_stands_second_or_behind_the_system_prompt() {
        assert_eq!(marked(&[Role::System, Role::User, Role::User]), [1]);
        assert_eq!(marked(&[Role::User, Role::System, Role::User, Role::User]), [2]);
        assert_eq!(marked(&[Role::User]), [0; 0]);
        assert_eq!(marked(&[Role::User, Role::Tool, Role::User]), [0; 0]);
    }

    #[test]
    fn one_of_ours_may_stand_before_all_others() {
        for before in [&[][..], &[Role::System], &[Role::System, Role::System]] {
            let mut views: Vec<MessageView> = before.iter().map(|&role| said(role, OURS)).collect();
            views.push(said(Role::User, &format!("{OURS} This is the summary of it:")));
            views.extend([said(Role::Assistant, "done"), said(Role::User, OURS)]);
            mark(&mut views);
            let marked: Vec<usize> = (0..views.len()).filter(|&index| views[index].is_summary).collect();
            assert_eq!(marked, [before.len()]);
        }
    }
}
