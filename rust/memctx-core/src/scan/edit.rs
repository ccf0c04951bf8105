//! A conversation as it reads after an edit. Keys stay those of the messages as they came, so that an edit of one turn
//! is recognised in the next.

use std::sync::Arc;

use super::conversation::{Conversation, new_lineage};
use super::rules::plainly_paired;
use super::text::Text;
use super::unit::Unit;
use super::view::{Kind, Outline, View};

/// A tool's result that reads otherwise now.
#[derive(Clone, Debug)]
pub struct Shortened {
    /// The message it is in.
    pub message: u32,
    /// Which of the message's results it is.
    pub ordinal: u32,
    /// What it reads now.
    pub text: Arc<Text>,
}

impl Conversation {
    /// The conversation without some of its units, and for each message left the place it had.
    #[must_use]
    pub fn without_units(&self, gone: &[u32]) -> (Self, Vec<u32>) {
        let mut is_gone = vec![false; self.views.len()];
        let mut units: Vec<Unit> = Vec::with_capacity(self.units.len());
        let mut next = gone.iter().peekable();
        for (number, unit) in (0_u32..).zip(&self.units) {
            if next.next_if(|&&gone| gone == number).is_some() {
                unit.messages.iter().for_each(|&place| is_gone[place as usize] = true);
            } else {
                units.push(unit.clone());
            }
        }
        let places: Vec<u32> = (0..self.views.len() as u32).filter(|&place| !is_gone[place as usize]).collect();
        let mut new = vec![0; self.views.len()];
        (0_u32..).zip(&places).for_each(|(place, &old)| new[old as usize] = place);
        units.iter_mut().flat_map(|unit| &mut unit.messages).for_each(|place| *place = new[*place as usize]);
        let views: Vec<View> = places.iter().map(|&place| self.views[place as usize].clone()).collect();
        let left =
            Self { shape: self.shape, views, units, paired: 0, has_own_ids: self.has_own_ids, lineage: new_lineage() };
        (left, places)
    }

    /// Put behind it what another conversation, which it is a part of, has from these messages and units on.
    pub(crate) fn append(&mut self, other: &Self, view: usize, unit: usize) {
        let earlier = (view - self.views.len()) as u32;
        self.views.extend_from_slice(&other.views[view..]);
        let units = other.units[unit..].iter().cloned().map(|mut unit| {
            unit.messages.iter_mut().for_each(|place| *place -= earlier);
            unit
        });
        self.units.extend(units);
        self.paired = plainly_paired(self);
        self.has_own_ids = other.has_own_ids;
    }

    /// The conversation with some results shortened.
    #[must_use]
    pub fn with_results(mut self, edits: &[Shortened]) -> Self {
        self.lineage = new_lineage();
        let mut saved = vec![0_u64; self.views.len()];
        for edit in edits {
            let view = &mut self.views[edit.message as usize];
            let pieces = Arc::make_mut(&mut view.pieces);
            let results = pieces.iter_mut().filter(|piece| piece.kind == Kind::Result);
            let Some(piece) = results.filter(|piece| !piece.is_server).nth(edit.ordinal as usize) else { continue };
            let before = piece.text.as_ref().map_or(0, |text| text.tokens());
            let after = edit.text.tokens().min(before);
            piece.tokens -= (before - after).min(piece.tokens);
            piece.text = Some(Arc::clone(&edit.text));
            view.outline = Outline::of(&view.pieces);
            saved[edit.message as usize] += u64::from(before - after);
        }
        for unit in &mut self.units {
            let less: u64 = unit.messages.iter().map(|&place| saved[place as usize]).sum();
            unit.tokens = unit.tokens.saturating_sub(less);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::draft::{call, result, said, text};
    use crate::scan::{Role, Shape};

    fn conversation() -> Conversation {
        let views = vec![
            said(Role::User, "go on"),
            View::new(Role::Assistant, vec![call("a", "read", "{}")]),
            View::new(Role::Tool, vec![result("a", "a long answer of the tool, with much in it")]),
            said(Role::User, "go on"),
        ];
        Conversation::new(Shape::OpenAi, views)
    }

    #[test]
    fn what_is_left_keeps_its_keys_and_is_found_by_its_new_place() {
        let whole = conversation();
        let (left, places) = whole.without_units(&[0]);
        assert_eq!(places, [1, 2, 3]);
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
