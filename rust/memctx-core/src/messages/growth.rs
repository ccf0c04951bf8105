//! Extension of a conversation by new messages.

use super::conversation::{Conversation, new_lineage};
use super::link::Calls;
use super::problems::plainly_paired;
use super::summary;
use super::unit::Grouping;
use super::view::MessageView;

/// Behind so many messages, what comes does not make a summary of any of them.
const SETTLED: usize = 3;

/// State of a conversation that is needed to extend it.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    calls: Calls,
    grouping: Grouping,
}

impl Growth {
    /// Put more messages behind a conversation that this has seen grow from nothing.
    ///
    /// The same as reading all of them again; but of what was there nothing is looked at, unless it changes by what
    /// comes.
    pub fn extend(&mut self, conversation: &mut Conversation, more: Vec<MessageView>) {
        let Conversation { views, units, lineage, .. } = conversation;
        let start = views.len();
        if start < SETTLED {
            *lineage = new_lineage();
        }
        if start == 0 {
            *views = more;
        } else {
            views.extend(more);
        }
        views[start..].iter_mut().for_each(|view| self.calls.link(view));
        summary::mark(views);
        units.reserve(views.len() - start);
        if !self.grouping.enter(views, units) {
            // A result came for a call that was there, say: its unit is another now, and so may be the keys of its
            // likes.
            self.grouping = Grouping::default();
            *lineage = new_lineage();
            units.clear();
            self.grouping.enter(views, units);
        }
        conversation.has_own_ids = self.grouping.has_own_ids();
        conversation.paired = plainly_paired(conversation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::draft::{call, result, said};
    use crate::messages::{Format, Kind, Part, Role, problems};
    use proptest::prelude::*;

    fn message() -> impl Strategy<Value = MessageView> {
        let id = || (0..4_u8).prop_map(|id| id.to_string());
        prop_oneof![
            prop_oneof![Just(Role::System), Just(Role::User), Just(Role::Assistant), Just(Role::Other)]
                .prop_map(|role| said(role, "hello <read-files>")),
            Just(MessageView::new(Role::Assistant, vec![Part::new(Kind::Thinking, None)])),
            id().prop_map(|id| {
                let unknown = Part { id: Some(id.into()), is_opaque: true, ..Part::new(Kind::Other, None) };
                MessageView::new(Role::User, vec![unknown])
            }),
            id().prop_map(|id| MessageView::new(
                Role::Assistant,
                vec![call(&id, "read", "{}"), call("9", "look", "{}")]
            )),
            id().prop_map(|id| MessageView::new(Role::User, vec![Part { name: None, ..result(&id, "done") }])),
            Just(MessageView::new(
                Role::Tool,
                vec![Part { id: None, name: Some("look".into()), ..result("", "done") }]
            )),
        ]
    }

    proptest! {
        #[test]
        fn growing_equals_reading_again(views in prop::collection::vec(message(), 0..40), steps in prop::collection::vec(1..6_usize, 40)) {
            let mut grown = Conversation::new(Format::Anthropic, Vec::new());
            let mut growth = Growth::default();
            let mut rest = &views[..];
            for step in steps {
                let (more, behind) = rest.split_at(step.min(rest.len()));
                rest = behind;
                growth.extend(&mut grown, more.to_vec());
                let reread = Conversation::new(Format::Anthropic, views[..views.len() - rest.len()].to_vec());
                prop_assert_eq!(&grown.units, &reread.units);
                prop_assert_eq!(format!("{:?}", grown.views), format!("{:?}", reread.views));
                prop_assert_eq!(problems(&grown), problems(&reread));
                let unknown = Conversation { has_own_ids: false, paired: 0, ..grown.clone() };
                prop_assert_eq!(problems(&grown), problems(&unknown));
                let unseen = Conversation { paired: 0, ..grown.clone() };
                prop_assert_eq!(plainly_paired(&grown), plainly_paired(&unseen));
                for index in 0..grown.views.len() as u32 {
                    let is_in_group = grown.units.iter().any(|unit| unit.is_group && unit.messages.contains(&index));
                    prop_assert_eq!(grown.is_in_group(index), is_in_group);
                }
            }
        }
    }
}
