//! History of a fact.

use std::collections::HashMap;

use rustc_hash::FxHashSet;

use super::index::Index;
use crate::store::Fact;

impl Index {
    /// Return all states of the facts of a chain: each fact after those it superseded, oldest first. The same from
    /// every id of the chain; nothing if the id is not known.
    pub(super) fn history(&self, id: &str) -> Vec<Fact> {
        let Some(start) = self.find(id) else { return Vec::new() };
        let mut superseded: HashMap<&str, Vec<u32>> = HashMap::new();
        for number in self.numbers() {
            if let Some(by) = &self.fact(number).superseded_by {
                superseded.entry(by).or_default().push(number);
            }
        }
        let mut history = Vec::new();
        let mut seen = FxHashSet::default();
        // A fact is entered when it is met for the second time, after those it superseded.
        let mut path = vec![(self.newest_of(start), false)];
        while let Some((number, is_done)) = path.pop() {
            if is_done {
                history.extend(self.states(number).cloned());
            } else if seen.insert(number) {
                path.push((number, true));
                let earlier = superseded.get(self.fact(number).id.as_str());
                path.extend(earlier.into_iter().flatten().rev().map(|&number| (number, false)));
            }
        }
        history
    }

    /// Return the fact that in the end superseded one. Others may have written a circle, which is left where it closes.
    fn newest_of(&self, start: u32) -> u32 {
        let mut seen = FxHashSet::default();
        let mut newest = start;
        while seen.insert(newest)
            && let Some(by) = self.fact(newest).superseded_by.as_deref()
            && let Some(next) = self.find(by)
        {
            newest = next;
        }
        newest
    }
}
