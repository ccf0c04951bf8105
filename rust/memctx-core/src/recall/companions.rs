//! Companions in a block: messages shown beside the details they belong to.

use super::budget::{DetailItem, Space};
use super::excerpt::{Reading, Wanted, excerpt};

/// The most tokens of a companion.
pub const COMPANION: usize = 60;

/// A message that belongs to a detail: the result of its call, the question that it answers.
#[derive(Clone, Debug)]
pub struct CompanionItem<'a> {
    /// The detail, by its index in the request.
    pub of: usize,
    /// True if it stands before the detail, false if after it.
    pub is_before: bool,
    /// The message; its score is not looked at.
    pub item: DetailItem<'a>,
}

/// A companion that is in the block.
pub(super) struct Shown {
    /// Its index in the request.
    pub(super) index: usize,
    text: String,
    pub(super) is_cut: bool,
}

impl Space<'_> {
    /// Add the beginnings of companions that fit, and no words twice.
    pub(super) fn take_companions(&mut self) {
        for (index, companion) in self.request.companions.iter().enumerate() {
            let CompanionItem { of, item, .. } = companion;
            if self.has(item) || !self.entries.iter().any(|entry| entry.index == *of) {
                continue;
            }
            let Some(room) = self.room_for_details() else { return };
            let head = DetailItem { content: head(item.content), ..item.clone() };
            let cut =
                |most| excerpt(head.content, &Reading::default(), &Wanted::default(), most, self.request.estimator);
            if let Some((text, is_cut)) = self.fitted(&head, COMPANION, room, cut) {
                let is_cut = is_cut || head.content.len() < item.content.len();
                self.include(item, &text);
                self.companions.push(Shown { index, text, is_cut });
            }
        }
    }

    /// Return all entries in their order, companions beside the details they belong to.
    pub(super) fn in_order(&self) -> Vec<String> {
        let beside = |detail: usize, is_before: bool| {
            let is_there = move |shown: &&Shown| {
                let companion = &self.request.companions[shown.index];
                companion.of == detail && companion.is_before == is_before
            };
            self.companions.iter().filter(is_there).map(|shown| shown.text.clone())
        };
        let mut entries = Vec::with_capacity(self.entries.len() + self.companions.len());
        for entry in &self.entries {
            entries.extend(beside(entry.index, true));
            entries.push(entry.text.clone());
            entries.extend(beside(entry.index, false));
        }
        entries
    }
}

/// Return the beginning of a text, more than there is room for: a result may be very long.
fn head(text: &str) -> &str {
    const BYTES: usize = 16 * COMPANION;
    let end = (0..=BYTES.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::super::block::parse;
    use super::super::budget::{Block, EXCERPT, FactItem, Request, build};
    use super::super::escape::tricky;
    use super::*;
    use crate::text::Estimator;
    use proptest::prelude::*;

    fn said<'a>(timestamp: f64, role: &'a str, content: &'a str) -> DetailItem<'a> {
        DetailItem { timestamp, role, id: "", replaced: None, content, passage: 0..content.len(), score: 1.0 }
    }

    fn beside(of: usize, is_before: bool, item: DetailItem<'_>) -> CompanionItem<'_> {
        CompanionItem { of, is_before, item }
    }

    fn built(details: &[DetailItem<'_>], companions: &[CompanionItem<'_>], cap: usize) -> Block {
        let (excerpt, estimator, last) = (EXCERPT, Estimator::Script, &[]);
        build(&Request {
            facts: &[],
            details,
            companions,
            query: "port",
            cap,
            excerpt,
            estimator,
            last,
            has_note: true,
        })
    }

    fn contents(block: &Block) -> Vec<String> {
        parse(&block.text).map(|parsed| parsed.details.into_iter().map(|it| it.content).collect()).unwrap_or_default()
    }

    #[test]
    fn companions_stand_beside_their_details() {
        let details = [said(2e9, "tool", "port 8443"), said(1e9, "user", "which port is it?")];
        let companions =
            [beside(0, true, said(2e9, "tool", "read pay.toml")), beside(1, false, said(3e9, "assistant", "8443"))];
        let block = built(&details, &companions, 500);
        assert_eq!(contents(&block), ["which port is it?", "8443", "read pay.toml", "port 8443"]);
        assert_eq!((&block.details[..], &block.companions[..]), (&[1, 0][..], &[(0, false), (1, false)][..]));
    }

    #[test]
    fn a_long_companion_is_cut_to_its_beginning() {
        for more in [" And so on and on.", " それから。"] {
            for times in [20, 2_000] {
                let talk = format!("First things first.{}", more.repeat(times));
                let block = built(
                    &[said(1e9, "user", "a question")],
                    &[beside(0, false, said(1e9, "assistant", &talk))],
                    2_000,
                );
                let told = contents(&block).remove(1);
                assert!(told.starts_with("First things first.") && told.ends_with('…') && told.len() < 400, "{told}");
                assert_eq!(block.companions, [(0, true)]);
            }
        }
    }

    #[test]
    fn the_same_words_are_shown_once_and_a_companion_only_beside_its_detail() {
        let details = [said(1e9, "user", "again"), said(2e9, "user", "again"), said(3e9, "user", "another")];
        let companions = [
            beside(0, false, said(1e9, "assistant", "yes")),
            beside(1, false, said(2e9, "assistant", "no")),
            beside(2, true, said(2e9, "assistant", "yes")),
            beside(2, false, said(2e9, "user", "again")),
        ];
        assert_eq!(built(&details, &companions, 500).companions, [(0, false)]);
    }

    #[test]
    fn a_detail_that_was_cut_gets_what_companions_leave() {
        let long = "word ".repeat(2_000);
        let block = built(&[said(1e9, "tool", &long)], &[beside(0, true, said(1e9, "tool", "cat the words"))], 600);
        assert_eq!((&block.cut[..], &block.companions[..]), (&[0][..], &[(0, false)][..]));
        assert!((430..=500).contains(&block.tokens), "{}", block.tokens);
    }

    proptest! {
        #[test]
        fn nothing_that_was_found_gives_way_to_a_companion(
            facts in prop::collection::vec(tricky(), 0..4),
            details in prop::collection::vec((0.0..1e13, tricky(), 1..40_usize, 0.0..1.0), 0..6),
            companions in prop::collection::vec((0..6_usize, any::<bool>(), tricky(), 1..40_usize), 0..6),
            cap in 0..500_usize,
        ) {
            let texts: Vec<String> = details.iter().map(|(_, text, times, _)| text.repeat(*times)).collect();
            let others: Vec<String> = companions.iter().map(|(_, _, text, times)| text.repeat(*times)).collect();
            let facts: Vec<FactItem<'_>> =
                facts.iter().map(|content| FactItem { kind: "note", content, score: 1.0 }).collect();
            let details: Vec<DetailItem<'_>> = details.iter().zip(&texts)
                .map(|((time, _, _, score), text)| DetailItem { score: *score, ..said(*time, "user", text) }).collect();
            let companions: Vec<CompanionItem<'_>> = companions.iter().zip(&others)
                .map(|((of, is_before, _, _), text)| beside(*of, *is_before, said(0.0, "tool", text))).collect();
            let of = |companions: &[CompanionItem<'_>]| build(&Request {
                facts: &facts, details: &details, companions, query: "a 飞", cap, excerpt: EXCERPT,
                estimator: Estimator::Script, last: &[], has_note: true,
            });
            let (block, alone) = (of(&companions), of(&[]));
            prop_assert!(block.tokens <= cap);
            prop_assert_eq!((&block.facts, &block.details), (&alone.facts, &alone.details));
            prop_assert_eq!(contents(&block).len(), block.details.len() + block.companions.len());
            for (index, _) in &block.companions {
                prop_assert!(block.details.contains(&companions[*index].of));
            }
        }
    }
}
