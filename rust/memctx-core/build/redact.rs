//! Turns the data files of the redactor into tables: formats of tokens into rules, lists of words into sorted slices.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// The files, beside the code that reads the tables.
pub(crate) const FILES: [&str; 3] =
    ["src/redact/data/formats.txt", "src/redact/data/words.txt", "src/redact/data/prose.txt"];

/// Alternatives of an anchor; more end it.
const MOST_ANCHORS: usize = 16;

/// An anchor of this length takes no further alternatives.
const LONG: usize = 6;

/// An anchor of this length is rare enough; in formats that have none, the longest literal serves.
const ENOUGH: usize = 3;

/// Return the source of all tables.
pub(crate) fn tables(root: &Path) -> String {
    let [formats, words, prose] = FILES.map(|file| (file, std::fs::read_to_string(root.join(file)).expect(file)));
    let mut source = String::new();
    rules(&mut source, &formats);
    lists(&mut source, &words);
    naming_words(&mut source, &prose);
    source
}

/// Visit every line that says something, with its number.
fn lines<'t>((file, text): &'t (&str, String)) -> impl Iterator<Item = (String, &'t str)> {
    let numbered = text.lines().enumerate().map(move |(at, line)| (format!("{file}:{}", at + 1), line.trim()));
    numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn rules(source: &mut String, file: &(&str, String)) {
    source.push_str("pub(super) static FORMATS: &[Rule] = &[\n");
    for (location, line) in lines(file) {
        let mut columns = line.splitn(2, char::is_whitespace);
        let kind = columns.next().unwrap_or_default();
        let rest = columns.next().unwrap_or_default().trim();
        let (check, format) =
            rest.split_once(char::is_whitespace).unwrap_or_else(|| panic!("{location}: three columns"));
        let judge = match check {
            "format" => "Format",
            "drawn" => "Drawn",
            _ => panic!("{location}: no such check: {check}"),
        };
        let items = Parser { rest: format.trim(), location: &location }.sequence(false);
        let (anchors, back) = anchors(&items);
        assert!(anchors.iter().all(|anchor| anchor.len() > 1), "{location}: no literal to look for: {format}");
        let anchors: Vec<String> = anchors.into_iter().collect();
        let pattern: String = items.iter().map(Item::pattern).collect();
        writeln!(
            source,
            "Rule {{ kind: {kind:?}, anchors: &{anchors:?}, pattern: {pattern:?}, back: {back}, \
             judge: Judge::{judge}, rank: Rank::Token }},"
        )
        .expect("strings grow");
    }
    source.push_str("];\n");
}

/// A part of a format.
enum Item {
    Text(String),
    /// A run of characters: the class in the syntax of patterns, and the least and greatest length.
    Run {
        class: String,
        least: usize,
        most: Option<usize>,
    },
    Either {
        branches: Vec<Vec<Item>>,
        optional: bool,
    },
    Open,
    Close,
    End,
}

impl Item {
    fn pattern(&self) -> String {
        match self {
            Self::Text(text) => text.chars().map(escape).collect(),
            Self::Run { class, least, most } => {
                let times = match most {
                    Some(most) if most == least && *most == 1 => String::new(),
                    Some(most) if most == least => format!("{{{most}}}"),
                    Some(most) => format!("{{{least},{most}}}"),
                    None => format!("{{{least},}}"),
                };
                format!("[{class}]{times}")
            }
            Self::Either { branches, optional } => {
                let branches: Vec<String> =
                    branches.iter().map(|branch| branch.iter().map(Self::pattern).collect()).collect();
                format!("(?:{}){}", branches.join("|"), if *optional { "?" } else { "" })
            }
            Self::Open => "(".to_owned(),
            Self::Close => ")".to_owned(),
            Self::End => r"\b".to_owned(),
        }
    }

    /// Return every text this part may be, if it is made of literals only.
    fn literals(&self) -> Option<BTreeSet<String>> {
        match self {
            Self::Text(text) => Some([text.clone()].into()),
            Self::Run { .. } => None,
            Self::Either { branches, optional } => {
                let mut all: BTreeSet<String> = if *optional { [String::new()].into() } else { BTreeSet::new() };
                for branch in branches {
                    let mut texts: BTreeSet<String> = [String::new()].into();
                    for item in branch {
                        texts = product(&texts, &item.literals()?);
                    }
                    all.extend(texts);
                }
                Some(all)
            }
            Self::Open | Self::Close | Self::End => Some([String::new()].into()),
        }
    }

    fn most(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Run { most, .. } => most.unwrap_or(256),
            Self::Either { branches, .. } => {
                branches.iter().map(|branch| branch.iter().map(Self::most).sum()).max().unwrap_or(0)
            }
            Self::Open | Self::Close | Self::End => 0,
        }
    }
}

fn product(left: &BTreeSet<String>, right: &BTreeSet<String>) -> BTreeSet<String> {
    left.iter().flat_map(|left| right.iter().map(move |right| format!("{left}{right}"))).collect()
}

/// Return the literals one of which stands in every match, and how many bytes of the match may stand before them.
fn anchors(items: &[Item]) -> (BTreeSet<String>, usize) {
    let mut best: Option<(BTreeSet<String>, usize)> = None;
    let mut run: BTreeSet<String> = [String::new()].into();
    let (mut run_start, mut at) = (0, 0);
    let shortest = |texts: &BTreeSet<String>| texts.iter().map(String::len).min().unwrap_or(0);
    for item in items.iter().map(Some).chain([None]) {
        let longer = item.and_then(Item::literals).map(|texts| product(&run, &texts));
        let is_better = |longer: &BTreeSet<String>| {
            longer.len() <= MOST_ANCHORS && (longer.len() == run.len() || shortest(&run) < LONG)
        };
        if let Some(longer) = longer.filter(is_better) {
            run = longer;
        } else {
            let known = best.as_ref().map_or(0, |(texts, _)| shortest(texts));
            if known < ENOUGH && shortest(&run) > known {
                best = Some((run, run_start));
            }
            let begun = item.and_then(Item::literals).filter(|texts| texts.len() <= MOST_ANCHORS);
            run_start = if begun.is_some() { at } else { at + item.map_or(0, Item::most) };
            run = begun.unwrap_or_else(|| [String::new()].into());
        }
        at += item.map_or(0, Item::most);
    }
    best.unwrap_or_default()
}

/// Reads formats.
struct Parser<'t> {
    rest: &'t str,
    location: &'t str,
}

impl Parser<'_> {
    fn sequence(&mut self, nested: bool) -> Vec<Item> {
        let mut items = Vec::new();
        let mut text = String::new();
        while let Some(c) = self.rest.chars().next() {
            if nested && (c == '|' || c == ')') {
                break;
            }
            self.rest = &self.rest[c.len_utf8()..];
            if !"\\{([]$".contains(c) {
                text.push(c);
                continue;
            }
            if c == '\\' {
                let literal =
                    self.rest.chars().next().unwrap_or_else(|| panic!("{}: nothing to escape", self.location));
                self.rest = &self.rest[literal.len_utf8()..];
                text.push(literal);
                continue;
            }
            if !text.is_empty() {
                items.push(Item::Text(std::mem::take(&mut text)));
            }
            items.push(match c {
                '{' => self.run(),
                '(' => self.either(),
                '[' => Item::Open,
                ']' => Item::Close,
                _ => Item::End,
            });
        }
        if !text.is_empty() {
            items.push(Item::Text(text));
        }
        items
    }

    fn run(&mut self) -> Item {
        let location = self.location;
        let (inner, rest) = self.rest.split_once('}').unwrap_or_else(|| panic!("{location}: a brace stays open"));
        self.rest = rest;
        if inner == "uuid" {
            return Item::Run { class: "0-9A-Fa-f-".to_owned(), least: 36, most: Some(36) };
        }
        let (class, length) = inner.rsplit_once(',').unwrap_or_else(|| panic!("{location}: no length in {{{inner}}}"));
        let number = |text: &str| text.parse::<usize>().unwrap_or_else(|_| panic!("{location}: no number: {text}"));
        let (least, most) = match length.split_once("..") {
            None => (number(length), Some(number(length))),
            Some((least, "")) => (number(least), None),
            Some((least, most)) => (number(least), Some(number(most))),
        };
        Item::Run { class: class_of(class, location), least, most }
    }

    fn either(&mut self) -> Item {
        let mut branches = vec![self.sequence(true)];
        while let Some(rest) = self.rest.strip_prefix('|') {
            self.rest = rest;
            branches.push(self.sequence(true));
        }
        self.rest =
            self.rest.strip_prefix(')').unwrap_or_else(|| panic!("{}: a parenthesis stays open", self.location));
        let optional = self.rest.strip_prefix('?');
        self.rest = optional.unwrap_or(self.rest);
        Item::Either { branches, optional: optional.is_some() }
    }
}

fn class_of(name: &str, location: &str) -> String {
    let (name, further) = name.split_once('+').unwrap_or((name, ""));
    let known = match name {
        "" => "",
        "digit" => "0-9",
        "hex" => "0-9a-f",
        "xdigit" => "0-9A-Fa-f",
        "lower" => "a-z0-9",
        "upper" => "A-Z0-9",
        "alpha" => "A-Za-z",
        "alnum" => "A-Za-z0-9",
        "word" => "A-Za-z0-9_",
        "url64" => "A-Za-z0-9_\\-",
        "b64" => "A-Za-z0-9+/",
        "base32" => "A-Z2-7",
        "base58" => "1-9A-HJ-NP-Za-km-z",
        _ => panic!("{location}: no such class: {name}"),
    };
    let further: String =
        further.chars().map(|c| if "\\]^[-".contains(c) { format!("\\{c}") } else { c.to_string() }).collect();
    format!("{known}{further}")
}

fn escape(c: char) -> String {
    if "\\.+*?()|[]{}^$".contains(c) { format!("\\{c}") } else { c.to_string() }
}

/// Sections of words: `[NAME]`, then words between blanks. A bar stands for a blank inside a word.
fn lists(source: &mut String, file: &(&str, String)) {
    let mut lists: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut current = None;
    for (location, line) in lines(file) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            assert!(!lists.contains_key(name), "{location}: {name} stands twice");
            current = Some(name);
        }
        let list = lists.entry(current.unwrap_or_else(|| panic!("{location}: words before a section"))).or_default();
        if !line.starts_with('[') {
            list.extend(line.split_whitespace().map(|word| word.replace('|', " ")));
        }
    }
    for (name, words) in lists {
        let words: Vec<String> = words.into_iter().collect();
        writeln!(source, "pub(super) static {name}: &[&str] = &{words:?};").expect("strings grow");
    }
}

/// Lines of `kind proof: word, word, ...`.
fn naming_words(source: &mut String, file: &(&str, String)) {
    let mut words: BTreeMap<String, String> = BTreeMap::new();
    for (location, line) in lines(file) {
        let (head, list) = line.split_once(':').unwrap_or_else(|| panic!("{location}: no colon"));
        let (kind, proof) = head.split_once(' ').unwrap_or_else(|| panic!("{location}: kind and proof"));
        let proof = match proof.trim() {
            "pin" => "Pin",
            "password" => "Password",
            "random" => "Random",
            proof => panic!("{location}: no such proof: {proof}"),
        };
        for word in list.split(',') {
            let named = format!("Named {{ kind: {kind:?}, proof: Proof::{proof} }}");
            let known = words.insert(word.trim().to_owned(), named);
            assert!(known.is_none(), "{location}: {word} stands twice");
        }
    }
    source.push_str("pub(super) static NAMING_WORDS: &[(&str, Named)] = &[\n");
    for (word, named) in words {
        writeln!(source, "({word:?}, {named}),").expect("strings grow");
    }
    source.push_str("];\n");
}
