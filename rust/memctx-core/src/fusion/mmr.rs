//! Maximal marginal relevance: selection of diverse results.

use crate::Explanation;

/// Default weight of relevance against diversity.
pub const BALANCE: f64 = 0.7;

/// One choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pick {
    /// Index of the candidate.
    pub index: usize,
    /// `balance * relevance - (1 - balance) * likeness`, the highest of what was left.
    pub value: f64,
    /// Its score, brought to between 0 and 1 over all candidates.
    pub relevance: f64,
    /// Highest similarity to an earlier choice.
    pub likeness: f64,
}

impl Pick {
    /// Return the value and what it was made of.
    #[must_use]
    pub fn explain(&self, score: Explanation) -> Explanation {
        let parts = vec![
            Explanation::of("relevance", self.relevance, vec![score]),
            Explanation::leaf("similarity to hits chosen before", self.likeness),
        ];
        Explanation::of("mmr", self.value, parts)
    }
}

/// Choose `k` of the candidates one by one, each the best mix of relevance and difference from those chosen before;
/// the first among equals.
///
/// `likeness` compares two candidates by their indexes; it is called once for each candidate and choice.
///
/// ```
/// use memctx_core::fusion::mmr;
///
/// let like = |a: usize, b: usize| if a.max(b) <= 1 { 1.0 } else { 0.0 };
/// let order: Vec<usize> = mmr(&[1.0, 0.9, 0.8], 2, 0.5, like).iter().map(|pick| pick.index).collect();
/// assert_eq!(order, [0, 2]);
/// ```
#[must_use]
pub fn mmr(scores: &[f64], k: usize, balance: f64, likeness: impl Fn(usize, usize) -> f64) -> Vec<Pick> {
    let low = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let high = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = if high > low { high - low } else { 1.0 };
    let mut left: Vec<Pick> = scores
        .iter()
        .enumerate()
        .map(|(index, score)| Pick { index, value: 0.0, relevance: (score - low) / range, likeness: 0.0 })
        .collect();
    let mut picks: Vec<Pick> = Vec::with_capacity(k.min(left.len()));
    while picks.len() < k && !left.is_empty() {
        for candidate in &mut left {
            if let Some(last) = picks.last() {
                candidate.likeness = candidate.likeness.max(likeness(candidate.index, last.index));
            }
            candidate.value = balance * candidate.relevance - (1.0 - balance) * candidate.likeness;
        }
        let mut best = 0;
        for at in 1..left.len() {
            if left[at].value > left[best].value {
                best = at;
            }
        }
        picks.push(left.remove(best));
    }
    picks
}

/// The character trigrams of a text, lower-cased and with white space collapsed, for comparing texts without vectors.
#[derive(Clone, Debug)]
pub struct Trigrams(Vec<[char; 3]>);

impl Trigrams {
    /// Create the distinct trigrams of a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let folded: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase().chars().collect();
        let mut grams: Vec<[char; 3]> = folded.windows(3).map(|gram| [gram[0], gram[1], gram[2]]).collect();
        if let [first, rest @ ..] = &folded[..]
            && rest.len() < 2
        {
            // A text that is shorter than a gram is one.
            grams.push([*first, rest.first().copied().unwrap_or_default(), '\0']);
        }
        grams.sort_unstable();
        grams.dedup();
        Self(grams)
    }

    /// Return the share of all trigrams of the two that both have: 1 for the same, 0 for nothing in common.
    #[must_use]
    pub fn likeness(&self, other: &Self) -> f64 {
        let common = self.0.iter().filter(|gram| other.0.binary_search(gram).is_ok()).count();
        let all = self.0.len() + other.0.len() - common;
        if all == 0 { 0.0 } else { common as f64 / all as f64 }
    }
}
