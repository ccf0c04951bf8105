//! Vectors that come from outside, and what becomes of those there are when another model makes them.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memctx_core::store::{Found, Maker, Model, Record, Request, Settings, Store};
use memctx_core::vmem;
use proptest::prelude::*;

const DIM: usize = 8;

/// Return a model of meanings: what is about the same thing has the same vector, whatever the words.
fn meaning(text: &str) -> Vec<f32> {
    let subjects = [["car", "automobile"], ["dog", "hound"], ["sea", "ocean"]];
    let mut vector = vec![0.01; DIM];
    for (value, subject) in vector.iter_mut().zip(&subjects) {
        *value += if subject.iter().any(|word| text.contains(word)) { 1.0 } else { 0.0 };
    }
    vector
}

fn settings(name: &str) -> Settings {
    let model = Model::supplied(name, "1", DIM).unwrap();
    Settings { model, replaces_vectors: true, eviction_days: 0.0, ..Settings::new("s") }
}

fn open(path: &Path) -> Store {
    Store::open(path, settings("meanings")).unwrap()
}

fn open_hash(path: &Path, replaces_vectors: bool) -> Store {
    Store::open(path, Settings { replaces_vectors, eviction_days: 0.0, ..Settings::new("s") }).unwrap()
}

/// The model of meanings, run by the core.
#[derive(Debug)]
struct Meanings;

impl Maker for Meanings {
    fn embed(&self, text: &str, vector: &mut [f32]) -> f32 {
        let values = meaning(text);
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter_mut().zip(values).for_each(|(into, value)| *into = value / length);
        1.0
    }
}

fn open_background(path: &Path) -> Store {
    let model = Model::background("background", "1", DIM, Arc::new(Meanings)).unwrap();
    Store::open(path, Settings { model, ..settings("background") }).unwrap()
}

fn say(store: &Store, texts: &[&str]) {
    let records: Vec<Record<'_>> =
        texts.iter().map(|content| Record { role: "user", content, timestamp: Some(1e12), metadata: None }).collect();
    store.add(&records).unwrap();
}

const TEXTS: [&str; 4] =
    ["my automobile is in the garage", "the hound barked all night", "an ocean of troubles", "a bill to pay on Monday"];

/// Embed what there is, at most so many batches; how many texts that were.
fn embed(store: &Store, batches: usize, size: usize) -> usize {
    let mut count = 0;
    for _ in 0..batches {
        let texts = store.unembedded(size).unwrap();
        let ids: Vec<&str> = texts.iter().map(|(id, _)| id.as_str()).collect();
        let values: Vec<f32> = texts.iter().flat_map(|(_, text)| meaning(text)).collect();
        store.supply(&ids, &values).unwrap();
        count += texts.len();
        if texts.is_empty() {
            break;
        }
    }
    count
}

fn find(store: &Store, query: &str, vector: Option<&[f32]>) -> Vec<Found> {
    store.search(&Request { query, vector, limit: 3, ..Request::default() }).unwrap()
}

fn stamp(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&fs::read(path.join("vectors.json")).unwrap()).unwrap()
}

fn vectors(path: &Path) -> usize {
    let report = vmem::verify(&path.join("vectors.bin")).unwrap();
    assert_eq!(report.checksum, vmem::Checksum::Valid);
    report.complete
}

#[test]
fn words_carry_the_search_until_vectors_come() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let store = open(&path);
    say(&store, &TEXTS);
    let query = meaning("which car?");
    assert_eq!(store.embedding().unwrap().lacking, 4);
    assert!(find(&store, "which car?", Some(&query)).is_empty());
    assert_eq!(find(&store, "garage", Some(&query))[0].segment.content, TEXTS[0]);
    assert_eq!(embed(&store, 10, 2), 4);
    let found = find(&store, "which car?", Some(&query));
    assert_eq!(found[0].segment.content, TEXTS[0]);
    assert!(found[0].vector > 0.9 && found[0].bm25 == 0.0);
    assert!(find(&store, "which car?", None).is_empty());
    let status = store.embedding().unwrap();
    assert_eq!((status.lacking, status.done_bytes), (0, status.log_bytes));
    // And again, with and without the snapshot.
    say(&store, &["the car has a flat tire"]);
    assert_eq!(embed(&store, 10, 64), 1);
    store.close();
    for _ in 0..2 {
        let store = open(&path);
        assert!(store.unembedded(10).unwrap().is_empty());
        assert!(find(&store, "which automobile?", Some(&query))[0].vector > 0.999);
        store.snapshot().unwrap();
        store.close();
    }
    assert_eq!((stamp(&path)["model"].as_str(), vectors(&path)), (Some("meanings"), 5));
}

#[test]
fn a_text_without_its_vector_is_ranked_by_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("memory"));
    let many: Vec<String> = (0..40).map(|n| format!("remark {n} about the garden")).collect();
    say(&store, &many.iter().map(String::as_str).collect::<Vec<_>>());
    embed(&store, 100, 64);
    say(&store, &["the car is in the garage"]);
    let query = meaning("car garage");
    let found = find(&store, "car garage", Some(&query));
    assert_eq!(found[0].segment.content, "the car is in the garage");
}

#[test]
fn invalid_vectors_are_refused_and_stay_pending() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let store = open(&path);
    say(&store, &TEXTS);
    let texts = store.unembedded(1).unwrap();
    let id = texts[0].0.as_str();
    for wrong in [vec![0.0; DIM], vec![f32::NAN; DIM], vec![1.0; DIM - 1]] {
        assert!(store.supply(&[id], &wrong).is_err());
        assert_eq!(store.unembedded(1).unwrap(), texts);
    }
    assert!(store.search(&Request { query: "car", vector: Some(&[1.0]), limit: 1, ..Request::default() }).is_err());
    store.set_aside(&[id]).unwrap();
    assert_eq!(embed(&store, 10, 64), 3);
    let status = store.embedding().unwrap();
    assert_eq!((status.lacking, status.aside), (1, 1));
    store.close();
    let store = open(&path);
    assert_eq!(store.unembedded(64).unwrap(), texts, "tried again");
}

#[test]
fn another_model_takes_over_when_all_its_vectors_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let store = open_hash(&path, false);
    say(&store, &TEXTS);
    store.snapshot().unwrap();
    store.close();
    let hashed = fs::read(path.join("vectors.bin")).unwrap();

    let store = open(&path);
    assert_eq!(embed(&store, 1, 2), 2);
    assert!(store.embedding().unwrap().is_replacing);
    store.close();
    assert!(fs::read(path.join("vectors.bin")).unwrap() == hashed, "the old ones stay");
    // Meanwhile someone with the old model writes on.
    let other = open_hash(&path, false);
    say(&other, &["the dog ate it"]);
    other.close();

    let store = open(&path);
    assert_eq!(embed(&store, 10, 2), 3, "nothing is embedded twice");
    assert!(!store.embedding().unwrap().is_replacing);
    assert_eq!((stamp(&path)["model"].as_str(), vectors(&path)), (Some("meanings"), 5));
    assert!(!path.join("vectors.next.bin").exists() && !path.join("vectors.next.json").exists());
    store.close();

    // What merely stands in leaves them alone; what is asked for does not.
    let fallback = open_hash(&path, false);
    assert_eq!(find(&fallback, "hound", None)[0].segment.content, TEXTS[1]);
    say(&fallback, &["a hashed remark"]);
    fallback.snapshot().unwrap();
    fallback.close();
    assert_eq!((stamp(&path)["model"].as_str(), vectors(&path)), (Some("meanings"), 5));
    let store = open_hash(&path, true);
    let start = Instant::now();
    while store.embedding().unwrap().is_replacing && start.elapsed() < Duration::from_secs(10) {
        assert_eq!(find(&store, "hound", None)[0].segment.content, TEXTS[1]);
    }
    assert_eq!((stamp(&path)["model"].as_str(), vectors(&path)), (Some("hash"), 6));
}

#[test]
fn a_follower_of_a_model_change_writes_no_vector_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let store = open(&path);
    say(&store, &TEXTS);
    embed(&store, 10, 64);
    store.close();
    // These keep their hashed vectors in memory, and one of them in its snapshot.
    let bystander = open_hash(&path, false);
    assert_eq!(bystander.len().unwrap(), 4);
    let sleeper = open_hash(&path, false);
    assert!(sleeper.snapshot().unwrap());
    sleeper.close();
    let changer = open_hash(&path, true);
    let until = Instant::now() + Duration::from_secs(20);
    while changer.embedding().unwrap().is_replacing {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(5));
    }
    std::mem::forget(changer); // as if it had been killed: it writes no snapshot of its own
    assert_eq!(vectors(&path), 4);
    let awake = open_hash(&path, false);
    for (store, text, count) in [(bystander, "one more dog", 5), (awake, "one more car", 6)] {
        say(&store, &[text]);
        assert!(store.snapshot().unwrap());
        assert_eq!(vectors(&path), count);
        store.close();
        assert_eq!(vectors(&path), count);
    }
}

#[test]
fn a_change_of_names_that_was_cut_short_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let store = open_hash(&path, false);
    say(&store, &TEXTS);
    store.snapshot().unwrap();
    store.close();
    let hashed = fs::read(path.join("vectors.bin")).unwrap();
    let store = open(&path);
    embed(&store, 10, 64);
    store.close();
    let (whole, done) = (fs::read(path.join("vectors.bin")).unwrap(), stamp(&path));
    // As it was between the stamp and the name, and between the name and the last stamp.
    for (current, next) in [(&hashed, Some(&whole)), (&whole, None)] {
        fs::write(path.join("vectors.bin"), current).unwrap();
        if let Some(next) = next {
            fs::write(path.join("vectors.next.bin"), next).unwrap();
        }
        let mut begun = done.clone();
        begun["file"] = "vectors.next.bin".into();
        fs::write(path.join("vectors.json"), begun.to_string()).unwrap();
        let store = open(&path);
        assert!(store.unembedded(10).unwrap().is_empty());
        assert_eq!(find(&store, "which car?", Some(&meaning("car")))[0].segment.content, TEXTS[0]);
        store.close();
        assert_eq!(stamp(&path), done);
        assert!(fs::read(path.join("vectors.bin")).unwrap() == whole);
        assert!(!path.join("vectors.next.bin").exists());
    }
}

#[test]
fn a_writer_that_dies_while_adding_loses_no_vector() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let store = open(&path);
    say(&store, &TEXTS);
    embed(&store, 10, 64);
    store.close();
    let file = path.join("vectors.bin");
    let whole = fs::read(&file).unwrap();
    // The checksum is written over first, and the header counts last.
    let body = &whole[..whole.len() - 28];
    for (number, torn) in [[body, &[7; 100]].concat(), body.to_vec()].into_iter().enumerate() {
        fs::write(&file, torn).unwrap();
        let store = open(&path);
        assert!(store.unembedded(10).unwrap().is_empty(), "all are known");
        assert_eq!(find(&store, "which car?", Some(&meaning("car")))[0].segment.content, TEXTS[0]);
        say(&store, &[&format!("the sea is calm on day {number}")]);
        assert!(embed(&store, 10, 64) > 0);
        store.close();
        assert_eq!(vectors(&path), TEXTS.len() + 1);
    }
}

#[test]
fn one_process_leads_and_the_others_read_its_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let (first, second) = (open(&path), open(&path));
    say(&first, &TEXTS);
    assert_eq!(first.unembedded(1).unwrap().len(), 1);
    assert!(second.unembedded(1).unwrap().is_empty());
    assert_eq!(embed(&first, 10, 64), 4);
    assert!(second.unembedded(1).unwrap().is_empty());
    assert_eq!(find(&second, "which car?", Some(&meaning("car")))[0].segment.content, TEXTS[0]);
    say(&second, &["the car is gone"]);
    assert_eq!(embed(&second, 10, 64), 1);
}

#[test]
fn a_model_of_the_core_embeds_queries_at_once_and_stored_texts_in_the_background() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let store = open_hash(&path, true);
    say(&store, &TEXTS[..2]);
    store.close();
    let store = open_background(&path);
    assert!(!store.embedding().unwrap().is_instant);
    assert_eq!(find(&store, "garage", None)[0].segment.content, TEXTS[0]);
    say(&store, &TEXTS[2..]);
    let until = Instant::now() + Duration::from_secs(20);
    while store.embedding().unwrap().is_replacing || store.embedding().unwrap().lacking > 0 {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(find(&store, "which car?", None)[0].segment.content, TEXTS[0]);
    assert_eq!(find(&store, "the sea", None)[0].segment.content, TEXTS[2]);
    store.close();
    assert_eq!((stamp(&path)["model"].as_str(), vectors(&path)), (Some("background"), 4));
    let store = open_background(&path);
    assert_eq!(store.embed_some().unwrap(), 0);
    say(&store, &["a car drives by"]);
    // The thread of the store may be faster.
    while store.embedding().unwrap().lacking > 0 {
        store.embed_some().unwrap();
    }
    store.close();
    assert_eq!(vectors(&path), 5);
}

#[test]
fn vectors_that_are_held_come_to_memory_when_the_last_hold_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_background(&folder.path().join("memory"));
    let (first, second) = (store.hold_vectors().unwrap(), store.hold_vectors().unwrap());
    say(&store, &TEXTS);
    for hold in [first, second] {
        while store.embed_some().unwrap() > 0 {}
        assert_eq!(store.embedding().unwrap().lacking, TEXTS.len());
        drop(hold);
    }
    let until = Instant::now() + Duration::from_secs(20);
    while store.embedding().unwrap().lacking > 0 {
        assert!(Instant::now() < until);
        store.embed_some().unwrap();
    }
    store.close();
    assert!(store.hold_vectors().is_err());
}

#[test]
fn a_store_that_is_dropped_ends_its_thread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let maker = Arc::new(Meanings);
    let model = Model::background("background", "1", DIM, maker.clone()).unwrap();
    let store = Store::open(&path, Settings { model, ..settings("background") }).unwrap();
    say(&store, &TEXTS);
    drop(store);
    let until = Instant::now() + Duration::from_secs(20);
    while Arc::strong_count(&maker) > 1 {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(20));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// In any order of writes, embeddings, changes of model and exits, all segments end up with one vector each.
    #[test]
    fn all_segments_get_vectors_in_any_order_of_steps(steps in prop::collection::vec(0..7_u8, 1..14)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory");
        let mut store = open(&path);
        let mut said = 0;
        for step in steps {
            match step {
                0 | 1 => {
                    say(&store, &[&format!("remark {said} about the car"), &format!("reply {said} about the sea")]);
                    said += 2;
                }
                2 if store.embedding().unwrap().model == "background" => drop(store.embed_some()),
                2 if !store.embedding().unwrap().is_instant => drop(embed(&store, 1, 1)),
                3 => store = { store.close(); open(&path) },
                4 => store = { store.close(); open_hash(&path, true) },
                5 => store = { store.close(); open_background(&path) },
                _ => store = { store.close(); Store::open(&path, settings("others")).unwrap() },
            }
            prop_assert_eq!(store.len().unwrap(), said);
        }
        store.close();
        let store = open(&path);
        embed(&store, 100, 3);
        prop_assert_eq!(store.embedding().unwrap().lacking, 0);
        if said > 0 {
            let found = vmem::read(&path.join("vectors.bin")).unwrap();
            let ids: std::collections::HashSet<&str> = found.ids.iter().collect();
            prop_assert_eq!((ids.len(), found.ids.len()), (said, said));
        }
    }
}
