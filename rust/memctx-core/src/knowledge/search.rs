//! Which facts answer a question, and which are close to a text.

use std::cell::RefCell;
use std::cmp::Reverse;

use super::index::Index;
use super::kind::Kind;
use super::question::{Word, words};
use crate::Explanation;
use crate::store::Fact;

/// What is asked of facts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The question.
    pub query: &'a str,
    /// Facts to find at most.
    pub limit: usize,
    /// Only those of one of these kinds.
    pub kinds: Option<&'a [Kind]>,
    /// Whether to tell how scores came about.
    pub explain: bool,
}

/// A fact that answers a question.
#[derive(Clone, Debug)]
pub struct Found {
    /// The fact.
    pub fact: Fact,
    /// The share of what the question's words tell that the fact has, from 0 to 1.
    pub score: f64,
    /// How many of the question's words it has.
    pub matched: usize,
    /// How the score came about, where that was asked for.
    pub explanation: Option<Explanation>,
}

/// What is known of a text while a question is answered.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    weight: f64,
    words: u32,
    /// The last word that was counted, from 1, so that two forms of one count once.
    last: u32,
}

thread_local! {
    static TALLIES: RefCell<Vec<Tally>> = const { RefCell::new(Vec::new()) };
}

/// How many of so many words a fact must have to be an answer.
fn needed(words: usize) -> usize {
    match words {
        0..=2 => words,
        3..=8 => words.div_ceil(2),
        _ => (words * 3).div_ceil(10).min(6),
    }
}

impl Index {
    /// The facts that answer a question, best first, newer first among equals.
    pub(super) fn search(&self, request: &Request<'_>) -> Vec<Found> {
        let words = words(self.texts(), request.query);
        let all = words.iter().fold(0.0, |sum, word| sum + word.weight);
        if all <= 0.0 || request.limit == 0 {
            return Vec::new();
        }
        let mut found: Vec<(u32, Tally)> = self.tallies(&words, request.kinds);
        let key = |&(number, tally): &(u32, Tally)| {
            let (timestamp, state) = self.age_of(number);
            (Reverse(Ordered(tally.weight)), Reverse(Ordered(timestamp)), Reverse(state))
        };
        if found.len() > request.limit {
            found.select_nth_unstable_by_key(request.limit, key);
            found.truncate(request.limit);
        }
        found.sort_unstable_by_key(key);
        let explain = |number| request.explain.then(|| self.explain(&words, number, all));
        let answer = |(number, tally): (u32, Tally)| Found {
            fact: self.fact(number).clone(),
            score: (tally.weight / all).min(1.0),
            matched: tally.words as usize,
            explanation: explain(number),
        };
        found.into_iter().map(answer).collect()
    }

    /// The facts that have enough of the words.
    fn tallies(&self, words: &[Word], kinds: Option<&[Kind]>) -> Vec<(u32, Tally)> {
        let least = needed(words.len()) as u32;
        TALLIES.with_borrow_mut(|tallies| {
            tallies.clear();
            tallies.resize(self.texts().span(), Tally::default());
            let mut enough = Vec::new();
            for (word, place) in words.iter().zip(1..) {
                for text in word.terms.iter().flat_map(|&term| self.texts().holders(term)) {
                    let tally = &mut tallies[text as usize];
                    if tally.last == place {
                        continue;
                    }
                    (tally.last, tally.words, tally.weight) = (place, tally.words + 1, tally.weight + word.weight);
                    if tally.words == least {
                        enough.push(text);
                    }
                }
            }
            let owned = enough.into_iter().filter_map(|text| Some((self.owner(text)?, tallies[text as usize])));
            owned.filter(|&(number, _)| self.is_of(number, kinds)).collect()
        })
    }

    fn is_of(&self, number: u32, kinds: Option<&[Kind]>) -> bool {
        kinds.is_none_or(|kinds| kinds.iter().any(|kind| kind.name() == self.fact(number).kind))
    }

    /// The facts that share most with a text, however little that is, closest first.
    pub(super) fn nearest(&self, text: &str, limit: usize, kinds: Option<&[Kind]>) -> Vec<Fact> {
        let admit = |text| self.owner(text).is_some_and(|number| self.is_of(number, kinds));
        let best = self.texts().ask(text).best(limit, admit);
        best.into_iter().filter_map(|hit| Some(self.fact(self.owner(hit.number)?).clone())).collect()
    }

    /// The score of a fact, word by word.
    fn explain(&self, words: &[Word], number: u32, all: f64) -> Explanation {
        let texts = self.texts();
        let has = |word: &Word| {
            word.terms.iter().any(|&term| texts.holders(term).any(|text| self.owner(text) == Some(number)))
        };
        let facts = texts.statistics().documents;
        let parts: Vec<Explanation> = words
            .iter()
            .map(|word| {
                let words = format!("{:?}, in {} of {facts} facts", word.token, word.facts);
                if has(word) {
                    Explanation::leaf(words, word.weight / all)
                } else {
                    Explanation::leaf(format!("{words}, missing; {:.6} if it were there", word.weight / all), 0.0)
                }
            })
            .collect();
        let score = parts.iter().fold(0.0, |sum, part| sum + part.value);
        Explanation::of(format!("of what the question's {} words tell", words.len()), score, parts)
    }
}

/// A number to sort by.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
