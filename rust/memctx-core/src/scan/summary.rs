//! Summaries that a host's compaction left as plain text.

use super::view::{Kind, Role, View};

/// What hosts write into a summary, and hardly anybody else so early in a conversation.
const MARKERS: [&str; 4] = ["<read-files>", "<modified-files>", "Summary unavailable", "Turn Context"];

/// Flag the message that is the summary of what was compacted, told by its place and its text.
///
/// It stands second, or third where the second message is a system prompt.
pub(super) fn mark(views: &mut [View]) {
    let place = if views.get(1).is_some_and(|view| view.role == Role::System) { 2 } else { 1 };
    if let Some(view) = views.get_mut(place) {
        view.is_summary |= matches!(view.role, Role::User | Role::Assistant) && !view.is_recalled && is_summary(view);
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
}
