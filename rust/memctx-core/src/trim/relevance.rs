//! Relevance of units to a query by BM25, with the statistics of those units.

use std::mem::take;
use std::panic::resume_unwind;
use std::thread;

use super::wanted::Wanted;
use crate::bm25::{Statistics, weight};
use crate::messages::{Conversation, Kind, MessageView, Reader, Text, Unit};
use crate::text::trim_js;

/// Return the texts of a unit that relevance reads: speech, calls and results.
pub(super) fn texts_of<'v>(unit: &Unit, views: &'v [MessageView]) -> impl Iterator<Item = &'v Text> {
    let parts = unit.messages.iter().flat_map(|&index| views[index as usize].parts.iter());
    parts
        .filter(|part| matches!(part.kind, Kind::Text | Kind::Call | Kind::Result))
        .filter_map(|part| part.text.as_deref())
}

/// Return whether there is anything to read in a unit.
pub(super) fn has_text(unit: &Unit, views: &[MessageView]) -> bool {
    texts_of(unit, views).any(|text| !trim_js(text.body()).is_empty())
}

/// Return the messages of the units that answer a query best, the best unit first: at most `limit` units that have one
/// of these messages and are not much worse than the best.
#[must_use]
pub fn most_relevant(conversation: &Conversation, indices: &[u32], query: &str, limit: usize) -> Vec<u32> {
    /// Share of the best score below which a search would not recall a unit.
    const FLOOR: f64 = 0.25;
    let mut is_asked = vec![false; conversation.views.len()];
    for &index in indices {
        is_asked[index as usize] = true;
    }
    let asked = conversation.units.iter().filter(|unit| unit.messages.iter().any(|&index| is_asked[index as usize]));
    let units: Vec<&Unit> = asked.collect();
    let scores = scores(&units, &conversation.views, query);
    let floor = FLOOR * scores.iter().copied().fold(0.0, f64::max);
    let is_hopeful = |&(score, _): &(f64, &Unit)| score > 0.0 && score >= floor;
    let mut best: Vec<(f64, &Unit)> = scores.into_iter().zip(units).filter(is_hopeful).collect();
    best.sort_by(|a, b| b.0.total_cmp(&a.0));
    best.iter().take(limit).flat_map(|(_, unit)| unit.messages.iter().copied()).collect()
}

/// Return the score of each unit for the query by BM25. A term that the query gives twice counts twice.
pub(super) fn scores(units: &[&Unit], views: &[MessageView], query: &str) -> Vec<f64> {
    let wanted = Wanted::new(query);
    let counts = Counts::of_all(units, views, &wanted);
    let tokens: u64 = counts.lengths.iter().sum();
    let average_length = tokens as f64 / units.len().max(1) as f64;
    let statistics = Statistics { documents: units.len(), average_length };
    let weights = wanted.repeats().iter().zip(&counts.units_with);
    let weights: Vec<f64> = weights.map(|(&repeats, &with)| weight(statistics.idf(with), repeats)).collect();
    let norm = statistics.norm();
    let mut start = 0;
    let units = counts.lengths.iter().zip(&counts.ends);
    units
        .map(|(&length, &end)| {
            let found = &counts.found[start..end];
            start = end;
            let part = |&(term, tf): &(u32, u32)| weights[term as usize] * norm.saturate(f64::from(tf), length as f64);
            found.iter().map(part).fold(0.0, |sum, part| sum + part)
        })
        .collect()
}

/// Frequencies of the query's terms in units.
struct Counts {
    /// Terms of the query and their frequencies, in the order of the query, unit after unit.
    found: Vec<(u32, u32)>,
    ends: Vec<usize>,
    lengths: Vec<u64>,
    /// Units that a term stands in, by its number.
    units_with: Vec<usize>,
}

impl Counts {
    /// Counted in several threads, where there are many new texts to be read and processors for it.
    fn of_all(units: &[&Unit], views: &[MessageView], wanted: &Wanted) -> Self {
        /// Bytes that are worth a thread of their own.
        const MUCH: usize = 1 << 18;
        const MOST_THREADS: usize = 4;
        let threads = (unread_bytes(units, views) / MUCH).min(MOST_THREADS);
        let threads =
            if threads < 2 { 1 } else { thread::available_parallelism().map_or(1, |most| most.get().min(threads)) };
        let mut shares = units.chunks(units.len().div_ceil(threads).max(1));
        let own = shares.next().unwrap_or_default();
        thread::scope(|scope| {
            let others: Vec<_> = shares
                .map(|share| (share, thread::Builder::new().spawn_scoped(scope, || Self::of(share, views, wanted))))
                .collect();
            let mut counts = Self::of(own, views, wanted);
            for (share, thread) in others {
                counts.append(match thread {
                    Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                    Err(_) => Self::of(share, views, wanted), // there is no thread available
                });
            }
            counts
        })
    }

    /// Count each text right after it is read, while its terms are in cache.
    fn of(units: &[&Unit], views: &[MessageView], wanted: &Wanted) -> Self {
        let terms = wanted.repeats().len();
        let mut counts = Self { found: Vec::new(), ends: Vec::new(), lengths: Vec::new(), units_with: vec![0; terms] };
        let mut term_counts = TermCounts::new(terms);
        let mut reader = Reader::with_room(unread_bytes(units, views));
        for unit in units {
            let mut length = 0;
            for text in texts_of(unit, views) {
                let terms = reader.terms(text);
                length += terms.len() as u64;
                wanted.each_in(terms, |term| term_counts.count(term));
            }
            term_counts.drain(|term, tf| {
                counts.found.push((term, tf));
                counts.units_with[term as usize] += 1;
            });
            counts.ends.push(counts.found.len());
            counts.lengths.push(length);
        }
        reader.finish();
        counts
    }

    /// Put the counts of further units behind these.
    fn append(&mut self, further: Self) {
        let start = self.found.len();
        self.found.extend(further.found);
        self.ends.extend(further.ends.into_iter().map(|end| start + end));
        self.lengths.extend(further.lengths);
        for (units, more) in self.units_with.iter_mut().zip(further.units_with) {
            *units += more;
        }
    }
}

/// Branch-free counters of terms: which terms are new cannot be predicted.
struct TermCounts {
    frequency: Vec<u32>,
    /// A bit for each term that was seen.
    seen: Vec<u64>,
}

impl TermCounts {
    fn new(terms: usize) -> Self {
        Self { frequency: vec![0; terms], seen: vec![0; terms.div_ceil(u64::BITS as usize)] }
    }

    #[inline]
    fn count(&mut self, term: u32) {
        self.frequency[term as usize] += 1;
        self.seen[(term / u64::BITS) as usize] |= 1 << (term % u64::BITS);
    }

    /// Give all terms that were seen, in their order, and start over. Sums depend on it: equal units must score alike.
    fn drain(&mut self, mut each: impl FnMut(u32, u32)) {
        for (index, seen) in (0..).zip(&mut self.seen) {
            let mut rest = take(seen);
            while rest != 0 {
                let term = index * u64::BITS + rest.trailing_zeros();
                rest &= rest - 1;
                each(term, take(&mut self.frequency[term as usize]));
            }
        }
    }
}

fn unread_bytes(units: &[&Unit], views: &[MessageView]) -> usize {
    let texts = units.iter().flat_map(|unit| texts_of(unit, views));
    texts.filter(|text| !text.has_terms()).map(|text| text.body().len()).sum()
}
