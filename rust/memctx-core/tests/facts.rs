//! Facts as a program sees them.

use std::fs;
use std::path::PathBuf;

use memctx_core::Error;
use memctx_core::facts::{Change, FactStore, Kind, Outcome, Request, Settings, Statement};
use memctx_core::store::Fact;
use tempfile::TempDir;

struct TestDir(TempDir);

impl TestDir {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("room"))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("memory")
    }

    fn log(&self) -> PathBuf {
        self.path().join("knowledge.jsonl")
    }

    fn lines(&self) -> Vec<Fact> {
        let text = fs::read(self.log()).unwrap_or_default();
        text.split(|byte| *byte == b'\n').filter_map(|line| Fact::from_line(line).ok()).collect()
    }

    fn open(&self, session: &str) -> FactStore {
        FactStore::open(&self.path(), Settings::new(session)).expect("opens")
    }

    fn open_all(&self, session: &str) -> FactStore {
        FactStore::open(&self.path(), Settings { cross_session: true, ..Settings::new(session) }).expect("opens")
    }

    /// Write as another program would.
    fn write(&self, lines: &str) {
        use std::io::Write as _;
        fs::create_dir_all(self.path()).expect("room");
        let mut file = fs::OpenOptions::new().append(true).create(true).open(self.log()).expect("room");
        file.write_all(lines.as_bytes()).expect("room");
    }
}

fn says(content: &str) -> Statement<'_> {
    Statement { content, ..Statement::default() }
}

fn new<'a>(id: &'a str, content: &'a str) -> Change<'a> {
    Change::Add { id: Some(id), kind: Kind::Config, statement: says(content) }
}

fn instead<'a>(target: &'a str, id: &'a str, content: &'a str) -> Change<'a> {
    Change::Supersede { target, id: Some(id), kind: Kind::Config, statement: says(content) }
}

fn add(store: &FactStore, id: &str, content: &str) -> Fact {
    store.change(&new(id, content)).expect("stored")
}

fn found(store: &FactStore, query: &str) -> Vec<String> {
    let found = store.search(&Request { query, limit: 10, ..Request::default() }).expect("searched");
    found.into_iter().map(|found| found.fact.id).collect()
}

fn ids(facts: &[Fact]) -> Vec<&str> {
    facts.iter().map(|fact| fact.id.as_str()).collect()
}

#[test]
fn a_line_is_openclaw_s_with_a_checksum() {
    let line = br#"{"id":"a","type":"decision","content":"Use Redis","timestamp":1770000003000}"#;
    let superseded = Fact {
        superseded_by: Some("9d0c".to_owned()),
        context: Some("perf review".to_owned()),
        ..Fact::from_line(line).expect("a fact")
    };
    let line = String::from_utf8(superseded.to_line()).expect("UTF-8");
    let wanted = r#"{"id":"a","type":"decision","content":"Use Redis","context":"perf review","timestamp":1770000003000,"supersededBy":"9d0c","crc":""#;
    assert!(line.starts_with(wanted), "{line}");
    assert_eq!(Fact::from_line(line.as_bytes()), Ok(superseded));
}

#[test]
fn values_that_openclaw_ignores_cost_no_fact() {
    let line = br#"{"id":"a","type":"config","content":"x\ud800y","context":7,"timestamp":"now","supersededBy":"","_deleted":0,"sources":"s"}"#;
    let fact = Fact::from_line(line).expect("a fact");
    assert_eq!((fact.content.as_str(), fact.context.as_deref(), fact.timestamp), ("x\u{FFFD}y", None, None));
    assert!(fact.is_active() && fact.sources.is_empty());
    for line in
        [&br#"{"id":"","type":"config","content":"c"}"#[..], br#"{"id":"a","content":"secret"}"#, b"[]", b"\xff"]
    {
        assert!(!Fact::from_line(line).expect_err("refused").contains("secret"));
    }
}

#[test]
fn the_last_line_of_an_id_counts_and_the_others_are_its_history() {
    let dir = TestDir::new();
    let store = dir.open("s");
    let port = add(&store, "a", "The gateway listens on port 3000");
    add(&store, "b", "Sessions are kept in Redis");
    add(&store, "c", "Nightly builds run on Fridays");
    let statement = Statement { sources: &["seg".to_owned()], ..says("The gateway listens on port 3000, TLS only") };
    let longer = store.change(&Change::Update { target: "a", statement }).expect("stored");
    assert_eq!((longer.id.as_str(), longer.revision, longer.sources.len()), ("a", 1, 1));
    let valkey = store.change(&instead("b", "d", "Sessions are kept in Valkey")).expect("stored");
    store.change(&instead("d", "e", "Sessions are kept in Postgres")).expect("stored");
    let gone = store.change(&Change::Delete { target: "c" }).expect("stored");
    assert!(gone.is_deleted && !gone.is_active());
    for store in [store, dir.open("s")] {
        assert_eq!(ids(&store.facts(None, 9, false).expect("read")), ["e", "a"]);
        assert_eq!(store.len().expect("read"), 2);
        assert_eq!(store.facts(None, 9, true).expect("read").len(), 4);
        assert_eq!(store.history("a").expect("read"), [port.clone(), longer.clone()]);
        for id in ["b", "d", "e"] {
            let history = store.history(id).expect("read");
            assert_eq!(ids(&history), ["b", "b", "d", "d", "e"]);
            assert_eq!(history[2], valkey);
        }
        assert_eq!(store.history("c").expect("read").len(), 2);
        assert_eq!(store.get("c").expect("read"), None);
        assert_eq!(found(&store, "Where are sessions kept?"), ["e"]);
    }
}

#[test]
fn a_supersession_cycle_of_another_program_ends() {
    let dir = TestDir::new();
    dir.write(concat!(
        r#"{"id":"a","type":"config","content":"one","supersededBy":"b","sessionId":"s"}"#,
        "\n",
        r#"{"id":"b","type":"config","content":"two","supersededBy":"a","sessionId":"s"}"#,
        "\n",
        r#"{"id":"c","type":"config","content":"three","supersededBy":"unknown","sessionId":"s"}"#,
        "\n"
    ));
    let store = dir.open("s");
    assert_eq!(store.history("a").expect("read").len(), 2);
    assert_eq!(store.history("c").expect("read").len(), 1);
    assert!(store.is_empty().expect("read"));
}

#[test]
fn a_known_fact_is_not_written_again() {
    let dir = TestDir::new();
    let store = dir.open("s");
    let first = add(&store, "a", "Port 8443");
    let again = Change::Add { id: None, kind: Kind::Decision, statement: says("  port 8443 ") };
    assert_eq!(store.change(&again).expect("known"), first);
    assert_eq!(dir.open("other").change(&again).expect("stored").session.as_deref(), Some("other"));
    store.change(&Change::Delete { target: "a" }).expect("stored");
    assert_ne!(store.change(&again).expect("stored").id, "a", "what was forgotten can be stated again");
    assert_eq!(dir.lines().len(), 4);
}

#[test]
fn a_session_sees_its_own_facts_only() {
    let dir = TestDir::new();
    dir.write("{\"id\":\"old\",\"type\":\"config\",\"content\":\"The webhook listens on port 1\",\"timestamp\":1}\n");
    let (ours, theirs, all) = (dir.open("ours"), dir.open("theirs"), dir.open_all("ours"));
    add(&ours, "a", "The webhook listens on port 2");
    add(&theirs, "b", "The webhook listens on port 3");
    let question = "Which port has the webhook?";
    assert_eq!((found(&ours, question), found(&theirs, question)), (vec!["a".to_owned()], vec!["b".to_owned()]));
    assert_eq!(found(&all, question), ["b", "a", "old"]);
    assert_eq!(ids(&ours.nearest(question, 9, None).expect("searched")), ["a"]);
    for id in ["b", "old"] {
        assert_eq!(ours.get(id).expect("read"), None);
        assert!(ours.history(id).expect("read").is_empty());
        let fault = ours.change(&Change::Update { target: id, statement: says("x") }).expect_err("refused");
        assert!(fault.to_string().contains("not known here"), "{fault}");
        assert_eq!(ours.apply(&[Change::Delete { target: id }]).expect("applied"), [Outcome::Missing]);
        assert!(ours.change(&new(id, "an id is given out once")).is_err());
    }
    // A store of all sessions changes a fact where it is.
    let updated =
        all.change(&Change::Update { target: "b", statement: says("The webhook is at port 4") }).expect("stored");
    assert_eq!(updated.session.as_deref(), Some("theirs"));
    assert_eq!(found(&theirs, question), ["b"]);
    // And who knows nothing of sessions takes no fact out of its own, nor puts one into another.
    dir.write("{\"id\":\"a\",\"type\":\"config\",\"content\":\"The webhook listens on port 5\",\"timestamp\":9}\n");
    assert_eq!(ours.get("a").expect("read").expect("there").content, "The webhook listens on port 5");
    assert_eq!(found(&theirs, question), ["b"]);
    dir.write("{\"id\":\"b\",\"type\":\"config\",\"content\":\"port\",\"sessionId\":\"ours\"}\n");
    assert_eq!(theirs.get("b").expect("read").expect("there").content, "The webhook is at port 4");
}

#[test]
fn changes_see_those_before_them_and_are_one_append() {
    use Outcome::{Added, Done, Duplicate, Missing};
    let dir = TestDir::new();
    let (store, other) = (dir.open("s"), dir.open("s"));
    add(&store, "a", "The port is 3000");
    let update = |target, content| Change::Update { target, statement: says(content) };
    let outcomes = store
        .apply(&[
            new("b", "The region is eu-west-1"),
            new("c", "the region is EU-WEST-1"),
            update("b", "The region is eu-west-1, primary"),
            instead("b", "d", "The region is us-east-2"),
            instead("a", "e", "The port is 8080"),
            instead("a", "f", "The port is 9090"),
            update("a", "The port was 3000 before"),
            update("unknown", "lost?"),
            Change::Delete { target: "d" },
            Change::Delete { target: "d" },
            instead("e", "g", "The port is 8080"),
        ])
        .expect("applied");
    let wanted = [Done, Duplicate, Done, Done, Done, Added, Added, Missing, Done, Missing, Duplicate];
    assert_eq!(outcomes, wanted);
    let contents: Vec<String> =
        other.facts(None, 9, false).expect("read").into_iter().map(|fact| fact.content).collect();
    assert_eq!(contents, ["The port was 3000 before", "The port is 9090", "The port is 8080"]);
    let before = fs::read(dir.log()).expect("there");
    assert!(store.apply(&[new("h", "fine"), new("a", "taken")]).is_err(), "an id is given out once");
    assert_eq!(fs::read(dir.log()).expect("there"), before, "none or all");
    assert_eq!(found(&store, "fine"), Vec::<String>::new());
}

#[test]
fn a_duplicate_fact_supersedes_the_target() {
    let dir = TestDir::new();
    let store = dir.open("s");
    add(&store, "a", "The port is 3000");
    add(&store, "b", "The port is 8080");
    let stays = store.change(&instead("a", "c", "the port is 8080")).expect("stored");
    assert_eq!(stays.id, "b");
    assert_eq!(store.get("a").expect("read").expect("there").superseded_by.as_deref(), Some("b"));
    assert_eq!(dir.lines().len(), 3);
}

#[test]
fn a_fact_is_replaced_where_it_is() {
    let dir = TestDir::new();
    let (ours, theirs, all) = (dir.open("ours"), dir.open("theirs"), dir.open_all("ours"));
    add(&ours, "a", "The port is 8080");
    add(&theirs, "b", "The port is 3000");
    let new = all.change(&instead("b", "c", "the port is 8080")).expect("stored");
    assert_eq!((new.id.as_str(), new.session.as_deref()), ("c", Some("theirs")));
    assert_eq!(ids(&theirs.facts(None, 9, false).expect("read")), ["c"], "theirs is not lost to them");
    assert_eq!(ids(&ours.facts(None, 9, false).expect("read")), ["a"]);
}

#[test]
fn bad_arguments_are_named() {
    let dir = TestDir::new();
    let store = dir.open("s");
    add(&store, "a", "The port is 3000");
    store.change(&instead("a", "b", "The port is 8080")).expect("stored");
    store.change(&Change::Delete { target: "b" }).expect("stored");
    for (change, words) in [
        (new("c", " \n"), "content must be a statement"),
        (new("", "x"), "id must be one that no fact has"),
        (new("a", "x"), "not \"a\""),
        (Change::Delete { target: "a" }, "superseded by \"b\""),
        (Change::Delete { target: "b" }, "forgotten"),
        (Change::Delete { target: "z" }, "not known here"),
        (
            Change::Add {
                id: None,
                kind: Kind::Issue,
                statement: Statement { timestamp: Some(f64::NAN), ..says("x") },
            },
            "timestamp must be a finite number",
        ),
    ] {
        let fault = store.change(&change).expect_err("refused");
        assert!(matches!(fault, Error::Argument { .. }) && fault.to_string().contains(words), "{fault}");
    }
    assert!(Kind::parse("konfig").expect_err("refused").to_string().contains("task_state"));
}

#[test]
fn secrets_are_masked_before_they_are_written() {
    let dir = TestDir::new();
    let store = dir.open("s");
    let statement = Statement { context: Some("DB_PASSWORD=k3jf9slw-Qp0"), ..says("export API_TOKEN=k3jf9slw-Qp0z") };
    let fact = store.change(&Change::Add { id: None, kind: Kind::Config, statement }).expect("stored");
    assert!(fact.content.contains("[REDACTED:"), "{fact:?}");
    assert!(!fs::read_to_string(dir.log()).expect("there").contains("k3jf9slw"));
    assert_eq!(store.change(&Change::Add { id: None, kind: Kind::Config, statement }).expect("known"), fact);
}

#[test]
fn a_torn_or_damaged_line_costs_itself() {
    let dir = TestDir::new();
    let store = dir.open("s");
    add(&store, "a", "first");
    add(&store, "b", "second");
    let mut bytes = fs::read(dir.log()).expect("there");
    bytes.truncate(bytes.len() - 20);
    fs::write(dir.log(), &bytes).expect("room");
    let reopened = dir.open("s");
    for store in [store, reopened] {
        assert_eq!(ids(&store.facts(None, 9, false).expect("read")), ["a"]);
    }
    let store = dir.open("s");
    add(&store, "c", "third");
    assert_eq!(ids(&store.facts(None, 9, false).expect("read")), ["c", "a"]);
    let health = store.health().expect("read");
    assert_eq!((health.repaired, health.skipped_lines, health.skipped[0].line), (1, 1, 2));
    assert!(fs::read(dir.log()).expect("there").starts_with(&bytes), "nothing is cut");
}

#[test]
fn a_whole_line_without_its_end_counts_before_what_comes_after_it() {
    let dir = TestDir::new();
    dir.write(r#"{"id":"a","type":"config","content":"The port is 1","sessionId":"s","timestamp":1}"#);
    let store = dir.open("s");
    assert!(store.is_empty().expect("read"), "it may not be whole yet");
    let duplicate = store.change(&Change::Add { id: None, kind: Kind::Config, statement: says("the port is 1") });
    assert_eq!(duplicate.expect("known").id, "a");
}

#[test]
fn handles_see_each_other_and_a_log_that_is_replaced_or_deleted() {
    let dir = TestDir::new();
    let (one, two) = (dir.open("s"), dir.open("s"));
    add(&one, "a", "from one");
    add(&two, "b", "from two");
    assert_eq!(ids(&one.facts(None, 9, false).expect("read")), ["b", "a"]);
    let line = one.get("a").expect("read").expect("there").to_line();
    let fresh = dir.path().join("fresh");
    fs::write(&fresh, [&line[..], b"\n"].concat()).expect("room");
    fs::rename(&fresh, dir.log()).expect("replaced");
    assert_eq!(ids(&two.facts(None, 9, false).expect("read")), ["a"]);
    fs::remove_file(dir.log()).expect("deleted");
    assert_eq!(two.len().expect("read"), 1, "what is in memory stays");
    add(&two, "c", "after that");
    assert_eq!(two.len().expect("read"), 2);
    assert!(two.health().expect("read").is_degraded());
    assert_eq!(ids(&one.facts(None, 9, false).expect("read")), ["c"]);
}

#[test]
fn a_closed_store_says_so() {
    let dir = TestDir::new();
    let store = dir.open("s");
    store.close();
    assert!(store.len().expect_err("refused").to_string().contains("closed"));
    assert!(store.change(&new("a", "x")).is_err());
}

#[test]
fn texts_that_hold_no_more_are_dropped_in_time() {
    let dir = TestDir::new();
    let settings = Settings { durability: memctx_core::store::Durability::Os, ..Settings::new("s") };
    let store = FactStore::open(&dir.path(), settings).expect("opens");
    add(&store, "a", "The counter stands at none");
    add(&store, "b", "Another gauge stands here");
    for count in 0..2_500 {
        let content = format!("The counter stands at {count}");
        store.change(&Change::Update { target: "a", statement: says(&content) }).expect("stored");
        assert_eq!(found(&store, "counter"), ["a"]);
    }
    assert_eq!(found(&store, "counter 2499"), ["a"]);
    assert!(found(&store, "counter 2498").is_empty());
    assert_eq!(found(&store, "gauge stands"), ["b"]);
    assert_eq!(store.statistics().expect("read").states, 2_502);
}
