//! A conversation as it reads after an edit. Keys stay those of the messages as they came, so that an edit of one turn
//! is recognized in the next.

use std::sync::Arc;

use super::conversation::{Conversation, new_lineage};
use super::problems::plainly_paired;
use super::text::Text;
use super::unit::Unit;
use super::view::{Kind, MessageView, Outline};

/// A tool's result that reads otherwise now.
#[derive(Clone, Debug)]
pub struct Shortened {
    /// The message it is in.
    pub message: u32,
    /// Index among the message's results.
    pub ordinal: u32,
    /// New text of the result.
    pub text: Arc<Text>,
}

impl Conversation {
    /// Return the conversation without some of its units, and for each message left its earlier index.
    #[must_use]
    pub fn without_units(&self, gone: &[u32]) -> (Self, Vec<u32>) {
        let mut is_gone = vec![false; self.views.len()];
        let mut units: Vec<Unit> = Vec::with_capacity(self.units.len());
        let mut next = gone.iter().peekable();
        for (number, unit) in (0_u32..).zip(&self.units) {
            if next.next_if(|&&gone| gone == number).is_some() {
                unit.messages.iter().for_each(|&index| is_gone[index as usize] = true);
            } else {
                units.push(unit.clone());
            }
        }
        let indices: Vec<u32> = (0..self.views.len() as u32).filter(|&index| !is_gone[index as usize]).collect();
        let mut new = vec![0; self.views.len()];
        (0_u32..).zip(&indices).for_each(|(index, &old)| new[old as usize] = index);
        units.iter_mut().flat_map(|unit| &mut unit.messages).for_each(|index| *index = new[*index as usize]);
        let views: Vec<MessageView> = indices.iter().map(|&index| self.views[index as usize].clone()).collect();
        let left = Self {
            format: self.format,
            views,
            units,
            paired: 0,
            has_own_ids: self.has_own_ids,
            lineage: new_lineage(),
        };
        (left, indices)
    }

    /// Put behind it what another conversation, which it is a part of, has from these messages and units on.
    pub(crate) fn append(&mut self, other: &Self, view: usize, unit: usize) {
        let earlier = (view - self.views.len()) as u32;
        self.views.extend_from_slice(&other.views[view..]);
        let units = other.units[unit..].iter().cloned().map(|mut unit| {
            unit.messages.iter_mut().for_each(|index| *index -= earlier);
            unit
        });
        self.units.extend(units);
        self.paired = plainly_paired(self);
        self.has_own_ids = other.has_own_ids;
    }

    /// Return the conversation with some results shortened.
    #[must_use]
    pub fn with_results(mut self, edits: &[Shortened]) -> Self {
        self.lineage = new_lineage();
        let mut saved = vec![0_u64; self.views.len()];
        for edit in edits {
            let view = &mut self.views[edit.message as usize];
            let parts = Arc::make_mut(&mut view.parts);
            let results = parts.iter_mut().filter(|part| part.kind == Kind::Result);
            let Some(part) = results.filter(|part| !part.is_server).nth(edit.ordinal as usize) else { continue };
            let before = part.text.as_ref().map_or(0, |text| text.tokens());
            let after = edit.text.tokens().min(before);
            part.tokens -= (before - after).min(part.tokens);
            part.text = Some(Arc::clone(&edit.text));
            view.outline = Outline::of(&view.parts);
            saved[edit.message as usize] += u64::from(before - after);
        }
        for unit in &mut self.units {
            let less: u64 = unit.messages.iter().map(|&index| saved[index as usize]).sum();
            unit.tokens = unit.tokens.saturating_sub(less);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::draft::{call, result, said, text};
    use crate::messages::{Format, Role};

    fn conversation() -> Conversation {
        let views = vec![
            said(Role::User, "go on"),
            MessageView::new(Role::Assistant, vec![call("a", "read", "{}")]),
            MessageView::new(Role::Tool, vec![result("a", "a long answer of the tool, with much in it")]),
            said(Role::User, "go on"),
        ];
        Conversation::new(Format::OpenAi, views)
    }

    #[test]
    fn remaining_messages_keep_their_keys_under_new_indices() {
        let whole = conversation();
        let (left, indices) = whole.without_units(&[0]);
        assert_eq!(indices, [1, 2, 3]);
        assert_eq!(left.units[0].messages[..], [0, 1]);
        assert_eq!(left.units[1].messages[..], [2]);
        assert_eq!(left.units[1].key, whole.units[2].key, "though it is the first of its kind now");
    }

    #[test]
    fn a_shorter_result_costs_less_and_keeps_the_key() {
        let whole = conversation();
        let edits = [Shortened { message: 2, ordinal: 0, text: text("gone") }];
        let left = whole.clone().with_results(&edits);
        let saved = whole.tokens() - left.tokens();
        assert!(saved > 0);
        assert_eq!(whole.units[1].tokens - left.units[1].tokens, saved);
        assert_eq!(whole.units[1].key, left.units[1].key);
    }
}
