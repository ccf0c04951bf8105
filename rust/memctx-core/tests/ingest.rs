//! The rules of ingest against golden values, and against slow reference implementations.

mod golden;

use std::time::{Duration, Instant};

use memctx_core::ingest::{EntityKind, MOST_ENTITIES, Topics, entities, is_noise, strip_channel_prefix};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use regex::Regex;
use serde_json::{Value, json};

/// White space of JavaScript, for use in brackets.
const SPACE: &str = r"\t-\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";

/// Hold a function to its part of the golden file.
fn assert_golden(part: &str, of: impl Fn(&str) -> Value) {
    let cases = golden::load("ingest.json");
    let cases = cases[part].as_array().expect("a list");
    assert!(cases.len() >= 20);
    for case in cases {
        let text = case[0].as_str().expect("text");
        assert_eq!(of(text), case[1], "{text:?}");
    }
}

#[test]
fn golden_prefixes() {
    assert_golden("strip", |text| json!(strip_channel_prefix(text)));
}

#[test]
fn golden_noise() {
    assert_golden("noise", |text| json!(is_noise(text)));
}

#[test]
fn golden_topics() {
    let topics = Topics::default();
    assert_golden("topics", |text| json!(topics.of(text)));
}

#[test]
fn golden_entities() {
    assert_golden("entities", |text| {
        let entity = |(kind, value, offset)| json!({"type": kind, "value": value, "offset": offset});
        found(text).into_iter().map(entity).collect()
    });
}

/// Return the entities of a text as plain values.
fn found(text: &str) -> Vec<(&'static str, String, u32)> {
    entities(text).into_iter().map(|entity| (entity.kind.name(), entity.value, entity.offset)).collect()
}

/// The rules as regular expressions, one after the other; what stands in the first group is the value, else all.
struct EntityReference {
    addresses: [(EntityKind, Regex); 2],
    rest: Vec<(EntityKind, Regex)>,
}

impl EntityReference {
    fn new() -> Self {
        use EntityKind::{Amount, Date, Email, Person, Project, Stock, Url};
        let regex = |pattern: &str| Regex::new(&pattern.replace("SPACE", SPACE)).expect("a pattern");
        let number = "[0-9,]+(?:[.][0-9]+)?";
        let cues = "@|找|问|跟|给|叫|是|让|请|联系|通知|告诉|转告|抄送|cc";
        let relative = "今天|昨天|明天|前天|后天|上周|下周|上个月|下个月";
        Self {
            addresses: [
                (Url, regex(r#"(?i-u:https?)://[^SPACE<>"')\]]+"#)),
                (Email, regex("[0-9A-Za-z._%+-]+@[0-9A-Za-z.-]+[.][A-Za-z]{2,}")),
            ],
            rest: vec![
                // What stands behind a code is matched as well, and given back: the value ends before it.
                (Stock, regex("((?:SH|SZ|sh|sz)?[0-9]{6})(?:[^0-9]|$)")),
                (Stock, regex(r"[$][A-Z]{1,5}(?-u:\b)")),
                (Amount, regex(&format!("¥{number}[万亿]?|{number}[万亿]?[元块]"))),
                (Amount, regex(&format!("[$]{number}(?:[SPACE]?[KMBkmb])?"))),
                (Date, regex("[0-9]{4}[/-][0-9]{1,2}[/-][0-9]{1,2}")),
                (Date, regex("[0-9]{1,4}年[0-9]{1,2}月[0-9]{1,2}[日号]")),
                (Date, regex(relative)),
                (Person, regex(&format!("(?:{cues})[SPACE]*([一-龥]{{2,4}})"))),
                (Project, regex("[0-9A-Za-z_-]+/[0-9A-Za-z._-]+")),
                (Project, regex(r"(?-u:\b)(?:[A-Z][a-z]+){2,5}(?-u:\b)")),
            ],
        }
    }

    fn of(&self, text: &str) -> Vec<(&'static str, String, u32)> {
        let mut all = Vec::new();
        let mut blanked = text.to_owned();
        for (kind, regex) in &self.addresses {
            all.extend(Self::matches(text, *kind, regex));
            blanked = regex.replace_all(&blanked, " ").into_owned();
        }
        for (kind, regex) in &self.rest {
            all.extend(Self::matches(&blanked, *kind, regex));
        }
        let mut once: Vec<(&'static str, String, u32)> = Vec::new();
        for (kind, value, offset) in all {
            if !once.iter().any(|known| (known.0, &known.1) == (kind, &value)) {
                once.push((kind, value, offset));
            }
        }
        once.truncate(MOST_ENTITIES);
        once
    }

    fn matches(text: &str, kind: EntityKind, regex: &Regex) -> Vec<(&'static str, String, u32)> {
        let mut all = Vec::new();
        let mut at = 0;
        while let Some(groups) = regex.captures_at(text, at) {
            let whole = groups.get(0).expect("the match");
            let value = groups.get(1).unwrap_or(whole);
            let offset = text[..whole.start()].encode_utf16().count() as u32;
            all.push((kind.name(), value.as_str().to_owned(), offset));
            at = value.end();
        }
        all
    }
}

/// Return everything the rules for entities speak of, close together.
fn text_with_entities() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        2 => "(http|https|HTTPS|ttp)://[a-z/.]{0,3}", 2 => "[a-c._%+-]{0,2}@[a-c1.-]{0,3}[.][a-c]{1,3}[1@]?",
        3 => "[0-9]{1,8}", 3 => "[-/,.$¥@]", 2 => "[0-9,]{1,3}[.]?[0-9]{0,2}[万亿]?[元块]?", 2 => "(SH|SZ|sh|sz|Sh|s)",
        2 => "[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,3}", 2 => "[0-9]{0,5}年[0-9]{0,3}月[0-9]{0,3}[日号]?",
        2 => "[今昨明前后上下]?[天周个月]{0,2}", 3 => "(找|问|跟|给|叫|是|让|请|联系|通知|告诉|转告|抄送|c|cc|联|告)",
        2 => "[一龥龦张三]{1,5}", 3 => "([A-Z][a-z]{0,2}){1,6}", 2 => "[a-cA-C_-]{1,2}/[a-c._/]{0,2}",
        3 => "[ \n\u{3000}\u{FEFF}\u{85}]{1,2}", 1 => "[<>\"')\\]KkMmB_é😀]", 1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

/// Topics by one search for each keyword, in the lower-cased text.
struct TopicReference(Vec<(&'static str, Vec<Regex>)>);

impl TopicReference {
    fn new(topics: &[(&'static str, Vec<&str>)]) -> Self {
        let edge = format!(r"[{SPACE}\p{{P}}]");
        let pattern = |keyword: &&str| {
            let escaped = regex::escape(&Self::fold(keyword));
            let is_han = keyword.chars().any(|c| ('\u{4E00}'..='\u{9FFF}').contains(&c));
            let pattern = if is_han { escaped } else { format!("(?:^|{edge}){escaped}(?:{edge}|$)") };
            Regex::new(&pattern).expect("a pattern")
        };
        Self(topics.iter().map(|(name, keywords)| (*name, keywords.iter().map(pattern).collect())).collect())
    }

    fn fold(text: &str) -> String {
        text.to_lowercase().replace('ſ', "s").replace('ς', "σ")
    }

    fn of(&self, text: &str) -> Vec<&'static str> {
        let text = Self::fold(text);
        let found = self.0.iter().filter(|(_, patterns)| patterns.iter().any(|pattern| pattern.is_match(&text)));
        found.map(|&(name, _)| name).collect()
    }
}

/// Topics whose keywords contain, begin and overlap each other.
fn overlapping_topics() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        ("a", vec!["ab", "Ab c", "b c"]),
        ("b", vec!["b", "c ab", "ΣΑΣ"]),
        ("c", vec!["飞书", "c-飞", "é"]),
        ("d", vec!["书", "c++", ".s"]),
        ("e", vec!["abc"]),
    ]
}

/// The rules for prefixes as regular expressions for trimmed lines.
struct PrefixReference {
    stamp: Regex,
    heading: Regex,
    block: Regex,
}

impl PrefixReference {
    fn new() -> Self {
        let regex = |pattern: &str| Regex::new(&pattern.replace("SPACE", SPACE)).expect("a pattern");
        let any = r"[^\n\r\u{2028}\u{2029}]*";
        Self {
            stamp: regex(
                r"^(System:[SPACE]*)?\[((Mon|Tue|Wed|Thu|Fri|Sat|Sun)[SPACE]+)?[0-9]{4}-[0-9]{2}-[0-9]{2}[SPACE]",
            ),
            heading: regex(&format!(
                r"^(?i-u:conversation|sender|channel)[SPACE]{any}(?i-u:\(untrusted metadata\)):?$"
            )),
            block: regex("^(?:```(json)?$|$|[{}\"])"),
        }
    }

    fn strip(&self, text: &str) -> String {
        let is_space = |c: char| c == '\u{FEFF}' || (c.is_whitespace() && c != '\u{85}');
        let mut kept = Vec::new();
        let mut in_block = false;
        for line in text.split('\n') {
            let trimmed = line.trim_matches(is_space);
            if self.stamp.is_match(trimmed) {
                continue;
            }
            if self.heading.is_match(trimmed) {
                in_block = true;
                continue;
            }
            in_block = in_block && self.block.is_match(trimmed);
            if !in_block {
                kept.push(line);
            }
        }
        kept.join("\n").trim_matches(is_space).to_owned()
    }
}

/// Return everything the rules for prefixes speak of, close together.
fn text_with_prefixes() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "\n|\r\n", 2 => "(System: {0,2})?\\[?((Sun|Mon|mon) {0,2})?20[0-9]{2}-02-15? ?",
        3 => "(Conversation|sender|CHANNEL|Senders)[ \t\u{2028}]?(info)?[ \r]?\\((untrusted|Untrusted) metadata\\):{0,2}",
        3 => "(```|```json|`|\\{|\\}|\"a\")", 2 => "[ \t\u{3000}\u{FEFF}\u{85}]", 2 => "[a-c飞]{1,2}",
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

#[test]
fn topics_come_in_the_order_of_definition_and_grow() {
    let mut topics = Topics::default();
    assert_eq!(topics.names()[..2], ["programming", "api"]);
    assert_eq!(topics.names().len(), 12);
    topics.add("deploy", &["Kubernetes"]).expect("a new topic");
    topics.add("api", &["gRPC"]).expect("a known topic");
    assert_eq!(topics.names().len(), 13);
    assert_eq!(topics.of("KUBERNETES and grpc"), ["api", "deploy"]);
    assert_eq!(topics.of("grpcs"), Vec::<&str>::new());
}

#[test]
fn keywords_may_be_long() {
    let mut topics = Topics::default();
    let long = "long".repeat(50_000);
    topics.add("long", &[&long]).expect("a topic");
    assert_eq!(topics.of(&format!("code {long}")), ["programming", "long"]);
    assert!(topics.of(&long[1..]).is_empty());
}

#[test]
fn an_invalid_topic_is_refused_whole() {
    let mut topics = Topics::default();
    let bad: [(&str, &[&str], &str); 3] = [
        ("\u{FEFF} ", &["x"], "the name of a topic must be more than white space, not \"\\u{feff} \""),
        ("x", &[], "keywords must be one or more, not none, for topic \"x\""),
        ("x", &["fine", ""], "each keyword must be more than white space, not \"\", for topic \"x\""),
    ];
    for (name, keywords, message) in bad {
        assert_eq!(topics.add(name, keywords).expect_err("refused").to_string(), message);
    }
    assert_eq!(topics.names().len(), 12);
    assert!(topics.of("fine").is_empty());
}

#[test]
fn no_more_entities_are_kept_than_said() {
    let text = (100_000..200_000).map(|code| code.to_string()).collect::<Vec<_>>().join(" FooBar ");
    let found = entities(&text);
    assert_eq!(found.len(), MOST_ENTITIES);
    assert!(found.iter().all(|entity| entity.kind == EntityKind::Stock));
    assert_eq!(found[255].value, "100255");
}

/// A megabyte of what makes a backtracking matcher slow takes no longer than any other.
#[test]
fn time_grows_with_length_alone() {
    let topics = Topics::default();
    let units = [
        "a",
        "1",
        ",",
        "@",
        "a@",
        "a@a.",
        "/",
        "a/",
        "$",
        "$1,",
        "¥",
        "元",
        "1元",
        "1.",
        "年",
        "1年1月",
        "c",
        "是",
        "@ ",
        " ",
        "A",
        "Aa",
        "http://",
        "://",
        "天",
        "Sender ",
        "System: [",
        "{\n",
        "ai ",
        "machine ",
        "machine learnin",
        "ſ",
        "飞",
        "HEARTBEAT",
        "[Audio]",
        "2026-01-",
        "1-",
        "\u{3000}",
        "告",
        "转告",
    ];
    for unit in units {
        for text in [unit.repeat((1 << 20) / unit.len()), format!("@{}", unit.repeat((1 << 20) / unit.len()))] {
            let start = Instant::now();
            let sizes = (entities(&text).len(), topics.of(&text).len(), strip_channel_prefix(&text).len());
            assert!(start.elapsed() < Duration::from_secs(2), "{unit:?}: {:?}, {sizes:?}", start.elapsed());
            assert!(!is_noise(&text) || text.trim().len() <= 1);
        }
    }
}

/// Test an invariant on so many examples.
fn for_all<T: std::fmt::Debug>(
    cases: u32,
    examples: &impl Strategy<Value = T>,
    invariant: impl Fn(T) -> Result<(), TestCaseError>,
) {
    TestRunner::new(ProptestConfig::with_cases(cases)).run(examples, invariant).expect("the invariant holds");
}

#[test]
fn prefixes_equal_the_reference_implementation() {
    let reference = PrefixReference::new();
    for_all(4_000, &text_with_prefixes(), |text| {
        prop_assert_eq!(strip_channel_prefix(&text), reference.strip(&text));
        Ok(())
    });
}

#[test]
fn topics_equal_the_reference_implementation() {
    let (list, mut topics) = (overlapping_topics(), Topics::default());
    for (name, keywords) in &list {
        topics.add(name, keywords).expect("a topic");
    }
    let reference = TopicReference::new(&list);
    let texts = "([abcABC飞书]|ab|c-|[+]{1,2}|[ .,。\u{3000}\u{85}\u{200B}]|[σςΣΑαſsé]|É|\\PC){0,16}";
    for_all(4_000, &texts, |text| {
        let found: Vec<&str> = topics.of(&text).into_iter().filter(|name| name.len() == 1).collect();
        prop_assert_eq!(found, reference.of(&text));
        Ok(())
    });
}

#[test]
fn entities_equal_the_reference_implementation() {
    let reference = EntityReference::new();
    for_all(4_000, &text_with_entities(), |text| {
        prop_assert_eq!(found(&text), reference.of(&text));
        Ok(())
    });
}
