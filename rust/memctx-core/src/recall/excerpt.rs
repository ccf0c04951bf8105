//! Excerpts: the best passage of a text within a budget.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::text::{Estimator, Mode, Term, for_each_token};

const MARK: char = '…';
/// A text is searched in stretches of about this many characters.
const STRETCH: usize = 120;
/// A border of lines or words is preferred if it costs at most this many characters.
const SNAP: usize = 40;

/// The words of a question and what each is worth, for finding the place that answers it.
#[derive(Debug, Default)]
pub(super) struct Wanted(FxHashMap<Term, f64>);

impl Wanted {
    /// Create the words of a question, all worth the same.
    pub(super) fn new(question: &str) -> Self {
        let mut worth: FxHashMap<Term, f64> = FxHashMap::default();
        for_each_token(question, Mode::Memctx, |token| {
            worth.insert(Term::new(token), 1.0);
        });
        Self(worth)
    }

    /// Let a word that many of the texts have be worth little, for it tells little about any of them.
    pub(super) fn weigh(&mut self, readings: &[Option<Reading>]) {
        let mut counts: FxHashMap<Term, f64> = self.0.keys().map(|&term| (term, 0.0)).collect();
        let mut all = 0.0;
        for reading in readings.iter().flatten() {
            all += 1.0;
            let mut terms: Vec<Term> = reading.found.iter().flatten().copied().collect();
            terms.sort_unstable();
            terms.dedup();
            for term in terms {
                counts.entry(term).and_modify(|count| *count += 1.0);
            }
        }
        for (term, worth) in &mut self.0 {
            let count = counts.get(term).copied().unwrap_or_default();
            *worth = (1.0 + (all + 1.0) / (count + 0.5)).ln();
        }
    }
}

/// The passage of a text that matched, read once for all excerpts that are tried; by default the beginning.
#[derive(Debug, Default)]
pub(super) struct Reading {
    stretches: Vec<Range<usize>>,
    /// The wanted words of each stretch, each once.
    found: Vec<Vec<Term>>,
    start: usize,
}

impl Reading {
    /// Read a passage, or all of a text that has no such passage.
    pub(super) fn new(text: &str, passage: Range<usize>, wanted: &Wanted) -> Self {
        let passage =
            if text.get(passage.clone()).is_some_and(|piece| !piece.is_empty()) { passage } else { 0..text.len() };
        let piece = &text[passage.clone()];
        let in_text = |stretch: Range<usize>| passage.start + stretch.start..passage.start + stretch.end;
        let stretches: Vec<Range<usize>> = stretches(piece).into_iter().map(in_text).collect();
        let found = stretches.iter().map(|stretch| terms_of(&text[stretch.clone()], &wanted.0)).collect();
        Self { stretches, found, start: passage.start }
    }
}

/// Return the terms of a text that are in the table, each once.
fn terms_of<T>(text: &str, known: &FxHashMap<Term, T>) -> Vec<Term> {
    let mut found = Vec::new();
    for_each_token(text, Mode::Memctx, |token| {
        let term = Term::new(token);
        if known.contains_key(&term) && !found.contains(&term) {
            found.push(term);
        }
    });
    found
}

/// Return the best piece of `text` that costs at most `most` tokens, cut at good borders and marked with `…` where it
/// was cut; the text itself if that is no longer. `reading` is where it matched.
pub(super) fn excerpt(text: &str, reading: &Reading, wanted: &Wanted, most: usize, estimator: Estimator) -> String {
    let scale = Scale(estimator);
    let room = 3 * most;
    if scale.of(text) <= room {
        return text.to_owned();
    }
    let room = room.saturating_sub(2 * MARK.len_utf16());
    let focus = focus(text, reading, wanted, room, scale);
    let window = snapped(text, grown(text, focus.clone(), room, scale), &focus);
    let piece = text[window.clone()].trim_end();
    let mark = |is_cut: bool| if is_cut { String::from(MARK) } else { String::new() };
    format!("{}{piece}{}", mark(window.start > 0), mark(window.start + piece.len() < text.trim_end().len()))
}

/// Cost of text in thirds of a token, in which the costs of characters add up.
#[derive(Clone, Copy)]
struct Scale(Estimator);

impl Scale {
    fn of(self, text: &str) -> usize {
        self.0.thirds(text)
    }

    fn of_char(self, c: char) -> usize {
        self.0.thirds_of_char(c)
    }
}

/// Return the stretches around which most of the wanted words stand, within the room there is.
fn focus(text: &str, reading: &Reading, wanted: &Wanted, room: usize, scale: Scale) -> Range<usize> {
    let Reading { stretches, found, start } = reading;
    let costs: Vec<usize> = stretches.iter().map(|stretch| scale.of(&text[stretch.clone()])).collect();
    let (mut best, mut most) = (*start..*start, (0.0, 0));
    for first in 0..stretches.len() {
        let (mut seen, mut worth, mut cost): (FxHashSet<Term>, f64, usize) = (FxHashSet::default(), 0.0, 0);
        for (at, terms) in found.iter().enumerate().skip(first) {
            cost += costs[at];
            if cost > room && at > first {
                break;
            }
            for term in terms {
                if seen.insert(*term) {
                    worth += wanted.0.get(term).copied().unwrap_or_default();
                }
            }
            // Of two that say as much the shorter has more room for what stands around it.
            if worth > most.0 || (worth > 0.0 && worth >= most.0 && cost < most.1) {
                best = stretches[first].start..stretches[at].end;
                most = (worth, cost);
            }
        }
    }
    best
}

/// Return a text in stretches that end with a line or a sentence, or are long enough.
fn stretches(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut start, mut length) = (0, 0);
    let mut last = '\0';
    for (at, c) in text.char_indices() {
        let is_end = last == '\n'
            || matches!(last, '。' | '！' | '？')
            || (c == ' ' && (matches!(last, '.' | '!' | '?') || length >= STRETCH))
            || length >= 2 * STRETCH;
        if is_end && at > start {
            pieces.push(start..at);
            (start, length) = (at, 0);
        }
        length += 1;
        last = c;
    }
    if start < text.len() {
        pieces.push(start..text.len());
    }
    pieces
}

/// Return a range with as much of its surroundings as there is room for, a third of it before; of a range that is too
/// long, its beginning.
fn grown(text: &str, focus: Range<usize>, room: usize, scale: Scale) -> Range<usize> {
    let inside = scale.of(&text[focus.clone()]);
    let Some(free) = room.checked_sub(inside) else {
        return focus.start..focus.start + reach(text[focus].chars(), room, scale).0;
    };
    let (before, used) = reach(text[..focus.start].chars().rev(), free / 3, scale);
    let (after, used_after) = reach(text[focus.end..].chars(), free - used, scale);
    // What the end left over goes to the beginning.
    let (before, _) = if focus.end + after == text.len() {
        reach(text[..focus.start].chars().rev(), free - used_after, scale)
    } else {
        (before, 0)
    };
    focus.start - before..focus.end + after
}

/// Return the number of bytes of the characters that fit, and their cost.
fn reach(characters: impl Iterator<Item = char>, room: usize, scale: Scale) -> (usize, usize) {
    let (mut bytes, mut cost) = (0, 0);
    for c in characters {
        let more = scale.of_char(c);
        if cost + more > room {
            break;
        }
        cost += more;
        bytes += c.len_utf8();
    }
    (bytes, cost)
}

/// Return a range that begins and ends at a line or a word if one of them is near, and never inside a character with
/// its marks.
fn snapped(text: &str, window: Range<usize>, focus: &Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = window;
    if start > 0 && start < focus.start {
        let head = near(&text[start..focus.start], SNAP);
        let behind = |at: usize, border: char| at + border.len_utf8();
        let is_inside = !text[..start].ends_with(char::is_whitespace);
        let border = head.find('\n').map(|at| behind(at, '\n'));
        let word = || head.find(char::is_whitespace).map(|at| at + head[at..].chars().next().map_or(0, char::len_utf8));
        start += border.or_else(|| if is_inside { word() } else { None }).unwrap_or(0);
    }
    if end < text.len() && !text[end..].starts_with(char::is_whitespace) {
        let tail = &text[start..end];
        let from = tail.char_indices().rev().nth(SNAP).map_or(0, |(at, _)| at);
        end = start
            + tail[from..].rfind(char::is_whitespace).filter(|&at| from + at > 0).map_or(tail.len(), |at| from + at);
    }
    while start < end && text[start..end].starts_with(is_attached) {
        start += text[start..end].chars().next().map_or(0, char::len_utf8);
    }
    while end > start && text[end..].starts_with(is_attached) {
        end -= text[start..end].chars().next_back().map_or(0, char::len_utf8);
    }
    start..end
}

/// Return the first characters of a text.
fn near(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(at, _)| &text[..at])
}

/// Return whether a character belongs to the one before it.
fn is_attached(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{200D}' | '\u{20D0}'..='\u{20FF}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{1F3FB}'..='\u{1F3FF}' | '\u{E0020}'..='\u{E007F}' | '\u{E0100}'..='\u{E01EF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(text: &str, question: &str, most: usize) -> String {
        let wanted = Wanted::new(question);
        excerpt(text, &Reading::new(text, 0..text.len(), &wanted), &wanted, most, Estimator::Script)
    }

    #[test]
    fn a_short_text_stays_whole() {
        assert_eq!(cut("the port is 5433", "port", 20), "the port is 5433");
    }

    #[test]
    fn the_piece_that_answers_is_kept() {
        let text = format!(
            "{}\nStaging Postgres listens on 5433 now.\n{}",
            "Some talk. ".repeat(40),
            "More of it. ".repeat(40)
        );
        let piece = cut(&text, "which port does postgres listen on", 30);
        assert!(piece.contains("Postgres listens on 5433"), "{piece}");
        assert!(piece.starts_with('…') && piece.ends_with('…'), "{piece}");
        let words = piece.trim_matches('…').trim();
        assert!(
            format!(" {} ", text.replace('\n', " ")).contains(&format!(" {} ", words.replace('\n', " "))),
            "{piece}"
        );
    }

    #[test]
    fn the_passage_counts_where_no_word_is_found() {
        let text = format!("{}X marks the spot {}", "before ".repeat(50), "after ".repeat(50));
        let at = text.find('X').expect("it is there");
        let wanted = Wanted::default();
        let piece = excerpt(&text, &Reading::new(&text, at..at + 16, &wanted), &wanted, 12, Estimator::Utf16);
        assert!(piece.contains("X marks"), "{piece}");
    }

    proptest! {
        #[test]
        fn an_excerpt_is_a_piece_of_the_text_and_fits(
            text in "([a-z]{1,9}|[飞書カ]{1,5}|e\u{301}|👍🏽|\n|[.!?] ){0,120}",
            question in "[a-z飞書 ]{0,12}",
            at in (0..300_usize, 0..300_usize),
            most in 1..60_usize,
        ) {
            let border = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            let (start, end) = (border(at.0.min(at.1)), border(at.0.max(at.1)));
            let wanted = Wanted::new(&question);
            let reading = Reading::new(&text, start..end, &wanted);
            for estimator in [Estimator::Script, Estimator::Utf16] {
                let piece = excerpt(&text, &reading, &wanted, most, estimator);
                prop_assert!(piece.is_empty() || estimator.estimate(&piece) <= most);
                prop_assert!(text.contains(piece.trim_start_matches('…').trim_end_matches('…')));
                prop_assert_eq!(piece == text, estimator.estimate(&text) <= most || piece == text);
            }
        }
    }
}
