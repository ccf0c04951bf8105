//! Selection of the best k of many, without sorting the rest.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// An item and its score. The greater of two has the higher score or, at the same score, the lower number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    /// The item's number.
    pub number: u32,
    /// Its score; never NaN.
    pub score: f64,
}

impl Eq for Scored {}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Keeps the `k` greatest of what it is offered.
#[derive(Debug)]
pub struct TopK {
    k: usize,
    heap: BinaryHeap<Reverse<Scored>>,
}

impl TopK {
    /// Room for `k`.
    #[must_use]
    pub fn new(k: usize) -> Self {
        Self { k, heap: BinaryHeap::new() }
    }

    /// Return the score an item must reach to have a chance; minus infinity while there is room.
    #[must_use]
    pub fn floor(&self) -> f64 {
        match self.heap.peek() {
            _ if self.k == 0 => f64::INFINITY,
            Some(Reverse(least)) if self.heap.len() >= self.k => least.score,
            _ => f64::NEG_INFINITY,
        }
    }

    /// Keep the item if it is among the best so far.
    pub fn offer(&mut self, item: Scored) {
        if self.heap.len() < self.k {
            self.heap.push(Reverse(item));
        } else if let Some(mut least) = self.heap.peek_mut()
            && item > least.0
        {
            *least = Reverse(item);
        }
    }

    /// Return the items kept, greatest first.
    #[must_use]
    pub fn into_sorted(self) -> Vec<Scored> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(item)| item).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_sorting_everything(scores in prop::collection::vec(0..9_u8, 0..60), k in 0..70_usize) {
            let items: Vec<Scored> = scores.iter().zip(0..)
                .map(|(&score, number)| Scored { number, score: f64::from(score) }).collect();
            let mut best = TopK::new(k);
            for &item in &items {
                best.offer(item);
            }
            let mut sorted = items;
            sorted.sort_by(|a, b| b.cmp(a));
            sorted.truncate(k);
            prop_assert_eq!(best.into_sorted(), sorted);
        }
    }
}
