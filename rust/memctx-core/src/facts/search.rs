//! Search over facts.

use std::cell::RefCell;

use super::index::{Index, Owner};
use super::kind::Kind;
use super::question::{Word, words};
use crate::Explanation;
use crate::store::Fact;

/// Request of a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The question.
    pub query: &'a str,
    /// Facts to find at most.
    pub limit: usize,
    /// Only those of one of these kinds.
    pub kinds: Option<&'a [Kind]>,
    /// True to explain scores.
    pub explain: bool,
}

/// A fact that answers a question.
#[derive(Clone, Debug)]
pub struct Found {
    /// The fact.
    pub fact: Fact,
    /// The share of what the question's words tell that the fact has, from 0 to 1.
    pub score: f64,
    /// Number of the question's words that it has.
    pub matched: usize,
    /// Explanation of the score, if it was asked for.
    pub explanation: Option<Explanation>,
}

/// Partial score of a text.
#[derive(Clone, Copy, Debug, Default)]
struct Accumulator {
    weight: f64,
    words: u32,
    /// The last word that was counted, from 1, so that two forms of one count once.
    last: u32,
}

thread_local! {
    static ACCUMULATORS: RefCell<Vec<Accumulator>> = const { RefCell::new(Vec::new()) };
}

/// Return the number of words that a fact must match, of so many in the question.
fn needed(words: usize) -> usize {
    match words {
        0..=2 => words,
        3..=8 => words.div_ceil(2),
        _ => (words * 3).div_ceil(10).min(6),
    }
}

impl Index {
    /// Return the facts that answer a question, best first, newer first among equals.
    pub(super) fn search(&self, request: &Request<'_>) -> Vec<Found> {
        if self.active() == 0 {
            return Vec::new();
        }
        let words = words(self.texts(), self.families(), request.query);
        let all = words.iter().fold(0.0, |sum, word| sum + word.weight);
        if all <= 0.0 || request.limit == 0 {
            return Vec::new();
        }
        let mut found = self.accumulators(&words, request.kinds);
        let order = |(one, first): &(Owner, Accumulator), (other, second): &(Owner, Accumulator)| {
            second.weight.total_cmp(&first.weight).then_with(|| other.age.cmp(&one.age))
        };
        if found.len() > request.limit {
            found.select_nth_unstable_by(request.limit, order);
            found.truncate(request.limit);
        }
        found.sort_unstable_by(order);
        let explain = |number| request.explain.then(|| self.explain(&words, number, all));
        let answer = |(owner, accumulator): (Owner, Accumulator)| Found {
            fact: self.fact(owner.number).clone(),
            score: (accumulator.weight / all).min(1.0),
            matched: accumulator.words as usize,
            explanation: explain(owner.number),
        };
        found.into_iter().map(answer).collect()
    }

    /// Return the facts that have enough of the words.
    fn accumulators(&self, words: &[Word], kinds: Option<&[Kind]>) -> Vec<(Owner, Accumulator)> {
        let least = needed(words.len()) as u32;
        ACCUMULATORS.with_borrow_mut(|accumulators| {
            accumulators.clear();
            accumulators.resize(self.texts().span(), Accumulator::default());
            let mut enough = Vec::new();
            for (word, position) in words.iter().zip(1..) {
                for text in word.terms.iter().flat_map(|&term| self.texts().holders(term)) {
                    let accumulator = &mut accumulators[text as usize];
                    if accumulator.last == position {
                        continue;
                    }
                    (accumulator.last, accumulator.words, accumulator.weight) =
                        (position, accumulator.words + 1, accumulator.weight + word.weight);
                    if accumulator.words == least {
                        enough.push(text);
                    }
                }
            }
            let owned = enough.into_iter().filter_map(|text| Some((*self.owner(text)?, accumulators[text as usize])));
            owned.filter(|(owner, _)| owner.is_of(kinds)).collect()
        })
    }

    /// Return the facts that share most with a text, however little that is, closest first.
    pub(super) fn nearest(&self, text: &str, limit: usize, kinds: Option<&[Kind]>) -> Vec<Fact> {
        let admit = |text| self.owner(text).is_some_and(|owner| owner.is_of(kinds));
        let best = self.texts().query(text).best(limit, admit);
        best.into_iter().filter_map(|hit| Some(self.fact(self.owner(hit.number)?.number).clone())).collect()
    }

    /// Return the score of a fact, word by word.
    fn explain(&self, words: &[Word], number: u32, all: f64) -> Explanation {
        let texts = self.texts();
        let is_owned = |text| self.owner(text).is_some_and(|owner| owner.number == number);
        let has = |word: &Word| word.terms.iter().any(|&term| texts.holders(term).any(&is_owned));
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
        Explanation::of(format!("of the weight of the question's {} words", words.len()), score, parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Settings;
    use crate::text::{Mode, Term, for_each_token};
    use proptest::prelude::*;

    fn index(contents: &[String]) -> Index {
        let mut index = Index::new(&Settings::new("s"));
        for (content, number) in contents.iter().zip(0_u32..) {
            let line = serde_json::json!({
                "id": format!("f{}", number % 40),
                "type": Kind::ALL[number as usize % Kind::ALL.len()].name(),
                "content": content,
                "sessionId": "s",
                "timestamp": number / 3,
                "_deleted": number % 11 == 7,
            });
            index.take(Fact::from_line(line.to_string().as_bytes()).expect("a fact")).expect("room");
        }
        index
    }

    /// Looks at every fact and every word.
    fn scan(index: &Index, request: &Request<'_>) -> Vec<(String, usize)> {
        let words = words(index.texts(), index.families(), request.query);
        let mut found: Vec<(f64, f64, u32, String, usize)> = Vec::new();
        for number in index.numbers() {
            let fact = index.fact(number);
            let is_of = request.kinds.is_none_or(|kinds| kinds.iter().any(|kind| kind.name() == fact.kind));
            if !fact.is_active() || !is_of {
                continue;
            }
            let mut tokens = Vec::new();
            for_each_token(&fact.content, Mode::Memctx, |token| tokens.push(Term::new(token)));
            let met: Vec<&Word> =
                words.iter().filter(|word| word.terms.iter().any(|term| tokens.contains(term))).collect();
            if !words.is_empty() && met.len() >= needed(words.len()) {
                let weight = met.iter().fold(0.0, |sum, word| sum + word.weight);
                let position = index.age_of(number).state;
                found.push((weight, fact.timestamp.unwrap_or(0.0), position, fact.id.clone(), met.len()));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)).then(b.2.cmp(&a.2)));
        found.into_iter().take(request.limit).map(|(_, _, _, id, met)| (id, met)).collect()
    }

    fn text() -> impl Strategy<Value = String> {
        let word = prop::sample::select(vec![
            "port",
            "ports",
            "webhook",
            "cache",
            "cached",
            "log",
            "logs",
            "8443",
            "payHook",
            "pay_hook",
            "the",
            "端口",
            "服务",
            "端",
            "データ",
            "세션",
            "캐시는",
            "3.11",
        ]);
        prop::collection::vec(word, 1..9).prop_map(|words| words.join(" "))
    }

    proptest! {
        #[test]
        fn equals_looking_at_every_fact(
            contents in prop::collection::vec(text(), 0..60),
            query in text(),
            limit in 0..12_usize,
            kinds in prop::option::of(prop::sample::subsequence(Kind::ALL.to_vec(), 0..4)),
        ) {
            let index = index(&contents);
            let request = Request { query: &query, limit, kinds: kinds.as_deref(), explain: true };
            let found = index.search(&request);
            for hit in &found {
                prop_assert!(hit.score > 0.0 && hit.score <= 1.0);
                let explained = hit.explanation.as_ref().map_or(0.0, |explained| explained.value);
                prop_assert!((explained - hit.score).abs() < 1e-9);
            }
            let found: Vec<(String, usize)> = found.into_iter().map(|hit| (hit.fact.id, hit.matched)).collect();
            prop_assert_eq!(found, scan(&index, &request));
        }

        #[test]
        fn the_nearest_are_those_of_an_index_of_their_own(
            contents in prop::collection::vec(text(), 1..60),
            query in text(),
            limit in 0..12_usize,
        ) {
            let index = index(&contents);
            let active: Vec<u32> = index.numbers().filter(|&number| index.fact(number).is_active()).collect();
            let mut ordered = active;
            ordered.sort_by_key(|&number| index.age_of(number).state);
            let mut texts = crate::bm25::Texts::new(Mode::Memctx);
            for &number in &ordered {
                texts.push(&index.fact(number).content).expect("room");
            }
            let wanted = texts.query(&query).best(limit, |_| true);
            let wanted: Vec<&str> =
                wanted.iter().map(|hit| index.fact(ordered[hit.number as usize]).id.as_str()).collect();
            let nearest = index.nearest(&query, limit, None);
            prop_assert_eq!(nearest.iter().map(|fact| fact.id.as_str()).collect::<Vec<_>>(), wanted);
        }
    }

    #[test]
    fn the_more_words_the_smaller_the_share_that_is_needed() {
        let wanted = [0, 1, 2, 2, 2, 3, 3, 4, 4, 3, 3, 4];
        assert_eq!(std::array::from_fn(needed), wanted);
        assert_eq!([20, 21, 1000].map(needed), [6, 6, 6]);
    }

    #[test]
    fn one_fact_is_found() {
        let index = index(&["The webhook listens on port 8443".to_owned()]);
        let found = index.search(&Request { query: "webhook port?", limit: 5, ..Request::default() });
        assert!((found[0].score - 1.0).abs() < 1e-12 && found[0].matched == 2);
        assert!(index.search(&Request { query: "webhook color?", limit: 5, ..Request::default() }).is_empty());
    }
}
