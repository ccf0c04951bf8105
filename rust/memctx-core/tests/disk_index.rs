//! Evicted segments are found on disk, and ranked as if they were in memory.
#![cfg(feature = "disk-index")]
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::path::Path;

use memctx_core::store::{Found, Record, Request, SearchFilter, Settings, Store};
use proptest::prelude::*;

fn open(folder: &Path, session: &str, most: usize) -> Store {
    let settings = Settings { max_segments: most, cross_session: true, eviction_days: 0.0, ..Settings::new(session) };
    Store::open(folder, settings).unwrap()
}

fn say(store: &Store, texts: &[String]) {
    for (number, text) in texts.iter().enumerate() {
        let role = ["user", "assistant"][number % 2];
        let record = Record { role, content: text, timestamp: Some(1e12 + number as f64 * 6e4), metadata: None };
        store.add(&[record]).unwrap();
    }
}

fn everything(query: &str) -> Request<'_> {
    Request { query, limit: 5, ..Request::default() }
}

fn contents(found: &[Found]) -> Vec<&str> {
    found.iter().map(|found| &*found.segment.content).collect()
}

fn go_on(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn evicted_segments_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("memory"), "s", 20);
    say(&store, &(0..200).map(|n| format!("service number{n} listens on port {}", 4000 + n)).collect::<Vec<_>>());
    let request = everything("which port has number7?");
    let found = store.search_everything(&request).unwrap();
    assert_eq!(found[0].segment.content, "service number7 listens on port 4007");
    let status = store.disk_index().unwrap().unwrap();
    assert_eq!((status.segments, status.passages, status.fault), (200, 200, None));
    assert_eq!(status.indexed_bytes, status.log_bytes);
}

#[test]
fn evicted_segments_of_other_sessions_stay_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    say(&open(&path, "theirs", 1000), &(0..50).map(|n| format!("their secret port {n}")).collect::<Vec<_>>());
    let settings = Settings { max_segments: 10, ..Settings::new("ours") };
    let store = Store::open(&path, settings).unwrap();
    say(&store, &(0..50).map(|n| format!("our own port {n}")).collect::<Vec<_>>());
    let request = Request { window: 2, limit: 40, ..everything("their secret port 3") };
    let found = store.search_everything(&request).unwrap();
    assert!(found.len() > 10 && found.iter().all(|found| found.segment.session == "ours"));
    assert!(
        store
            .search_everything(&Request {
                filter: SearchFilter { session: Some("theirs".to_owned()), ..SearchFilter::default() },
                ..request
            })
            .unwrap()
            .is_empty()
    );
    let vector = memctx_core::embed::HashEmbedder::new(384).unwrap();
    let mut theirs = [0.0; 384];
    vector.embed("their secret port 3", &mut theirs);
    let ids: Vec<String> = store.segments().unwrap().map(|segment| segment.id).collect();
    let nearest = store.nearest(&theirs, 40).unwrap();
    assert!(nearest.len() == 40 && nearest.iter().all(|(id, _)| ids.contains(id)));
}

#[test]
fn the_index_may_be_deleted_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    let store = open(&path, "s", 10);
    say(&store, &(0..40).map(|n| format!("fact number{n} is about apples")).collect::<Vec<_>>());
    store.index_everything(false, go_on).unwrap();
    // A thread may be writing to it.
    while path.join("index").exists() {
        let _ = std::fs::remove_dir_all(path.join("index"));
    }
    let request = everything("number3");
    assert_eq!(store.search_everything(&request).unwrap()[0].segment.content, "fact number3 is about apples");
    say(&store, &["fact number41 is about pears".to_owned()]);
    let other = open(&path, "t", 10);
    assert_eq!(other.search_everything(&request).unwrap()[0].segment.content, "fact number3 is about apples");
    store.index_everything(true, go_on).unwrap();
    assert_eq!(other.search_everything(&request).unwrap()[0].segment.content, "fact number3 is about apples");
}

#[test]
fn the_last_line_of_an_id_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory");
    drop(open(&path, "s", 10));
    let line = |id: usize, content: &str| {
        format!(
            "{{\"id\":\"{id}\",\"sessionId\":\"s\",\"timestamp\":{id},\"role\":\"user\",\"content\":\"{content}\"}}\n"
        )
    };
    let first: String = (0..60).map(|id| line(id, &format!("old{id} wording"))).collect();
    std::fs::write(path.join("segments.jsonl"), first).unwrap();
    let store = open(&path, "s", 5);
    store.index_everything(false, go_on).unwrap();
    let second: String = (0..30).map(|id| line(id, &format!("new{id} wording"))).collect();
    let third =
        line(3, "newest3 wording") + &(100..110).map(|id| line(id, &format!("filler {id}"))).collect::<String>();
    let mut log = std::fs::OpenOptions::new().append(true).open(path.join("segments.jsonl")).unwrap();
    std::io::Write::write_all(&mut log, (second + &third).as_bytes()).unwrap();
    assert_eq!(contents(&store.search_everything(&everything("new7")).unwrap())[0], "new7 wording");
    assert!(!contents(&store.search_everything(&everything("old7")).unwrap()).contains(&"old7 wording"));
    let found = store.search_everything(&everything("newest3 new3 old3")).unwrap();
    assert!(contents(&found).contains(&"newest3 wording") && !contents(&found).contains(&"new3 wording"));
    assert_eq!(store.disk_index().unwrap().unwrap().segments, 70);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// All of the texts are candidates for the top five, so the same ones win. Of more texts each index names its best
    /// by words and by vectors, and one that is middling by both may be named by memory alone.
    #[test]
    fn memory_and_disk_rank_alike(
        texts in prop::collection::hash_set(
            "(alpha|beta|gamma|delta|飞书|消息|x){1,6}( (alpha|betas|gamma|deltas|port|端口)){0,5}", 8..20),
        query in "(alpha|beta|飞书|port)( (alphas|beta|gamma|消息)){0,3}",
        most in 1..20_usize,
        window in 0..3_usize,
    ) {
        let texts: Vec<String> = texts.into_iter().collect();
        let folder = tempfile::tempdir().unwrap();
        let (small, large) = (open(&folder.path().join("a"), "s", most), open(&folder.path().join("b"), "s", 1000));
        say(&small, &texts);
        say(&large, &texts);
        let request = Request { window, ..everything(&query) };
        let (joined, plain) = (small.search_everything(&request).unwrap(), large.search(&request).unwrap());
        prop_assert_eq!(contents(&joined), contents(&plain));
        for (joined, plain) in joined.iter().zip(&plain) {
            prop_assert!((joined.score - plain.score).abs() < 1e-9);
        }
    }
}
