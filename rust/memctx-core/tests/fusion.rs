//! The fusion of rankings against golden values and plain re-statements of its rules.

#![allow(clippy::float_cmp)] // equal means equal here: no rounding is involved

mod golden;

use memctx_core::fusion::{BALANCE, Blend, DECAY, Trigrams, Weights, calibrate, decay_factor, merge, mmr, normalize};
use proptest::prelude::*;

fn by_ref(side: &[(String, f64)], divisor: f64) -> Vec<(&str, f64)> {
    side.iter().map(|(id, score)| (id.as_str(), score / divisor)).collect()
}

#[test]
fn golden_hybrid_scores() {
    let golden = golden::load("hybrid.json");
    let side = |name: &str| -> Vec<(String, f64)> {
        let pairs = golden[name].as_array().expect("pairs").iter();
        pairs.map(|pair| (pair[0].as_str().expect("id").to_owned(), pair[1].as_f64().expect("score"))).collect()
    };
    let (vector, bm25) = (side("vector"), side("bm25"));
    let divisor = normalize(bm25.iter().map(|hit| hit.1)).expect("a score above zero");
    let mut hits: Vec<(&str, f64, Blend)> = merge(&by_ref(&vector, 1.0), &by_ref(&bm25, divisor))
        .into_iter()
        .map(|(id, blend)| {
            let age = golden["ages_days"][id].as_f64().expect("age");
            (id, blend.score(Weights::default()) * decay_factor(age, DECAY), blend)
        })
        .collect();
    hits.sort_by(|a, b| b.1.total_cmp(&a.1));
    for ((id, score, _), expected) in hits.iter().zip(golden["hits"].as_array().expect("hits")) {
        assert_eq!(*id, expected[0].as_str().expect("id"));
        assert!((score - expected[1].as_f64().expect("score")).abs() < 1e-12);
    }
    // Found by one side only, a hit is measured on that side's scale.
    assert!((calibrate(hits[2].1, hits[2].2.weight(Weights::default())) - 0.4975).abs() < 1e-12);
}

#[test]
fn degenerate_scores_are_left_alone() {
    assert_eq!(normalize([]), None);
    assert_eq!(normalize([0.0, -1.0]), None);
    assert_eq!(decay_factor(10.0, 0.0), 0.0);
    assert_eq!(decay_factor(10.0, 2.0), 1.0);
    assert_eq!(calibrate(0.5, 0.0), 0.5);
}

/// Greedy choice with every comparison recomputed.
fn naive_mmr(scores: &[f64], k: usize, balance: f64, like: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let low = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let high = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = if high > low { high - low } else { 1.0 };
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < k.min(scores.len()) {
        let value = |index: usize| {
            let likeness = chosen.iter().map(|&other| like(index, other)).fold(0.0, f64::max);
            balance * ((scores[index] - low) / range) - (1.0 - balance) * likeness
        };
        let left = (0..scores.len()).filter(|index| !chosen.contains(index));
        let best = left.reduce(|a, b| if value(b) > value(a) { b } else { a }).expect("some are left");
        chosen.push(best);
    }
    chosen
}

proptest! {
    #[test]
    fn mmr_equals_the_reference_implementation(
        scores in prop::collection::vec((0..9_u8).prop_map(f64::from), 0..24), k in 0..30_usize,
        balance in 0.0..1.0_f64, likes in prop::collection::vec(0.0..1.0_f64, 24 * 24),
    ) {
        let like = |a: usize, b: usize| likes[a.min(b) * 24 + a.max(b)];
        let picks: Vec<usize> = mmr(&scores, k, balance, like).iter().map(|pick| pick.index).collect();
        prop_assert_eq!(picks, naive_mmr(&scores, k, balance, like));
    }

    #[test]
    fn relevance_alone_is_a_stable_sort(scores in prop::collection::vec((0..9_u8).prop_map(f64::from), 0..24)) {
        let mut sorted: Vec<usize> = (0..scores.len()).collect();
        sorted.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let picks: Vec<usize> = mmr(&scores, scores.len(), 1.0, |_, _| 1.0).iter().map(|pick| pick.index).collect();
        prop_assert_eq!(picks, sorted);
    }

    #[test]
    fn likeness_is_symmetric_and_whole_for_itself(a in ".{3,40}", b in ".{0,40}") {
        let (left, right) = (Trigrams::new(&a), Trigrams::new(&b));
        prop_assert_eq!(left.likeness(&right), right.likeness(&left));
        prop_assert!((0.0..=1.0).contains(&left.likeness(&right)));
    }
}

#[test]
fn near_duplicates_are_put_off() {
    let texts = ["the port is 8080", "The  port is 8080", "use redis for the cache", "hello"].map(Trigrams::new);
    let picks = mmr(&[1.0, 0.95, 0.7, 0.1], 2, BALANCE, |a, b| texts[a].likeness(&texts[b]));
    assert_eq!(picks.iter().map(|pick| pick.index).collect::<Vec<_>>(), [0, 2]);
}
