//! The store as a program sees it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memctx_core::Error;
use memctx_core::store::{
    Durability, Found, LogReader, Outcome, Ranking, Record, Request, SearchFilter, Settings, Store,
};
use proptest::prelude::*;
use tempfile::TempDir;

/// A time to come, at which age plays no part.
const AHEAD: f64 = 4e12;

struct TestDir {
    folder: TempDir,
}

impl TestDir {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("room") }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("memory")
    }

    fn log(&self) -> PathBuf {
        self.path().join("segments.jsonl")
    }

    fn open(&self) -> Store {
        self.open_as("s1")
    }

    fn open_as(&self, session: &str) -> Store {
        Store::open(&self.path(), Settings::new(session)).expect("opens")
    }

    fn open_with(&self, change: impl FnOnce(&mut Settings)) -> Store {
        let mut settings = Settings::new("s1");
        change(&mut settings);
        Store::open(&self.path(), settings).expect("opens")
    }
}

fn say(store: &Store, role: &str, content: &str) -> String {
    say_at(store, role, content, None)
}

fn say_at(store: &Store, role: &str, content: &str, timestamp: Option<f64>) -> String {
    let added = store.add(&[Record { role, content, timestamp, metadata: None }]).expect("stored");
    added[0].id.clone().expect("not noise")
}

fn find(store: &Store, query: &str) -> Vec<Found> {
    store.search(&Request { query, limit: 10, ..Request::default() }).expect("searched")
}

fn contents(store: &Store) -> Vec<String> {
    store.segments().expect("readable").map(|segment| segment.content).collect()
}

#[test]
fn messages_are_found_now_and_after_a_restart() {
    let dir = TestDir::new();
    let store = dir.open();
    let id = say(&store, "user", "We decided that the payment webhook listens on port 8443");
    say(&store, "assistant", "支付回调失败了，需要重试队列");
    assert_eq!(find(&store, "webhook port")[0].segment.id, id);
    drop(store);
    let store = dir.open();
    assert_eq!(find(&store, "webhook port")[0].segment.id, id);
    assert_eq!(find(&store, "支付回调")[0].segment.role, "assistant");
    assert_eq!(contents(&store).len(), 2);
}

#[test]
fn a_duplicate_is_the_segment_that_is_there() {
    let dir = TestDir::new();
    let store = dir.open();
    let said = [
        Record { role: "user", content: "the same words again", timestamp: None, metadata: None },
        Record { role: "user", content: "the same words again", timestamp: None, metadata: None },
        Record { role: "assistant", content: "the same words again", timestamp: None, metadata: None },
        Record { role: "user", content: " ok ", timestamp: None, metadata: None },
    ];
    let added = store.add(&said).expect("stored");
    let outcomes: Vec<Outcome> = added.iter().map(|added| added.outcome).collect();
    assert_eq!(outcomes, [Outcome::Added, Outcome::Duplicate, Outcome::Added, Outcome::Noise]);
    assert_eq!(added[0].id, added[1].id);
    assert_eq!(store.add(&said[..1]).expect("stored")[0].outcome, Outcome::Duplicate);
    assert_eq!(dir.open().add(&said[..1]).expect("stored")[0].outcome, Outcome::Duplicate);
    assert_eq!(contents(&store).len(), 2);
}

#[test]
fn sessions_do_not_see_each_other_unless_asked_to() {
    let dir = TestDir::new();
    let (one, two) = (dir.open_as("one"), dir.open_as("a/../b\0"));
    say(&one, "user", "the secret of session one");
    say(&two, "user", "the secret of session two");
    assert_eq!(find(&one, "secret").len(), 1);
    assert!(
        one.search(&Request {
            query: "secret",
            limit: 9,
            filter: SearchFilter { session: Some("a/../b\0".to_owned()), ..SearchFilter::default() },
            ..Request::default()
        })
        .expect("searched")
        .is_empty()
    );
    assert_eq!(one.segments().expect("readable").count(), 1);
    let all = dir.open_with(|settings| settings.cross_session = true);
    assert_eq!(find(&all, "secret").len(), 2);
    let of_two = Request {
        query: "secret",
        limit: 9,
        filter: SearchFilter { session: Some("a/../b\0".to_owned()), ..SearchFilter::default() },
        ..Request::default()
    };
    assert_eq!(all.search(&of_two).expect("searched").len(), 1);
    assert_eq!(all.sessions().expect("known"), ["one", "a/../b\0"]);
    assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 2, "the log and the lock");
}

#[test]
fn another_handle_sees_what_was_written() {
    let dir = TestDir::new();
    let (writer, reader) = (dir.open(), dir.open());
    assert!(find(&reader, "migration").is_empty());
    say(&writer, "user", "the migration runs at midnight");
    assert_eq!(find(&reader, "migration").len(), 1);
    assert_eq!(reader.refresh().expect("read"), 0);
}

#[test]
fn filters_narrow_a_search() {
    let dir = TestDir::new();
    let store = dir.open();
    say_at(&store, "user", "deploy the api to staging", Some(1_000.0));
    say_at(&store, "assistant", "deploy of the database is done", Some(2_000.0));
    say_at(&store, "tool", "deploy log: exit status 0", Some(3_000.0));
    let roles = |request: Request<'_>| -> Vec<String> {
        let mut roles: Vec<String> =
            store.search(&request).expect("searched").into_iter().map(|found| found.segment.role).collect();
        roles.sort_unstable();
        roles
    };
    let all = || Request { query: "deploy", limit: 10, ..Request::default() };
    let open = SearchFilter::default;
    let filtered = |filter| Request { filter, ..all() };
    assert_eq!(roles(all()), ["assistant", "tool", "user"]);
    assert_eq!(
        roles(filtered(SearchFilter { roles: Some(vec!["user".to_owned(), "tool".to_owned()]), ..open() })),
        ["tool", "user"]
    );
    assert_eq!(roles(filtered(SearchFilter { since: Some(2_000.0), ..open() })), ["assistant", "tool"]);
    assert_eq!(roles(filtered(SearchFilter { until: Some(2_000.0), ..open() })), ["assistant", "user"]);
    assert_eq!(roles(filtered(SearchFilter { topics: Some(vec!["Database".to_owned()]), ..open() })), ["assistant"]);
    assert_eq!(roles(filtered(SearchFilter { topics: Some(vec!["no such".to_owned()]), ..open() })), [""; 0]);
    assert_eq!(roles(Request { limit: 0, ..all() }), [""; 0]);
}

#[test]
fn neighbors_come_with_a_result_and_stay_in_its_session() {
    let dir = TestDir::new();
    let store = dir.open();
    for turn in 0..9 {
        say(&store, "user", &format!("turn {turn} talks of {}", ["zebras", "lions", "bears"][turn % 3]));
    }
    say(&store, "user", "the certificate expires in march");
    say(&store, "user", "turn ten talks of zebras");
    let request = Request { query: "certificate expires", limit: 1, window: 2, ..Request::default() };
    let found = store.search(&request).expect("searched");
    let distances: Vec<usize> = found.iter().map(|found| found.distance).collect();
    assert_eq!(distances, [0, 1, 1, 2]);
    assert!((found[1].score / found[0].score - 0.85).abs() < 1e-9);
    assert!((found[3].score / found[0].score - 0.70).abs() < 1e-9);
    let around = store.neighbors(&found[0].segment.id, 1).expect("read");
    assert_eq!(
        around.iter().map(|it| it.content.as_str()).collect::<Vec<_>>(),
        ["turn 8 talks of bears", "turn ten talks of zebras"]
    );
}

#[test]
fn near_duplicates_leave_room_for_others() {
    let dir = TestDir::new();
    let store = dir.open();
    for number in 0..6 {
        say(&store, "user", &format!("the redis cache timeout is thirty seconds, note {number}"));
    }
    say(&store, "user", "two replicas of the redis cache run on host seven");
    for number in 0..6 {
        say(&store, "user", &format!("redis was mentioned in meeting {number} for reasons that were not written down"));
    }
    let request = Request { query: "redis cache", limit: 3, ..Request::default() };
    let found = store.search(&request).expect("searched");
    assert!(found.iter().any(|found| found.segment.content.contains("replicas")), "{found:?}");
}

#[test]
fn the_minimum_is_tested_on_the_calibrated_score() {
    let dir = TestDir::new();
    let store = dir.open();
    say(&store, "user", "the invoice number is 4711");
    say(&store, "user", "completely different things happened");
    for ranking in [Ranking::Best, Ranking::OpenClaw] {
        let request = Request { query: "invoice number", limit: 5, min_score: 0.5, ranking, ..Request::default() };
        let found = store.search(&request).expect("searched");
        assert!(found.iter().all(|found| found.score >= 0.3));
        assert!(found.len() <= 1, "{found:?}");
    }
}

#[test]
fn a_score_can_be_explained() {
    let dir = TestDir::new();
    let store = dir.open();
    say(&store, "user", "the webhook listens on port 8443");
    let request = Request { query: "webhook port", limit: 1, explain: true, ..Request::default() };
    let found = store.search(&request).expect("searched");
    let words = found[0].explanation.as_ref().expect("asked for").to_string();
    for part in ["score", "blend", "cosine", "webhook", "age"] {
        assert!(words.contains(part), "{part} in {words}");
    }
    assert!((found[0].explanation.as_ref().expect("asked for").value - found[0].score).abs() < 1e-12);
}

#[test]
fn a_long_text_is_found_by_its_middle() {
    let dir = TestDir::new();
    let store = dir.open();
    let filler = "nothing of interest happens in this line of the log\n".repeat(200);
    let text = format!("{filler}panic: index 7 out of bounds in frobnicate\n{filler}");
    say(&store, "tool", &text);
    say(&store, "user", "something else entirely");
    let found = find(&store, "frobnicate out of bounds");
    assert!(found[0].segment.content == text, "kept verbatim");
    let passage = &text[found[0].passage.clone()];
    assert!(passage.contains("frobnicate") && passage.len() < 3000, "{}", passage.len());
}

#[test]
fn eviction_leaves_the_disk_alone() {
    let dir = TestDir::new();
    let store = dir.open_with(|settings| (settings.max_segments, settings.disk_index) = (5, false));
    for number in 0..12 {
        say(&store, "user", &format!("message number {number} about apples"));
    }
    assert_eq!(store.len().expect("open"), 5);
    assert_eq!(store.statistics().expect("open").evicted, 7);
    assert_eq!(contents(&store).len(), 12);
    assert_eq!(find(&store, "apples").len(), 5);
    // It is gone from memory, so it may be said and stored again, under the same id.
    say(&store, "user", "message number 0 about apples");
    assert_eq!(fs::read_to_string(dir.log()).expect("there").lines().count(), 13);
    assert_eq!(contents(&store).len(), 12);
    let reopened = dir.open_with(|settings| (settings.max_segments, settings.disk_index) = (5, false));
    assert_eq!(reopened.len().expect("open"), 5);
    assert_eq!(dir.open().len().expect("open"), 12);
}

#[test]
fn age_counts_from_the_newest_segment_when_the_clock_is_ahead() {
    const DAY: f64 = 86_400_000.0;
    let dir = TestDir::new();
    let store = dir.open();
    // Both are years old by the clock, ten days apart.
    say_at(&store, "user", "an old message about apples", Some(1_000.0 * DAY));
    say_at(&store, "user", "a newer message about apples", Some(1_010.0 * DAY));
    drop(store);
    assert_eq!(dir.open().len().expect("open"), 2);
    assert_eq!(dir.open_with(|settings| settings.eviction_days = 5.0).len().expect("open"), 1);
    assert_eq!(dir.open_with(|settings| settings.eviction_days = 0.0).len().expect("open"), 2);
}

fn write_log(dir: &TestDir, bytes: &[u8]) {
    fs::create_dir_all(dir.path()).expect("room");
    fs::write(dir.log(), bytes).expect("room");
}

fn line(id: &str, content: &str) -> String {
    format!(
        r#"{{"id":"{id}","sessionId":"s1","timestamp":1770000000000,"role":"user","content":"{content}","tokens":3,"metadata":{{"topics":[],"entities":[]}}}}"#
    )
}

#[test]
fn a_store_of_openclaw_opens_unchanged() {
    let dir = TestDir::new();
    let bytes = format!(
        "\u{FEFF}{}\r\n\n{}\nnot json\n{}\n",
        line("a", "apples first"),
        line("b", "apples second"),
        line("a", "apples third")
    );
    write_log(&dir, bytes.as_bytes());
    let vectors = b"VMEM\x01\0\0\0\x04\0\0\0\x01\0\0\0\x01\0a\0\0\x80\x3f\0\0\0\0\0\0\0\0\0\0\0\0";
    fs::write(dir.path().join("vectors.bin"), vectors).expect("room");
    let store = dir.open();
    let mut found: Vec<String> = find(&store, "apples").into_iter().map(|found| found.segment.content).collect();
    found.sort_unstable();
    assert_eq!(found, ["apples second", "apples third"], "the last line of an id counts, once");
    assert_eq!(contents(&store), ["apples second", "apples third"]);
    let health = store.health().expect("open");
    assert_eq!((health.skipped_lines, health.skipped[0].line), (1, 4));
    say(&store, "user", "apples fourth time");
    store.close();
    assert!(fs::read(dir.log()).expect("there").starts_with(bytes.as_bytes()));
    assert_eq!(fs::read(dir.path().join("vectors.bin")).expect("there"), vectors);
}

#[test]
fn a_torn_tail_costs_no_other_line() {
    let dir = TestDir::new();
    let store = dir.open();
    say(&store, "user", "the first whole message");
    say(&store, "user", "the second whole message");
    drop(store);
    let bytes = fs::read(dir.log()).expect("there");
    for cut in 1..bytes.len() {
        fs::write(dir.log(), &bytes[..cut]).expect("room");
        let whole = bytes[..cut].split(|&byte| byte == b'\n').count() - 1;
        let store = dir.open();
        assert_eq!(contents(&store).len(), whole, "cut at {cut}");
        say(&store, "user", "what came after the crash");
        let now = contents(&store);
        let completed = usize::from(bytes[cut] == b'\n');
        assert_eq!(now.len(), whole + completed + 1, "cut at {cut}");
        assert_eq!(find(&store, "after the crash")[0].segment.content, "what came after the crash");
        assert_eq!(store.len().expect("open"), now.len());
        assert!(fs::read(dir.log()).expect("there").starts_with(&bytes[..cut]), "nothing is cut");
    }
}

fn filled(dir: &TestDir, segments: usize) -> Store {
    let store = dir.open();
    let texts: Vec<String> =
        (0..segments).map(|number| format!("segment {number} speaks of topic {}", number % 17)).collect();
    let records: Vec<Record<'_>> = texts
        .iter()
        .map(|text| Record { role: "user", content: text, timestamp: Some(AHEAD), metadata: None })
        .collect();
    store.add(&records).expect("stored");
    store
}

fn snapshot_file(dir: &TestDir) -> PathBuf {
    let files = fs::read_dir(dir.path().join("index")).expect("there");
    files
        .flatten()
        .map(|file| file.path())
        .find(|path| path.extension().is_some_and(|it| it == "snapshot"))
        .expect("one")
}

fn ranking_of(store: &Store) -> Vec<(String, f64)> {
    find(store, "segment topic 3").into_iter().map(|found| (found.segment.content, found.score)).collect()
}

#[test]
fn a_snapshot_answers_like_the_log() {
    let dir = TestDir::new();
    let store = filled(&dir, 300);
    assert!(store.snapshot().expect("open"));
    say(&store, "user", "one more that the snapshot lacks");
    let expected = ranking_of(&store);
    drop(store);
    let store = dir.open();
    assert!(store.health().expect("open").snapshot.contains("300 segments loaded"));
    assert_eq!(store.len().expect("open"), 301);
    let found = ranking_of(&store);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found.1 - expected.1).abs() < 1e-6 && found.0 == expected.0, "{found:?} {expected:?}");
    }
    assert_eq!(
        store.neighbors(&find(&store, "snapshot lacks")[0].segment.id, 1).expect("read")[0].content,
        "segment 299 speaks of topic 10"
    );
}

#[test]
fn a_damaged_snapshot_is_rebuilt_and_ranks_the_same() {
    let dir = TestDir::new();
    let store = filled(&dir, 40);
    store.snapshot().expect("open");
    drop(store);
    let expected = ranking_of(&dir.open());
    let path = snapshot_file(&dir);
    let bytes = fs::read(&path).expect("there");
    let damage: Vec<(String, Vec<u8>)> = (0..bytes.len())
        .step_by(bytes.len() / 60)
        .map(|at| {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            (format!("bit at {at}"), damaged)
        })
        .chain((0..bytes.len()).step_by(bytes.len() / 20).map(|at| (format!("cut at {at}"), bytes[..at].to_vec())))
        .collect();
    for (what, damaged) in damage {
        fs::write(&path, damaged).expect("room");
        let store = dir.open();
        assert_eq!(ranking_of(&store), expected, "{what}");
        assert_eq!(store.len().expect("open"), 40, "{what}");
    }
}

#[test]
fn a_snapshot_leaves_vectors_in_their_file() {
    let dir = TestDir::new();
    let store = filled(&dir, 300);
    assert!(store.snapshot().expect("open"));
    drop(store);
    let expected = ranking_of(&dir.open());
    let vectors = dir.path().join("vectors.bin");
    let length = |path: &Path| fs::metadata(path).expect("there").len();
    assert!(length(&snapshot_file(&dir)) < length(&vectors) / 2);
    let whole = memctx_core::vmem::read(&vectors).expect("read");
    let (dim, ids): (usize, Vec<&str>) = (whole.report.dim, whole.ids.iter().collect());

    // Overwritten under an open store: copies take their place.
    let store = dir.open();
    assert_eq!(store.len().expect("open"), 300);
    let mut bytes = fs::read(&vectors).expect("there");
    bytes[16..].fill(0x3F);
    fs::write(&vectors, &bytes).expect("room");
    let found = ranking_of(&store);
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found.1 - expected.1).abs() < 0.01, "{found:?} {expected:?}");
    }
    drop(store);

    for kept in [1..300, 0..299, 0..1] {
        let values = &whole.values[kept.start * dim..kept.end * dim];
        memctx_core::vmem::write(&vectors, &ids[kept], values, dim, true).expect("written");
        let store = dir.open();
        assert_eq!(ranking_of(&store), expected);
        assert!(store.health().expect("open").snapshot.contains("not the one it was made with"));
    }
    fs::remove_file(&vectors).expect("there");
    let store = dir.open();
    assert_eq!(ranking_of(&store), expected);
    assert!(store.health().expect("open").snapshot.contains("rebuilt"));
}

#[test]
fn a_snapshot_of_another_log_is_not_believed() {
    let dir = TestDir::new();
    let store = filled(&dir, 50);
    store.snapshot().expect("open");
    drop(store);
    let text = fs::read_to_string(dir.log()).expect("there");
    let fewer: Vec<&str> = text.lines().skip(1).collect();
    fs::write(dir.log(), fewer.join("\n") + "\n").expect("room");
    let store = dir.open();
    assert_eq!(store.len().expect("open"), 49);
    assert!(store.health().expect("open").snapshot.contains("rebuilt"));
}

#[test]
fn damage_in_the_log_costs_the_record_it_hit() {
    let dir = TestDir::new();
    let store = filled(&dir, 30);
    store.snapshot().expect("open");
    drop(store);
    let bytes = fs::read(dir.log()).expect("there");
    for at in (0..bytes.len()).step_by(97) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs::write(dir.log(), &damaged).expect("room");
        let store = dir.open();
        let kept = contents(&store);
        assert!(kept.len() >= 28, "{} kept with byte {at} flipped", kept.len());
        assert!(kept.iter().all(|content| content.starts_with("segment ")));
        assert!(find(&store, "segment topic 3").iter().all(|found| found.segment.content.starts_with("segment ")));
    }
}

#[test]
fn vectors_are_kept_and_never_mistaken_for_those_of_another_model() {
    let dir = TestDir::new();
    let store = filled(&dir, 20);
    store.close();
    let expected = ranking_of(&dir.open());
    let vectors = dir.path().join("vectors.bin");
    let bytes = fs::read(&vectors).expect("there");
    assert_eq!(u32::from_le_bytes(bytes[12..16].try_into().expect("four")), 20);
    assert!(dir.open().health().expect("open").vectors.contains("20 loaded"));
    // A flipped bit is seen.
    let mut damaged = bytes.clone();
    damaged[200] ^= 1;
    fs::write(&vectors, &damaged).expect("room");
    let store = dir.open();
    assert_eq!(ranking_of(&store), expected);
    assert!(store.health().expect("open").vectors.contains("rebuilt"));
    // The same length, another model.
    fs::write(&vectors, &bytes).expect("room");
    fs::write(dir.path().join("vectors.json"), r#"{"model":"other","revision":1,"dim":384}"#).expect("room");
    let store = dir.open();
    assert_eq!(ranking_of(&store), expected);
    assert!(store.health().expect("open").vectors.contains("other"));
    say(&store, "user", "a vector that must not be added to theirs");
    store.close();
    assert_eq!(fs::read(&vectors).expect("there"), bytes);
}

#[test]
fn a_deleted_directory_is_created_again_and_memory_stays() {
    let dir = TestDir::new();
    let store = dir.open();
    say(&store, "user", "said before the directory was deleted");
    fs::remove_dir_all(dir.path()).expect("deleted");
    assert_eq!(find(&store, "before the directory").len(), 1);
    say(&store, "user", "said after the directory was deleted");
    assert_eq!(find(&store, "said directory").len(), 2);
    say(&store, "user", "said before the directory was deleted");
    assert_eq!(contents(&store).len(), 2, "what is on no disk is written again");
    assert!(store.health().expect("open").faults.iter().any(|fault| fault.contains("deleted")));
}

#[test]
fn a_replaced_log_is_read_again() {
    let dir = TestDir::new();
    let store = dir.open();
    say(&store, "user", "said before the log was replaced");
    let other = dir.path().join("other");
    fs::write(&other, line("x", "apples from elsewhere") + "\n").expect("room");
    fs::rename(&other, dir.log()).expect("replaced");
    assert_eq!(find(&store, "apples")[0].segment.id, "x");
    assert!(find(&store, "before").iter().all(|found| found.segment.id == "x"));
    say(&store, "user", "said after the log was replaced");
    assert_eq!(contents(&store).len(), 2);
}

#[cfg(unix)]
#[test]
fn files_are_readable_by_the_owner_only() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let dir = TestDir::new();
    let store = filled(&dir, 20);
    store.snapshot().expect("open");
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&dir.path()), 0o700);
    assert_eq!(mode(&dir.path().join("index")), 0o700);
    for file in ["segments.jsonl", "LOCK", "vectors.bin", "vectors.json"] {
        assert_eq!(mode(&dir.path().join(file)), 0o600, "{file}");
    }
    assert_eq!(mode(&snapshot_file(&dir)), 0o600);
    let link = dir.folder.path().join("link");
    symlink(dir.path(), &link).expect("made");
    assert!(matches!(Store::open(&link, Settings::new("s1")), Err(Error::Refused { .. })));
    for exposed in [0o777, 0o770, 0o702] {
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(exposed)).expect("set");
        assert!(matches!(Store::open(&dir.path(), Settings::new("s1")), Err(Error::Exposed { .. })));
    }
}

#[test]
fn waiting_for_a_held_lock_times_out() {
    let dir = TestDir::new();
    let store = dir.open_with(|settings| settings.lock_timeout = Duration::from_millis(50));
    say(&store, "user", "said while no one held the lock");
    let lock = fs::OpenOptions::new().read(true).open(dir.path().join("LOCK")).expect("there");
    lock.lock().expect("free");
    let refused =
        store.add(&[Record { role: "user", content: "said while it was held", timestamp: None, metadata: None }]);
    assert!(matches!(refused, Err(Error::Locked { .. })));
    assert_eq!(find(&store, "no one held").len(), 1, "searches take no lock");
    lock.unlock().expect("held");
    say(&store, "user", "said while it was held");
    assert_eq!(contents(&store).len(), 2);
}

#[test]
fn a_newer_format_is_left_alone() {
    let dir = TestDir::new();
    write_log(&dir, (line("a", "apples of the future") + "\n").as_bytes());
    let lock = dir.path().join("LOCK");
    fs::write(&lock, "{\"format\":2,\"min_reader\":1,\"min_writer\":2}\n").expect("room");
    let store = dir.open();
    assert_eq!(find(&store, "apples").len(), 1);
    assert!(store.health().expect("open").is_read_only);
    assert!(
        store.add(&[Record { role: "user", content: "apples of today", timestamp: None, metadata: None }]).is_err()
    );
    store.close();
    assert_eq!(fs::read_dir(dir.path()).expect("there").count(), 2);
    fs::write(&lock, "{\"format\":3,\"min_reader\":3,\"min_writer\":3}\n").expect("room");
    assert!(matches!(Store::open(&dir.path(), Settings::new("s1")), Err(Error::Version { found: 3, .. })));
}

#[test]
fn a_log_scan_filters_and_gives_each_id_once() {
    let dir = TestDir::new();
    let store = dir.open();
    say_at(&store, "user", "deploy the api to staging", Some(1_000.0));
    say_at(&store, "assistant", "deploy of the database is done", Some(2_000.0));
    let reader = LogReader::open(&dir.path()).expect("there");
    let count = |filter: SearchFilter| reader.scan(filter, None).expect("readable").count();
    assert_eq!(count(SearchFilter::default()), 2);
    let staging = reader.scan(SearchFilter::default(), Some("staging".to_owned())).expect("readable");
    assert_eq!(staging.count(), 1);
    assert_eq!(count(SearchFilter { topics: Some(vec!["DATABASE".to_owned()]), ..SearchFilter::default() }), 1);
    assert_eq!(count(SearchFilter { since: Some(1_500.0), ..SearchFilter::default() }), 1);
    assert_eq!(count(SearchFilter { session: Some("s2".to_owned()), ..SearchFilter::default() }), 0);
    assert!(LogReader::open(&dir.folder.path().join("missing")).is_err());
}

fn read(reader: &LogReader, offset: u64, limit: usize) -> (Vec<String>, u64) {
    let wanted = SearchFilter { session: Some("s1".to_owned()), ..SearchFilter::default() };
    let (segments, next) = reader.read_from(offset, &wanted, limit).expect("readable");
    (segments.into_iter().map(|segment| segment.content).collect(), next)
}

#[test]
fn a_log_is_read_on_from_where_reading_ended() {
    let dir = TestDir::new();
    let store = dir.open();
    let reader = LogReader::open(&dir.path()).expect("there");
    assert_eq!(read(&reader, 0, 9), (vec![], 0));
    assert_eq!(read(&reader, 70, 9), (vec![], 70), "there is no such dir yet");
    say(&store, "user", "apples first");
    say(&dir.open_as("s2"), "user", "another session");
    say(&store, "assistant", "pears second");
    let (first, middle) = read(&reader, 0, 1);
    assert_eq!(first, ["apples first"]);
    let (second, end) = read(&reader, middle, 9);
    assert_eq!((second, end), (vec!["pears second".to_owned()], fs::metadata(dir.log()).expect("there").len()));
    assert_eq!(read(&reader, end, 9), (vec![], end));
    assert_eq!(read(&reader, middle, 0), (vec![], middle));
    assert_eq!(read(&reader, 1, 9).0, ["pears second"], "a line that began before the dir is not read");

    let mut torn = fs::read(dir.log()).expect("there");
    torn.extend_from_slice(&torn.clone()[..40]);
    fs::write(dir.log(), &torn).expect("room");
    assert_eq!(read(&reader, end, 9), (vec![], end), "a line without its end waits");
    assert_eq!(read(&reader, end + 7, 9), (vec![], end + 7));
    say(&store, "user", "plums after the damage");
    assert_eq!(read(&reader, end, 9).0, ["plums after the damage"]);
    assert_eq!(read(&reader, end + 7, 9).0, ["plums after the damage"]);
    let roles = SearchFilter { roles: Some(vec!["assistant".to_owned()]), ..SearchFilter::default() };
    assert_eq!(reader.read_from(0, &roles, 9).expect("readable").0.len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn pages_of_any_size_are_the_whole(
        said in proptest::collection::vec((0..3_usize, 1..2000_usize), 0..30),
        limit in 1..9_usize,
        breaks in proptest::collection::vec(any::<bool>(), 30),
    ) {
        let dir = TestDir::new();
        let stores = ["s1", "s2", "s\"3"].map(|session| dir.open_with(|settings| {
            settings.session = session.to_owned();
            settings.durability = Durability::Os;
        }));
        let mut wanted = Vec::new();
        for (number, (session, size)) in said.into_iter().enumerate() {
            let text = format!("remark {number} {}", "x".repeat(size));
            say(&stores[session], "user", &text);
            if session == 0 {
                wanted.push(text);
            }
            if breaks[number] {
                let mut log = fs::OpenOptions::new().append(true).open(dir.log()).expect("there");
                std::io::Write::write_all(&mut log, b"{\"id\":\"torn").expect("room");
            }
        }
        let reader = LogReader::open(&dir.path()).expect("there");
        let (mut found, mut offset) = (Vec::new(), 0);
        loop {
            let (page, next) = read(&reader, offset, limit);
            prop_assert!(next >= offset && page.len() <= limit);
            if page.is_empty() {
                break;
            }
            found.extend(page);
            offset = next;
        }
        prop_assert_eq!(found, wanted);
    }
}

#[test]
fn threads_lose_nothing() {
    let dir = TestDir::new();
    let store = dir.open();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (store, dir) = (&store, &dir);
            scope.spawn(move || {
                let other = dir.open();
                for number in 0..25 {
                    say(
                        if number % 2 == 0 { store } else { &other },
                        "user",
                        &format!("thread {thread} says number {number}"),
                    );
                    assert!(!find(store, "says number").is_empty());
                }
            });
        }
    });
    assert_eq!(contents(&store).len(), 100);
    assert_eq!(store.len().expect("open"), 100);
    assert_eq!(dir.open().len().expect("open"), 100);
}

#[derive(Clone, Debug)]
enum Step {
    Say(u8),
    Reopen,
    Snapshot,
    Other(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..20_u8).prop_map(Step::Say),
        1 => Just(Step::Reopen),
        1 => Just(Step::Snapshot),
        2 => (0..20_u8).prop_map(Step::Other),
    ];
    prop::collection::vec(step, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// In any order of steps, memory holds the newest segments, each once.
    #[test]
    fn the_store_behaves_like_a_list(steps in steps(), most in 3..12_usize) {
        let dir = TestDir::new();
        let open = || dir.open_with(|settings| {
            (settings.max_segments, settings.disk_index) = (most, false);
            settings.durability = memctx_core::store::Durability::Os;
        });
        let (mut store, other) = (open(), open());
        let mut model: Vec<u8> = Vec::new();
        for step in steps {
            match step {
                Step::Say(word) | Step::Other(word) => {
                    let writer = if matches!(step, Step::Say(_)) { &store } else { &other };
                    say(writer, "user", &format!("the word is number{word}"));
                    if !model.contains(&word) {
                        model.push(word);
                        if model.len() > most {
                            model.remove(0);
                        }
                    }
                }
                Step::Reopen => store = open(),
                Step::Snapshot => { store.snapshot().expect("open"); }
            }
            let mut expected: Vec<String> = model.iter().map(|word| format!("the word is number{word}")).collect();
            expected.sort_unstable();
            let request = Request { query: "word", limit: 100, ..Request::default() };
            let mut found: Vec<String> =
                store.search(&request).expect("searched").into_iter().map(|found| found.segment.content).collect();
            found.sort_unstable();
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(store.len().expect("open"), expected.len());
        }
    }
}
