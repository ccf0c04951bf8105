//! The log of facts as a program sees it.

use std::fs;
use std::time::Duration;

use memctx_core::store::{Durability, Fact, FactLog};

fn fact(id: &str, content: &str) -> Fact {
    let line = format!(r#"{{"id":"{id}","type":"decision","content":"{content}","timestamp":1770000003000}}"#);
    Fact::from_line(line.as_bytes()).expect("a fact")
}

fn open(path: &std::path::Path) -> FactLog {
    FactLog::open(path, Durability::Fsync, Duration::from_secs(5)).expect("opens")
}

#[test]
fn a_line_is_the_original_s_with_a_seal() {
    let superseded = Fact {
        superseded_by: Some("9d0c".to_owned()),
        context: Some("perf review".to_owned()),
        ..fact("a", "Use Redis")
    };
    let line = String::from_utf8(superseded.to_line()).expect("UTF-8");
    let wanted = r#"{"id":"a","type":"decision","content":"Use Redis","context":"perf review","timestamp":1770000003000,"supersededBy":"9d0c","crc":""#;
    assert!(line.starts_with(wanted), "{line}");
    assert_eq!(Fact::from_line(line.as_bytes()), Ok(superseded));
}

#[test]
fn the_last_line_of_an_id_counts_and_the_others_are_its_history() {
    let folder = tempfile::tempdir().expect("room");
    let path = folder.path().join("memory");
    let log = open(&path);
    log.append(&[fact("a", "port 3000"), fact("b", "use Redis"), fact("c", "a mistake")]).expect("stored");
    log.append(&[
        fact("a", "port 8080"),
        Fact { superseded_by: Some("d".to_owned()), ..fact("b", "use Redis") },
        fact("d", "use Valkey"),
        Fact { is_deleted: true, ..fact("c", "a mistake") },
    ])
    .expect("stored");
    for log in [log, open(&path)] {
        let now = log.facts().expect("read");
        assert_eq!(
            now.iter().map(|fact| fact.content.as_str()).collect::<Vec<_>>(),
            ["port 8080", "use Redis", "use Valkey"]
        );
        assert_eq!(now.iter().map(Fact::is_active).collect::<Vec<_>>(), [true, false, true]);
        let history = log.history("a").expect("read");
        assert_eq!(history.iter().map(|fact| fact.content.as_str()).collect::<Vec<_>>(), ["port 3000", "port 8080"]);
        assert_eq!(log.history("c").expect("read").len(), 2);
    }
}

#[test]
fn a_torn_or_damaged_line_costs_itself() {
    let folder = tempfile::tempdir().expect("room");
    let path = folder.path().join("memory");
    open(&path).append(&[fact("a", "first"), fact("b", "second")]).expect("stored");
    let file = path.join("knowledge.jsonl");
    let mut bytes = fs::read(&file).expect("there");
    let half = bytes.len() - 20;
    bytes.truncate(half);
    fs::write(&file, &bytes).expect("room");
    let log = open(&path);
    assert_eq!(log.facts().expect("read").len(), 1);
    log.append(&[fact("c", "third")]).expect("stored");
    assert_eq!(log.facts().expect("read").len(), 2);
    let health = log.health().expect("read");
    assert_eq!((health.healed, health.skipped_lines, health.skipped[0].line), (1, 1, 2));
    assert!(fs::read(&file).expect("there").starts_with(&bytes), "nothing is cut");
}

#[test]
fn two_handles_see_each_other() {
    let folder = tempfile::tempdir().expect("room");
    let path = folder.path().join("memory");
    let (one, two) = (open(&path), open(&path));
    one.append(&[fact("a", "from one")]).expect("stored");
    two.append(&[fact("b", "from two")]).expect("stored");
    assert_eq!(one.facts().expect("read").len(), 2);
    assert_eq!(two.facts().expect("read").len(), 2);
}
