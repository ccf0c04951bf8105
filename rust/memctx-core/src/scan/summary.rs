//! Summaries that a host's compaction left as plain text.

use super::view::{Kind, Role, View};

/// What hosts write into a summary, and hardly anybody else so early in a conversation.
const MARKERS: [&str; 4] = ["<read-files>", "<modified-files>", "Summary unavailable", "Turn Context"];

/// How a summary begins that a compaction of ours left; `memctx.session` writes it.
const OURS: &str = "Turn Context: what was said before this point was compacted.";

/// Flag the message that is the summary of what was compacted, told by its place and its text.
///
/// It stands second, or third where the second message is a system prompt; one of ours may stand before all others.
pub(super) fn mark(views: &mut [View]) {
    let first = views.iter_mut().find(|view| view.role != Role::System && !view.is_recalled);
    if let Some(view) = first.filter(|view| view.role == Role::User && is_ours(view)) {
        view.is_summary = true;
    }
    let place = if views.get(1).is_some_and(|view| view.role == Role::System) { 2 } else { 1 };
    if let Some(view) = views.get_mut(place) {
        view.is_summary |= matches!(view.role, Role::User | Role::Assistant) && !view.is_recalled && is_summary(view);
    }
}

/// Whether a message is a summary of ours and says nothing else.
fn is_ours(view: &View) -> bool {
    let mut pieces = view.pieces.iter().filter(|piece| !piece.is_recalled());
    match (pieces.next(), pieces.next()) {
        (Some(only), None) => only.text.as_deref().is_some_and(|text| text.body().starts_with(OURS)),
        _ => false,
    }
}

fn is_summary(view: &View) -> bool {
    let texts = view.pieces.iter().filter(|piece| piece.kind == Kind::Text && !piece.is_recalled());
    texts.filter_map(|piece| piece.text.as_deref()).any(|text| MARKERS.iter().any(|mark| text.body().contains(mark)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::draft::said;

    fn marked(roles: &[Role]) -> Vec<usize> {
        let mut views: Vec<View> = roles.iter().map(|&role| said(role, "done\n<read-files>\na.py")).collect();
        mark(&mut views);
        (0..views.len()).filter(|&place| views[place].is_summary).collect()
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
            let mut views: Vec<View> = before.iter().map(|&role| said(role, OURS)).collect();
            views.push(said(Role::User, &format!("{OURS} This is the summary of it:")));
            views.extend([said(Role::Assistant, "done"), said(Role::User, OURS)]);
            mark(&mut views);
            let marked: Vec<usize> = (0..views.len()).filter(|&place| views[place].is_summary).collect();
            assert_eq!(marked, [before.len()]);
        }
    }
}
