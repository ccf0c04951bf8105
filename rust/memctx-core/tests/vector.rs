//! Vectors against golden values and against brute force.

mod golden;

use memctx_core::embed::HashEmbedder;
use memctx_core::vector::FlatIndex;
use memctx_core::{Error, Filter, Scored};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

#[test]
fn golden_hash_vectors() {
    let embedder = HashEmbedder::new(384).expect("a valid dimension");
    for case in golden::load("hash.json").as_array().expect("cases") {
        let text = case["text"].as_str().expect("text");
        let mut expected = vec![0.0; 384];
        for pair in case["nonzero"].as_array().expect("pairs") {
            let position = usize::try_from(pair[0].as_u64().expect("place")).expect("small");
            expected[position] = pair[1].as_f64().expect("value") as f32;
        }
        let mut vector = vec![f32::NAN; 384];
        embedder.embed(text, &mut vector);
        assert_eq!(vector, expected, "{text:?}");
    }
}

/// Embed as OpenClaw does, gram by gram.
fn naive_embed(text: &str, dim: usize) -> Vec<f32> {
    use unicode_general_category::{GeneralCategory as G, get_general_category};
    let is_word = |c| {
        matches!(
            get_general_category(c),
            G::UppercaseLetter
                | G::LowercaseLetter
                | G::TitlecaseLetter
                | G::ModifierLetter
                | G::OtherLetter
                | G::DecimalNumber
                | G::LetterNumber
                | G::OtherNumber
        )
    };
    let is_space = |c: char| c == '\u{FEFF}' || (c.is_whitespace() && c != '\u{85}');
    let mut collapsed = String::new();
    for c in text.to_lowercase().chars() {
        match c {
            c if is_space(c) && collapsed.ends_with(is_space) => {}
            c if is_space(c) => collapsed.push(' '),
            c => collapsed.push(c),
        }
    }
    let form: String = collapsed.chars().map(|c| if is_word(c) || "@.+-".contains(c) { c } else { ' ' }).collect();
    let form = form.trim_matches(' ');
    let units: Vec<u16> = match form.encode_utf16().count() {
        0..=3 => form.encode_utf16().collect(),
        _ => format!(" {form} ").encode_utf16().collect(),
    };
    let mut sums = vec![0.0_f64; dim];
    for gram in units.windows(units.len().clamp(1, 3)) {
        let digest = Sha256::digest(String::from_utf16_lossy(gram));
        let position = u32::from_le_bytes(digest[..4].try_into().expect("four bytes")) as usize % dim;
        sums[position] += if digest[4] & 1 == 0 { 1.0 } else { -1.0 };
    }
    let norm = sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt();
    sums.iter().map(|sum| if norm > 0.0 { (sum / norm) as f32 } else { 0.0 }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn remembered_grams_change_nothing(texts in prop::collection::vec(".{0,60}|[a-c飞书 !😀𠀀İΣ\u{FEFF}]{0,40}", 1..6)) {
        let embedder = HashEmbedder::new(61).expect("a valid dimension");
        for text in texts.iter().chain(&texts) {
            let mut vector = vec![0.0; 61];
            embedder.embed(text, &mut vector);
            prop_assert_eq!(vector, naive_embed(text, 61));
        }
    }
}

fn naive_cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    let norms = dot(a, a).sqrt() * dot(b, b).sqrt();
    if norms == 0.0 { 0.0 } else { dot(a, b) / norms }
}

/// Return vectors with what makes quantizing hard: near-duplicates, one large value, tiny and huge lengths, zeros.
fn matrix(dim: usize, rows: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<f32>>> {
    let value = prop_oneof![4 => -1.0..1.0_f32, 2 => -0.01..0.01_f32, 1 => Just(0.0_f32), 1 => -1e30..1e30_f32];
    let dense = prop::collection::vec(value, dim);
    let near = (0.0..1e-3_f32).prop_map(move |shift| vec![0.5 + shift; dim]);
    let tiny = prop::collection::vec(-1e-30..1e-30_f32, dim);
    let row = prop_oneof![4 => dense, 4 => near, 1 => tiny, 1 => Just(vec![0.0; dim])];
    prop::collection::vec(row, rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn equals_brute_force(
        (rows, queries) in (1..150_usize).prop_flat_map(|dim| (matrix(dim, 0..80), matrix(dim, 1..4))),
        k in 0..20_usize, removed in prop::collection::vec(0..80_usize, 0..20), limit in any::<bool>(),
    ) {
        let dim = queries[0].len();
        let mut index = FlatIndex::new(dim).expect("a valid dimension");
        for (number, row) in rows.iter().enumerate() {
            let group = if number % 3 == 0 { "third" } else { "" };
            index.add_many(&[&number.to_string()], row, group).expect("valid");
        }
        for number in &removed {
            index.remove(&number.to_string());
        }
        let filter = Filter { group: limit.then_some("third"), within: None };
        let found = index.search_many(&queries.concat(), k, filter).expect("valid");
        for (query, hits) in queries.iter().zip(found) {
            let mut expected: Vec<(usize, f64)> = rows.iter().enumerate()
                .filter(|(number, _)| !removed.contains(number) && (!limit || number % 3 == 0))
                .map(|(number, row)| (number, naive_cosine(query, row))).collect();
            expected.sort_by(|a, b| b.1.total_cmp(&a.1));
            prop_assert_eq!(hits.len(), k.min(expected.len()));
            for (hit, (_, cosine)) in hits.iter().zip(&expected) {
                let id: usize = index.id_map().id(hit.number).parse().expect("a number");
                prop_assert!((hit.score - cosine).abs() < 1e-12, "{} for {}", hit.score, cosine);
                prop_assert!((naive_cosine(query, &rows[id]) - cosine).abs() < 1e-12);
                let explained = index.explain(query, &id.to_string()).expect("valid").expect("present").value;
                prop_assert!((explained - hit.score).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn removals_close_up_and_replacing_makes_newest() {
    let mut index = FlatIndex::new(2).expect("a valid dimension");
    for number in 0..4000_u16 {
        index.add_many(&[&number.to_string()], &[1.0, f32::from(number)], "").expect("valid");
    }
    for number in (0..4000_u16).filter(|number| number % 4 != 0) {
        assert!(index.remove(&number.to_string()));
    }
    assert!(index.id_map().span() < 4000, "removals never led to a compaction");
    assert_eq!(index.get("400"), Some([1.0, 400.0].as_slice()));
    assert_eq!(index.get("401"), None);
    let best: Vec<Scored> = index.search(&[1.0, 8.0], 1, Filter::default()).expect("valid");
    assert_eq!(index.id_map().id(best[0].number), "8");
    index.add_many(&["0", "4"], &[1.0, 0.0, 1.0, 0.0], "").expect("valid");
    let best = index.search(&[1.0, 0.0], 2, Filter::default()).expect("valid");
    assert_eq!(best.iter().map(|hit| index.id_map().id(hit.number)).collect::<Vec<_>>(), ["0", "4"]);
    assert_eq!(index.id_map().len(), 1000);
}

#[test]
fn faults_are_named() {
    let mut index = FlatIndex::new(2).expect("a valid dimension");
    assert!(matches!(FlatIndex::new(0), Err(Error::Argument { what: "dim", .. })));
    assert!(matches!(index.add_many(&["a"], &[1.0], ""), Err(Error::Dimension { expected: 2, found: 1 })));
    let nan = index.add_many(&["a", "b"], &[1.0, 2.0, 3.0, f32::NAN], "");
    assert!(matches!(nan, Err(Error::NotFinite { row: 1, column: 1, .. })));
    assert!(index.id_map().is_empty(), "a refused batch adds nothing");
    assert!(matches!(index.search(&[f32::INFINITY, 0.0], 1, Filter::default()), Err(Error::NotFinite { .. })));
    assert!(matches!(HashEmbedder::new(40_000), Err(Error::Argument { .. })));
}
