//! Lines of one store in another: copied as they are, followed, ranked.

use std::fs;
use std::path::Path;
use std::time::Duration;

use memctx_core::Error;
use memctx_core::facts::{self, Change, FactStore, Kind, Statement};
use memctx_core::store::{Durability, LineWriter, LogKind, LogReader, RankCandidate, Record, Request, Settings, Store};
use proptest::prelude::*;

fn store(path: &Path, session: &str) -> Store {
    let mut settings = Settings::new(session);
    (settings.durability, settings.cross_session) = (Durability::Os, true);
    Store::open(path, settings).expect("opens")
}

fn say(store: &Store, content: &str, timestamp: f64) {
    let said = Record { role: "user", content, timestamp: Some(timestamp), metadata: None };
    store.add(&[said]).expect("stored");
}

fn lines(path: &Path, log: LogKind) -> Vec<String> {
    let (lines, _) = LogReader::open(path).expect("there").read_lines(0, log, usize::MAX).expect("readable");
    lines.into_iter().map(|(_, text)| text).collect()
}

fn append(path: &Path, log: LogKind, lines: &[String]) -> memctx_core::Result<u64> {
    let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
    LineWriter::open(path, Duration::from_secs(5))?.append(&texts, log)
}

#[test]
fn a_line_that_is_none_is_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("room");
    let (here, there) = (folder.path().join("here"), folder.path().join("there"));
    say(&store(&here, "s1"), "The webhook listens on port 8443", 1.0);
    let good = lines(&here, LogKind::Segments).remove(0);
    let damaged = good.replace("8443", "8444");
    for wrong in [damaged.as_str(), "", "{}", "a\nb"] {
        let given = [good.clone(), wrong.to_owned()];
        assert!(matches!(append(&there, LogKind::Segments, &given), Err(Error::Line { index: 1, .. })), "{wrong:?}");
    }
    assert!(matches!(append(&there, LogKind::Facts, &[good]), Err(Error::Line { index: 0, .. })));
    assert!(!there.join("segments.jsonl").exists());
}

#[test]
fn a_repeated_fact_line_is_no_further_state() {
    let folder = tempfile::tempdir().expect("room");
    let open = || FactStore::open(folder.path(), facts::Settings::new("s1")).expect("opens");
    let facts = open();
    let statement = |content| Statement { content, ..Statement::default() };
    let add = Change::Add { id: Some("f1"), kind: Kind::Config, statement: statement("port 3000") };
    facts.change(&add).expect("stored");
    facts.change(&Change::Update { target: "f1", statement: statement("port 8443") }).expect("stored");
    let states = lines(folder.path(), LogKind::Facts);
    for (again, contents) in [(1, ["port 3000", "port 8443"]), (0, ["port 8443", "port 3000"])] {
        append(folder.path(), LogKind::Facts, &states[again..=again]).expect("written");
        for facts in [&facts, &open()] {
            let history: Vec<String> = facts.history("f1").expect("known").into_iter().map(|it| it.content).collect();
            assert_eq!(history, contents);
            assert_eq!(facts.get("f1").expect("read").map(|fact| fact.content).as_deref(), Some(contents[1]));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn a_copy_line_by_line_is_the_same_log_and_ranks_alike(
        said in proptest::collection::vec("(port|webhook|redis|飞书)( (port|deploy|queue|消息|alpha|beta)){1,6}", 1..30),
        query in "(port|deploys|飞书)( (queue|alpha|gamma)){0,3}",
        page in 1..9_usize,
    ) {
        let folder = tempfile::tempdir().expect("room");
        let (here, there) = (folder.path().join("here"), folder.path().join("there"));
        // Each in a session of its own, so that none has a neighbor.
        for (number, content) in said.iter().enumerate() {
            say(&store(&here, &format!("s{number}")), &format!("{content} {number}"), 1e12 + number as f64);
        }
        let reader = LogReader::open(&here).expect("there");
        let copy = store(&there, "s");
        let mut offset = 0;
        loop {
            let (lines, next) = reader.read_lines(offset, LogKind::Segments, page).expect("readable");
            if lines.is_empty() {
                break;
            }
            prop_assert_eq!(lines.last().map(|line| line.0), Some(next));
            let texts: Vec<String> = lines.into_iter().map(|line| line.1).collect();
            prop_assert_eq!(append(&there, LogKind::Segments, &texts).expect("written"), next);
            offset = next;
        }
        let file = |path: &Path| fs::read(path.join("segments.jsonl")).expect("there");
        prop_assert_eq!(file(&here), file(&there));
        let request = Request { query: &query, limit: 10, ..Request::default() };
        let found = |found: Vec<memctx_core::store::Found>| -> Vec<(String, u64)> {
            found.into_iter().map(|hit| (hit.segment.id, hit.score.to_bits())).collect()
        };
        let searched = found(copy.search(&request).expect("searched"));
        let all = lines(&here, LogKind::Segments);
        let candidates: Vec<RankCandidate<'_>> =
            all.iter().rev().map(|line| RankCandidate { line, vectors: None }).collect();
        let elsewhere = store(&folder.path().join("elsewhere"), "s");
        prop_assert_eq!(found(elsewhere.rank(&request, &candidates).expect("ranked")), searched);
    }
}
