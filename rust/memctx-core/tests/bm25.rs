//! The text index against golden values and against counting everything again.

mod golden;

use std::collections::{HashMap, HashSet};

use memctx_core::bm25::{B, Bm25Index, K1, Texts};
use memctx_core::text::{Mode, for_each_token};
use memctx_core::{Filter, Scored};
use proptest::prelude::*;

fn named(index: &Bm25Index, hits: &[Scored]) -> Vec<(String, f64)> {
    hits.iter().map(|hit| (index.id_map().id(hit.number).to_owned(), hit.score)).collect()
}

#[test]
fn golden_scores() {
    let golden = golden::load("bm25.json");
    for mode in [Mode::Memctx, Mode::OpenClaw] {
        let mut index = Bm25Index::new(mode);
        for pair in golden["documents"].as_array().expect("documents") {
            index.add(pair[0].as_str().expect("id"), pair[1].as_str().expect("text"), "").expect("room");
        }
        for case in golden["queries"].as_array().expect("queries") {
            let query = case["query"].as_str().expect("query");
            let hits = named(&index, &index.search(query, 10, Filter::default()));
            let expected = case["hits"].as_array().expect("hits");
            assert_eq!(hits.len(), expected.len(), "{query}");
            for ((id, score), hit) in hits.iter().zip(expected) {
                assert_eq!(id, hit[0].as_str().expect("id"));
                assert!((score - hit[1].as_f64().expect("score")).abs() < 1e-9, "{query}: {id} {score}");
            }
        }
    }
}

/// The documents as they are, every count taken when it is needed.
#[derive(Default)]
struct Naive {
    /// id, group, tokens; in the order they were added.
    documents: Vec<(String, String, Vec<String>)>,
}

fn tokens(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for_each_token(text, Mode::Memctx, |token| all.push(token.to_owned()));
    all
}

impl Naive {
    fn add(&mut self, id: &str, text: &str, group: &str) {
        self.remove(id);
        self.documents.push((id.to_owned(), group.to_owned(), tokens(text)));
    }

    fn remove(&mut self, id: &str) -> bool {
        let before = self.documents.len();
        self.documents.retain(|document| document.0 != id);
        self.documents.len() < before
    }

    fn search(&self, query: &str, group: Option<&str>, within: Option<&HashSet<String>>) -> Vec<(String, f64)> {
        let all = self.documents.len() as f64;
        let average = self.documents.iter().map(|document| document.2.len()).sum::<usize>() as f64 / all;
        let idf = |term: &String| {
            let with = self.documents.iter().filter(|document| document.2.contains(term)).count() as f64;
            ((all - with + 0.5) / (with + 0.5) + 1.0).ln()
        };
        let query: Vec<(String, f64)> = tokens(query).into_iter().map(|term| (term.clone(), idf(&term))).collect();
        let score = |document: &[String]| -> f64 {
            let norm = K1 * (1.0 - B + B * document.len() as f64 / average);
            let part = |(term, idf): &(String, f64)| {
                let tf = document.iter().filter(|token| *token == term).count() as f64;
                idf * tf * (K1 + 1.0) / (tf + norm)
            };
            query.iter().map(part).sum()
        };
        let mut hits: Vec<(String, f64)> = self
            .documents
            .iter()
            .filter(|(id, own, _)| group.is_none_or(|g| g == own) && within.is_none_or(|ids| ids.contains(id)))
            .map(|(id, _, document)| (id.clone(), score(document)))
            .filter(|(_, score)| *score > 0.0)
            .collect();
        hits.sort_by(|a, b| b.1.total_cmp(&a.1));
        hits
    }
}

/// Check for the same documents and scores; documents whose scores differ by rounding only may be exchanged.
fn assert_same(fast: &[(String, f64)], naive: &[(String, f64)], k: usize) {
    assert_eq!(fast.len(), naive.len().min(k));
    let scores: HashMap<&str, f64> = naive.iter().map(|(id, score)| (id.as_str(), *score)).collect();
    for (at, (id, score)) in fast.iter().enumerate() {
        assert!((score - scores[id.as_str()]).abs() < 1e-9, "{id}: {score} for {}", scores[id.as_str()]);
        assert!((score - naive[at].1).abs() < 1e-9, "rank {at}: {score} for {}", naive[at].1);
    }
}

#[derive(Clone, Debug)]
enum Step {
    Add(u8, String, bool),
    Remove(u8),
    Search(String, usize, Option<bool>, Option<Vec<u8>>),
}

fn words(range: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let word = prop_oneof![
        6 => "[a-d]", 3 => "[a-h][a-d]", 1 => "[飞书消息]{1,3}", 1 => "[a-b]{2}_[c-d]{2}", 1 => "(long|longer)[a-c]{8}",
    ];
    prop::collection::vec(word, range).prop_map(|words| words.join(" "))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..40_u8, words(0..30), any::<bool>()).prop_map(|(id, text, group)| Step::Add(id, text, group)),
        3 => (0..40_u8).prop_map(Step::Remove),
        4 => (words(0..12), 0..12_usize, any::<Option<bool>>(), prop::option::of(prop::collection::vec(0..40_u8, 0..20)))
            .prop_map(|(query, k, group, within)| Step::Search(query, k, group, within)),
    ]
}

fn group(is_second: bool) -> &'static str {
    if is_second { "second" } else { "first" }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_index_equals_counting_from_scratch(steps in prop::collection::vec(step(), 1..80)) {
        let mut fast = Bm25Index::new(Mode::Memctx);
        let mut naive = Naive::default();
        for step in steps {
            match step {
                Step::Add(id, text, in_second) => {
                    fast.add(&id.to_string(), &text, group(in_second)).expect("room");
                    naive.add(&id.to_string(), &text, group(in_second));
                }
                Step::Remove(id) => prop_assert_eq!(fast.remove(&id.to_string()), naive.remove(&id.to_string())),
                Step::Search(query, k, in_second, within) => {
                    let within: Option<HashSet<String>> = within.map(|ids| ids.iter().map(u8::to_string).collect());
                    let ids: Option<Vec<&str>> = within.as_ref().map(|ids| ids.iter().map(String::as_str).collect());
                    let filter = Filter { group: in_second.map(group), within: ids.as_deref() };
                    let hits = named(&fast, &fast.search(&query, k, filter));
                    assert_same(&hits, &naive.search(&query, filter.group, within.as_ref()), k);
                    for (id, score) in &hits {
                        let explained = fast.explain(&query, id).expect("the document is there").value;
                        prop_assert!((explained - score).abs() < 1e-12);
                    }
                }
            }
        }
    }
}

/// Enough documents for a search to stop early, and for removals to force a compaction.
#[test]
fn large_indexes_stay_exact() {
    let mut fast = Bm25Index::new(Mode::Memctx);
    let mut naive = Naive::default();
    let mut state = 7_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = |length| {
        let mut word = || {
            let spread = 1 + random(300);
            format!("w{}", random(spread))
        };
        (0..length).map(|_| word()).collect::<Vec<_>>().join(" ")
    };
    for number in 0..3000 {
        let (id, words) = (number.to_string(), text(20));
        fast.add(&id, &words, "").expect("room");
        naive.documents.push((id, String::new(), tokens(&words)));
    }
    for is_thinned in [false, true] {
        for query in (0..15).map(|_| text(12)).collect::<Vec<_>>() {
            let hits = named(&fast, &fast.search(&query, 10, Filter::default()));
            assert_same(&hits, &naive.search(&query, None, None), 10);
        }
        for number in (0..3000).filter(|number| !is_thinned && number % 5 != 0) {
            assert_eq!(fast.remove(&number.to_string()), naive.remove(&number.to_string()));
        }
    }
    assert!(fast.id_map().span() < 3000, "removals never led to a compaction");
}

#[test]
fn equal_scores_keep_the_order_of_arrival() {
    let mut index = Bm25Index::new(Mode::Memctx);
    for id in ["c", "a", "b"] {
        index.add(id, "the same words", "").expect("room");
    }
    index.add("c", "the same words", "").expect("room");
    let ids: Vec<String> =
        named(&index, &index.search("same", 3, Filter::default())).into_iter().map(|h| h.0).collect();
    assert_eq!(ids, ["a", "b", "c"], "replacing makes a document the newest");
}

#[test]
fn a_test_of_numbers_limits_a_search() {
    let mut texts = Texts::new(Mode::Memctx);
    for _ in 0..4 {
        texts.push("the same words").expect("room");
    }
    texts.remove(2);
    let hits = texts.search("same", 9, |number| number != 0 && number != 2);
    assert_eq!(hits.iter().map(|hit| hit.number).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(texts.statistics().documents, 3);
}
