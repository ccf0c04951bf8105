//! Turns word lists into tables.
//!
//! A file has sections `[NAME kind]`. A line that begins with `#` is a comment, one that begins with a blank continues
//! the line before it. The kinds:
//! - `list`: words between blanks;
//! - `rows`: one string to a line;
//! - `pairs`: two words to a line;
//! - `flags`: words behind the flags that they share, as in `LIGHT | PIVOT: run live`.

use std::fmt::Write as _;
use std::path::Path;

/// The data files, each with the name of its generated source in `OUT_DIR`.
pub(crate) const FILES: [(&str, &str); 5] = [
    ("src/facts/language/data/english.txt", "english.rs"),
    ("src/facts/language/data/cjk.txt", "cjk.rs"),
    ("src/facts/language/data/german.txt", "german.rs"),
    ("src/text/data/filler.txt", "filler.rs"),
    ("src/recall/data/cues.txt", "cues.rs"),
];

/// Return the source of the tables of one file.
pub(crate) fn tables(root: &Path, file: &str) -> String {
    let text = std::fs::read_to_string(root.join(file)).unwrap_or_else(|fault| panic!("{file}: {fault}"));
    let mut source = String::new();
    for section in sections(&text) {
        let (name, kind) =
            section.head.split_once(' ').unwrap_or_else(|| panic!("{file}: [{}] has no kind", section.head));
        let (item, lines): (&str, Vec<String>) = match kind {
            "list" => {
                let words = section.lines.iter().flat_map(|line| line.split(' '));
                ("&str", words.map(|word| format!("{word:?}")).collect())
            }
            "rows" => ("&str", section.lines.iter().map(|line| format!("{line:?}")).collect()),
            "pairs" => ("(&str, &str)", section.lines.iter().map(|line| pair(file, line)).collect()),
            "flags" => ("(u32, &str)", section.lines.iter().map(|line| flagged(file, line)).collect()),
            _ => panic!("{file}: no such kind: {kind}"),
        };
        writeln!(source, "pub(super) static {name}: &[{item}] = &[{}];", lines.join(", ")).expect("strings grow");
    }
    source
}

struct Section {
    head: String,
    lines: Vec<String>,
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        if let Some(head) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            sections.push(Section { head: head.to_owned(), lines: Vec::new() });
            continue;
        }
        let section = sections.last_mut().unwrap_or_else(|| panic!("words before a section: {line}"));
        match section.lines.last_mut() {
            Some(last) if line.starts_with(' ') => write!(last, " {}", line.trim()).expect("strings grow"),
            _ => section.lines.push(line.trim().to_owned()),
        }
    }
    sections
}

fn pair(file: &str, line: &str) -> String {
    let (first, second) = line.split_once(' ').unwrap_or_else(|| panic!("{file}: not a pair: {line}"));
    format!("({first:?}, {second:?})")
}

fn flagged(file: &str, line: &str) -> String {
    let (flags, words) = line.split_once(": ").unwrap_or_else(|| panic!("{file}: no flags: {line}"));
    let flags: Vec<String> = flags.split(" | ").map(|flag| format!("flag::{flag}")).collect();
    format!("({}, {words:?})", flags.join(" | "))
}
