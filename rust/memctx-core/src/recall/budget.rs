//! Selection of facts and details for a block of a given size.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::ops::Range;

use rustc_hash::FxHashSet;

use super::block::{Since, assemble, detail_entry, fact_line, frame};
use super::companions::{CompanionItem, Shown};
use super::cues::Wish;
use super::excerpt::{Reading, Wanted, excerpt};
use crate::text::Estimator;

/// The share of a block that facts may take before details are looked at, in percent.
pub const FACT_SHARE: usize = 30;
/// Tokens of one message that are included, as long as there are others that also want a place.
pub const EXCERPT: usize = 150;
/// Times as many tokens as that the best message may take of what is left in the end, and another the share of it that
/// its score is of the best one. Long passages are answered by a sentence that the words of a question rarely tell; twice as much of
/// them is mostly beside the question.
const GROWN: f64 = 2.5;
/// A piece of a message with fewer tokens than this says too little to be worth its header.
const LEAST: usize = 24;

/// A fact that could be included.
#[derive(Clone, Debug)]
pub struct FactItem<'a> {
    /// Kind of the fact.
    pub kind: &'a str,
    /// Content of the fact.
    pub content: &'a str,
    /// Higher is better.
    pub score: f64,
}

/// Candidate detail.
#[derive(Clone, Debug)]
pub struct DetailItem<'a> {
    /// Time of the message, in milliseconds since 1970.
    pub timestamp: f64,
    /// Role of the speaker.
    pub role: &'a str,
    /// Beginning of the segment's id; may be empty.
    pub id: &'a str,
    /// The time since when it no longer holds; none if it does.
    pub replaced: Option<Since>,
    /// All of it.
    pub content: &'a str,
    /// The bytes of it that matched.
    pub passage: Range<usize>,
    /// Higher is better.
    pub score: f64,
}

/// Candidates, and the space for them.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Facts, in the order in which they appear.
    pub facts: &'a [FactItem<'a>],
    /// Details.
    pub details: &'a [DetailItem<'a>],
    /// Messages to show beside the details they belong to, if there is room; the most wanted first.
    pub companions: &'a [CompanionItem<'a>],
    /// The question it answers; long messages are cut to where its words stand.
    pub query: &'a str,
    /// The most tokens the block may cost.
    pub cap: usize,
    /// The most tokens of one message, as long as others also want a place: [`EXCERPT`] unless there is a reason.
    pub excerpt: usize,
    /// Estimator of tokens.
    pub estimator: Estimator,
    /// Details that stand behind the others, nearest to the question.
    pub last: &'a [usize],
    /// True if a note is to tell the model what the block is.
    pub has_note: bool,
}

/// A block and what went into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The text; empty if nothing fits.
    pub text: String,
    /// Tokens; 0 if nothing fits.
    pub tokens: usize,
    /// The facts included, in order, by their index in the request.
    pub facts: Vec<usize>,
    /// The details included, in the order they stand in, by their index in the request.
    pub details: Vec<usize>,
    /// Indices of the details that were cut.
    pub cut: Vec<usize>,
    /// The companions included, by their index in the request, with true for those that were cut.
    pub companions: Vec<(usize, bool)>,
}

/// Return the best block that fits.
///
/// Facts may take 30 % and details the rest; what one side leaves goes to the other. The best scores come first, and
/// what is too long for the space left is cut to the piece that matters or passed over for something shorter. Companions
/// come after all of these; details that were cut grow in the end, where many texts are asked for to all that is left.
///
/// Details stand oldest first, those of `last` behind the others.
#[must_use]
pub fn build(request: &Request<'_>) -> Block {
    let mut space = Space::new(request);
    let facts = by_score(request.facts.iter().map(|fact| fact.score));
    let share = request.cap.saturating_mul(FACT_SHARE) / 100;
    space.take_facts(&facts, share);
    let words = space.take_details(&by_score(request.details.iter().map(|detail| detail.score)));
    space.take_facts(&facts, request.cap);
    space.take_companions();
    space.extend_details(&words);
    space.finish()
}

/// Places from the best score to the worst; the first among equals comes first.
fn by_score(scores: impl Iterator<Item = f64>) -> Vec<usize> {
    let mut order: Vec<(usize, f64)> = scores.enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    order.into_iter().map(|(index, _)| index).collect()
}

/// A block in the making. Costs are in thirds of a token, in which texts add up.
pub(super) struct Space<'a> {
    pub(super) request: &'a Request<'a>,
    wish: Wish,
    lines: Vec<(usize, String)>,
    pub(super) entries: Vec<Entry>,
    pub(super) companions: Vec<Shown>,
    included: FxHashSet<(Side, &'a str, &'a str)>,
    /// Tokens of lines and entries with the line feeds after them.
    facts: usize,
    details: usize,
}

#[derive(PartialEq, Eq, Hash)]
enum Side {
    Facts,
    Details,
}

/// Query terms, with their positions in long details.
struct Words {
    wanted: Wanted,
    readings: Vec<Option<Reading>>,
}

pub(super) struct Entry {
    pub(super) index: usize,
    pub(super) text: String,
    pub(super) is_cut: bool,
}

impl<'a> Space<'a> {
    fn new(request: &'a Request<'a>) -> Self {
        let (lines, entries, companions) = (Vec::new(), Vec::new(), Vec::new());
        let wish = Wish::of(request.query);
        Self { request, wish, lines, entries, companions, included: FxHashSet::default(), facts: 0, details: 0 }
    }

    fn thirds(&self, text: &str) -> usize {
        self.request.estimator.thirds(text)
    }

    /// Return the tokens left once there are lines or entries or both.
    fn room(&self, cap: usize, has_facts: bool, has_details: bool) -> Option<usize> {
        cap.saturating_mul(3)
            .checked_sub(self.thirds(&frame(self.request.has_note, has_facts, has_details)) + self.facts + self.details)
    }

    /// Return the tokens left for entries.
    pub(super) fn room_for_details(&self) -> Option<usize> {
        self.room(self.request.cap, !self.lines.is_empty(), true)
    }

    /// Return whether the same words are included already.
    pub(super) fn has(&self, item: &DetailItem<'_>) -> bool {
        self.included.contains(&(Side::Details, item.role, item.content))
    }

    /// Count the entry of a message.
    pub(super) fn include(&mut self, item: &DetailItem<'a>, entry: &str) {
        self.included.insert((Side::Details, item.role, item.content));
        self.details += self.thirds(entry) + 2;
    }

    /// Add the facts that fit while facts take no more than a share of the block, and all of it no more than its cap.
    fn take_facts(&mut self, order: &[usize], share: usize) {
        for &index in order {
            let fact = &self.request.facts[index];
            if self.lines.iter().any(|(known, _)| *known == index) {
                continue;
            }
            let line = fact_line(fact.kind, fact.content);
            let cost = self.thirds(&line) + 1;
            let fits = self.room(self.request.cap, true, !self.entries.is_empty()).is_some_and(|room| cost <= room);
            if fits
                && (self.facts + cost).div_ceil(3) <= share
                && self.included.insert((Side::Facts, fact.kind, fact.content))
            {
                self.facts += cost;
                self.lines.push((index, line));
            }
        }
    }

    /// Return the number of best details that are read for term statistics: twice as many as there is room for, and
    /// enough for a sample. The others hardly ever fit.
    fn within_reach(&self) -> usize {
        const FEWEST: usize = 4;
        FEWEST.max(2 * self.request.cap / self.request.excerpt.max(1))
    }

    /// Add the details that fit, long ones cut.
    fn take_details(&mut self, order: &[usize]) -> Words {
        let mut wanted = Wanted::new(self.request.query);
        let read = |detail: &DetailItem<'_>| {
            let is_long = self.request.estimator.estimate(detail.content) > self.request.excerpt;
            is_long.then(|| Reading::new(detail.content, detail.passage.clone(), &wanted))
        };
        let mut readings: Vec<Option<Reading>> = self.request.details.iter().map(|_| None).collect();
        for &index in order.iter().take(self.within_reach()) {
            readings[index] = read(&self.request.details[index]);
        }
        wanted.weigh(&readings);
        let words = Words { wanted, readings };
        for &index in order {
            let detail = &self.request.details[index];
            if self.has(detail) {
                continue;
            }
            let Some(room) = self.room_for_details() else { break };
            if let Some(entry) = self.entry(index, &words, self.request.excerpt, room) {
                self.include(detail, &entry.text);
                self.entries.push(entry);
            }
        }
        words
    }

    /// Let the details that were cut have what is left.
    fn extend_details(&mut self, words: &Words) {
        for at in 0..self.entries.len() {
            let Some(room) = self.room_for_details() else { return };
            if self.entries[at].is_cut && room >= 3 * LEAST {
                let before = self.thirds(&self.entries[at].text) + 2;
                let index = self.entries[at].index;
                let most = self.most_grown(index);
                if let Some(entry) = self.entry(index, words, most, room + before) {
                    self.details += self.thirds(&entry.text) + 2;
                    self.details -= before;
                    self.entries[at] = entry;
                }
            }
        }
    }

    /// Return the most tokens that a detail may grow to.
    fn most_grown(&self, index: usize) -> usize {
        if !self.request.has_note || self.wish.many {
            return usize::MAX / 3;
        }
        let best = self.request.details.iter().map(|detail| detail.score).fold(0.0, f64::max);
        let share = if best > 0.0 { self.request.details[index].score / best } else { 1.0 };
        let excerpt = self.request.excerpt as f64;
        #[allow(clippy::cast_sign_loss)] // neither is negative
        let grown = (GROWN * excerpt * share).max(excerpt) as usize;
        grown
    }

    fn entry(&self, index: usize, words: &Words, most: usize, room: usize) -> Option<Entry> {
        let detail = &self.request.details[index];
        let unread = LazyCell::new(|| Reading::new(detail.content, detail.passage.clone(), &words.wanted));
        let cut = |most| {
            let reading = words.readings[index].as_ref().unwrap_or_else(|| &*unread);
            excerpt(detail.content, reading, &words.wanted, most, self.request.estimator)
        };
        let (text, is_cut) = self.fitted(detail, most, room, cut)?;
        Some(Entry { index, text, is_cut })
    }

    /// Return a message with at most so many tokens of content that fits into the room, if enough of it does, and
    /// whether it was cut; `cut` returns an excerpt of so many tokens.
    pub(super) fn fitted(
        &self,
        item: &DetailItem<'_>,
        most: usize,
        room: usize,
        cut: impl Fn(usize) -> String,
    ) -> Option<(String, bool)> {
        /// Escaping makes text longer, by how much is known only when it is done.
        const TRIES: usize = 4;
        let DetailItem { timestamp, role, id, replaced, content, .. } = item;
        let header = self.thirds(&detail_entry(*timestamp, role, id, *replaced, "")) + 2;
        let mut most = most.min(room.checked_sub(header)? / 3);
        let whole = self.request.estimator.estimate(content);
        for _ in 0..TRIES {
            if most < LEAST.min(whole) {
                return None;
            }
            let is_cut = whole > most;
            let piece = if is_cut { Cow::Owned(cut(most)) } else { Cow::Borrowed(*content) };
            let text = detail_entry(*timestamp, role, id, *replaced, &piece);
            let cost = self.thirds(&text) + 2;
            if cost <= room {
                return Some((text, is_cut));
            }
            most = most.saturating_sub((cost - room).div_ceil(3));
        }
        None
    }

    fn finish(mut self) -> Block {
        let details = self.request.details;
        self.lines.sort_by_key(|(index, _)| *index);
        self.entries.sort_by(|a, b| {
            let (a, b) = (a.index, b.index);
            details[a].timestamp.total_cmp(&details[b].timestamp).then(a.cmp(&b))
        });
        self.entries.sort_by_key(|entry| self.request.last.contains(&entry.index)); // stable
        let cut = self.entries.iter().filter(|entry| entry.is_cut).map(|entry| entry.index).collect();
        let details = self.entries.iter().map(|entry| entry.index).collect();
        let companions = self.companions.iter().map(|shown| (shown.index, shown.is_cut)).collect();
        let entries = self.in_order();
        let (facts, lines): (Vec<usize>, Vec<String>) = self.lines.into_iter().unzip();
        let text = assemble(self.request.has_note, &lines, &entries);
        let tokens = if text.is_empty() { 0 } else { self.request.estimator.estimate(&text) };
        Block { text, tokens, facts, details, cut, companions }
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::parse;
    use super::super::escape::tricky;
    use super::*;
    use proptest::prelude::*;

    fn fact<'a>(kind: &'a str, content: &'a str) -> FactItem<'a> {
        FactItem { kind, content, score: 1.0 }
    }

    fn detail<'a>(timestamp: f64, role: &'a str, content: &'a str, score: f64) -> DetailItem<'a> {
        DetailItem { timestamp, role, id: "", replaced: None, content, passage: 0..content.len(), score }
    }

    fn built(facts: &[FactItem<'_>], details: &[DetailItem<'_>], cap: usize) -> Block {
        build(&Request {
            facts,
            details,
            companions: &[],
            query: "",
            cap,
            excerpt: EXCERPT,
            estimator: Estimator::Utf16,
            last: &[],
            has_note: false,
        })
    }

    #[test]
    fn the_golden_block() {
        let facts = [fact("decision", "Use A"), fact("config", "port 3000")];
        let details = [
            detail(1_770_733_919_000.0, "assistant", "first", 0.5),
            detail(1_770_737_519_000.0, "user", "second\n  indented", 0.9),
        ];
        let block = built(&facts, &details, 200);
        assert_eq!((block.tokens, block.facts.len(), block.details.len(), block.cut.len()), (76, 2, 2, 0));
        assert!(
            block.text.contains("[2026-02-10 14:31 assistant] first\n\n[2026-02-10 15:31 user] second\n  indented")
        );
        assert_eq!(built(&facts, &details, 76), block, "the block fits in just what it costs");
        assert_eq!(built(&facts, &details, 75).details.len(), 1);
        assert_eq!(built(&facts, &details, 20), Block::default());
    }

    #[test]
    fn an_oversized_best_detail_is_cut_and_leaves_room() {
        let long = "word ".repeat(5000);
        let details = [detail(0.0, "tool", &long, 1.0), detail(1.0, "user", "the answer is 42", 0.5)];
        let block = built(&[], &details, 400);
        assert_eq!((&block.details[..], &block.cut[..]), (&[0, 1][..], &[0][..]));
        assert!((350..=400).contains(&block.tokens), "what is left goes to what was cut: {}", block.tokens);
    }

    #[test]
    fn a_share_that_is_not_used_passes_to_the_other_side() {
        let texts: Vec<String> = (0..200).map(|n| format!("fact number {n} of a great many")).collect();
        let facts: Vec<FactItem<'_>> = texts.iter().map(|text| fact("note", text)).collect();
        let details: Vec<DetailItem<'_>> = texts.iter().map(|text| detail(0.0, "user", text, 1.0)).collect();
        let tokens = |items: usize| items * 13;
        assert!((950..=1000).contains(&built(&facts, &[], 1000).tokens));
        assert!((950..=1000).contains(&built(&[], &details, 1000).tokens));
        let both = built(&facts, &details, 1000);
        assert!((200..=300).contains(&tokens(both.facts.len())), "{}", both.facts.len());
        let few = built(&facts, &details[..3], 1000);
        assert!(few.tokens > 950 && few.details.len() == 3, "{few:?}");
    }

    #[test]
    fn the_chosen_details_stand_last() {
        let details: Vec<DetailItem<'_>> = ["first", "second", "third"]
            .iter()
            .zip(0_u8..)
            .map(|(text, at)| detail(f64::from(at), "user", text, 1.0))
            .collect();
        let request = Request {
            facts: &[],
            details: &details,
            companions: &[],
            query: "",
            cap: 200,
            excerpt: EXCERPT,
            estimator: Estimator::Script,
            last: &[0, 1],
            has_note: true,
        };
        let block = build(&request);
        assert_eq!(block.details, [2, 0, 1]);
        assert!(
            block.text.find("third") < block.text.find("first") && block.text.find("first") < block.text.find("second")
        );
    }

    #[test]
    fn only_a_question_for_many_lets_a_long_message_fill_the_block() {
        let long = "word ".repeat(5_000);
        let built = |query| {
            let request = Request {
                facts: &[],
                details: &[detail(0.0, "tool", &long, 1.0)],
                companions: &[],
                query,
                cap: 3_000,
                excerpt: EXCERPT,
                estimator: Estimator::Script,
                last: &[],
                has_note: true,
            };
            build(&request).tokens
        };
        assert!((2 * EXCERPT..3 * EXCERPT).contains(&built("which word?")));
        assert!(built("list all words") > 2_900);
    }

    #[test]
    fn the_same_words_are_included_once() {
        let details = [detail(0.0, "user", "say it again", 1.0), detail(9.0, "user", "say it again", 0.9)];
        assert_eq!(built(&[], &details, 500).details, [0]);
    }

    proptest! {
        #[test]
        fn the_cap_holds_and_the_records_come_back(
            facts in prop::collection::vec((tricky(), tricky(), 0.0..1.0), 0..6),
            details in prop::collection::vec((0.0..1e13, tricky(), prop_oneof![tricky(), "([a-z飞]{1,8} ){0,200}"], 0.0..1.0), 0..8),
            cap in 0..400_usize,
        ) {
            let facts: Vec<FactItem<'_>> =
                facts.iter().map(|(kind, content, score)| FactItem { kind, content, score: *score }).collect();
            let details: Vec<DetailItem<'_>> =
                details.iter().map(|(time, role, content, score)| detail(*time, role, content, *score)).collect();
            for estimator in [Estimator::Script, Estimator::Utf16] {
                let block = build(&Request { facts: &facts, details: &details, companions: &[], query: "a 飞", cap, excerpt: EXCERPT, estimator, last: &[], has_note: cap % 2 == 1 });
                prop_assert!(block.tokens <= cap);
                prop_assert_eq!(block.tokens, if block.text.is_empty() { 0 } else { estimator.estimate(&block.text) });
                let Some(parsed) = parse(&block.text) else {
                    prop_assert!(block.facts.is_empty() && block.details.is_empty() && block.text.is_empty());
                    continue;
                };
                let expected: Vec<_> = block.facts.iter().map(|&at| (facts[at].kind, facts[at].content)).collect();
                prop_assert_eq!(parsed.facts.iter().map(|fact| (&*fact.kind, &*fact.content)).collect::<Vec<_>>(), expected);
                for (record, &at) in parsed.details.iter().zip(&block.details) {
                    prop_assert_eq!(&*record.role, details[at].role);
                    prop_assert_eq!(record.content == details[at].content, !block.cut.contains(&at));
                }
                prop_assert_eq!(parsed.details.len(), block.details.len());
            }
        }
    }
}
