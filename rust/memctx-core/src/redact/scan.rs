//! One pass over the text for anchors of secrets; each is then checked in its context.

use std::ops::Range;
use std::sync::LazyLock;

use super::command::COMMANDS;
use super::key::Named;
use super::rule::Compiled;
use super::span::{MARK, Span};
use super::tables::{FORMATS, NAMING_WORDS};
use super::{assignment, dotted, header, pem, pgpass, prose, url};
use crate::literals::{Literal, Literals};

/// Check that an anchor triggers.
#[derive(Clone, Copy, Debug)]
enum Check {
    /// A pattern of the tables, by number.
    Pattern(usize),
    /// A name with a value.
    Name,
    /// A naming word of another language.
    NamingWord(Named),
    Armor,
    Putty,
    EncodedPem,
    WebKey,
    UserInfo,
    DataSource,
    PgPass,
    Authorization,
    Bearer,
    Basic,
    Cookie,
    /// A mask written before: nothing in it counts.
    Mark,
}

/// Pieces of names that secrets have.
const NAMES: &[&str] = &[
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "psk",
    "pw",
    "jwt",
    "sessid",
    "sessionid",
    "_pat",
    "crumb",
    ".login",
];

const STRUCTURES: &[(&str, Check)] = &[
    ("PRIVATE KEY", Check::Armor),
    ("Private-Lines:", Check::Putty),
    ("LS0tLS1CRUdJTi", Check::EncodedPem),
    ("\"kty\"", Check::WebKey),
    ("://", Check::UserInfo),
    ("@tcp(", Check::DataSource),
    ("@unix(", Check::DataSource),
    (":5432:", Check::PgPass),
    (":5433:", Check::PgPass),
    (":6432:", Check::PgPass),
    (":*:", Check::PgPass),
    ("authorization", Check::Authorization),
    ("bearer", Check::Bearer),
    ("basic", Check::Basic),
    ("cookie", Check::Cookie),
    (MARK, Check::Mark),
];

/// All anchors, and what each calls for.
struct Scanner {
    literals: Literals,
    #[cfg(test)]
    anchors: Vec<Literal<'static>>,
    checks: Vec<Check>,
    patterns: Vec<Compiled>,
}

static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);

impl Scanner {
    fn new() -> Self {
        let patterns: Vec<Compiled> = FORMATS.iter().chain(COMMANDS).map(Compiled::new).collect();
        let in_any_case = |text| Literal { text, any_case: true };
        let mut anchors: Vec<(Literal<'static>, Check)> =
            STRUCTURES.iter().map(|&(anchor, check)| (in_any_case(anchor), check)).collect();
        anchors.extend(NAMES.iter().map(|name| (in_any_case(name), Check::Name)));
        anchors.extend(NAMING_WORDS.iter().map(|&(word, named)| (in_any_case(word), Check::NamingWord(named))));
        for (number, pattern) in patterns.iter().enumerate() {
            let any_case = pattern.rule.pattern.starts_with("(?i)");
            let anchor = |text: &&'static str| (Literal { text, any_case }, Check::Pattern(number));
            anchors.extend(pattern.rule.anchors.iter().map(anchor));
        }
        Self {
            literals: Literals::new(anchors.iter().map(|(anchor, _)| *anchor)),
            #[cfg(test)]
            anchors: anchors.iter().map(|(anchor, _)| *anchor).collect(),
            checks: anchors.into_iter().map(|(_, check)| check).collect(),
            patterns,
        }
    }
}

/// Progress of the scan.
#[derive(Default)]
struct Progress {
    /// Names before this have been judged.
    name_end: usize,
    /// For each pattern the end of the last match that was no secret; what begins inside it is none either.
    refused: Vec<usize>,
    /// JSON web keys before this have been judged.
    key_end: usize,
    /// Cookies before this have been judged.
    cookie_end: usize,
    /// Everything before this is in a mask written earlier.
    marked: usize,
    /// Everything before this is in a span.
    covered: usize,
}

/// Find every secret in the text, in no order; spans may overlap.
pub(super) fn find(text: &str) -> Vec<Span<'static>> {
    SCANNER.judge(text.as_bytes(), SCANNER.literals.by_end(text.as_bytes()).into_iter())
}

impl Scanner {
    /// Look at every anchor found, in the order of their ends.
    fn judge(&self, text: &[u8], found: impl Iterator<Item = (usize, Range<usize>)>) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        let mut progress = Progress::default();
        for (anchor, range) in found {
            if range.start < progress.marked {
                continue;
            }
            let known = spans.len();
            self.look(text, self.checks[anchor], range.start, range.end, &mut progress, &mut spans);
            for span in &spans[known..] {
                progress.covered = progress.covered.max(span.end);
            }
        }
        dotted::find(text, &mut spans);
        spans
    }

    fn look(
        &self,
        text: &[u8],
        check: Check,
        start: usize,
        end: usize,
        progress: &mut Progress,
        spans: &mut Vec<Span<'static>>,
    ) {
        match check {
            Check::Pattern(number) => {
                let pattern = &self.patterns[number];
                let is_new = progress.refused.get(number).is_none_or(|&end| start >= end);
                if is_new {
                    match pattern.check(text, start) {
                        Ok(found) => spans.extend(found),
                        Err(end) => {
                            progress.refused.resize(self.patterns.len(), 0);
                            progress.refused[number] = end;
                        }
                    }
                }
            }
            Check::Name if start >= progress.name_end && start >= progress.covered => {
                progress.name_end = assignment::check(text, start, end, spans);
            }
            Check::NamingWord(named) if start >= progress.covered => {
                spans.extend(prose::after_naming_word(text, start, end, named));
            }
            Check::Armor => spans.extend(pem::armored(text, start)),
            Check::Putty => spans.extend(pem::putty(text, start)),
            Check::EncodedPem => spans.extend(pem::encoded(text, start)),
            Check::WebKey if start >= progress.key_end => progress.key_end = pem::web_key(text, start, spans),
            Check::UserInfo => spans.extend(url::user_info(text, start)),
            Check::DataSource => spans.extend(url::data_source(text, start)),
            Check::PgPass => spans.extend(pgpass::line(text, start)),
            Check::Authorization => header::authorization(text, end, spans),
            Check::Bearer => spans.extend(header::bearer(text, end)),
            Check::Basic => spans.extend(header::basic(text, end)),
            Check::Cookie if start >= progress.cookie_end => progress.cookie_end = header::cookies(text, end, spans),
            // Looked at before.
            Check::Name | Check::NamingWord(_) | Check::WebKey | Check::Cookie => {}
            Check::Mark => {
                let name = text[end..].iter().take(64).position(|byte| *byte == b']');
                progress.marked = name.map_or(progress.marked, |len| end + len + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Find the same without a filter, comparing every anchor at every offset.
    fn find_naively(text: &str) -> Vec<Span<'static>> {
        let scanner = &*SCANNER;
        let bytes = text.as_bytes();
        let mut order: Vec<usize> = (0..scanner.anchors.len()).collect();
        order.sort_by_key(|&anchor| std::cmp::Reverse(scanner.anchors[anchor].text.len()));
        let found = (1..=bytes.len()).flat_map(|end| {
            let ends_here = |&anchor: &usize| {
                let Literal { text, any_case } = scanner.anchors[anchor];
                let Some(found) = end.checked_sub(text.len()).map(|start| &bytes[start..end]) else { return false };
                found == text.as_bytes() || any_case && found.eq_ignore_ascii_case(text.as_bytes())
            };
            let range = move |anchor: usize| (anchor, end - SCANNER.anchors[anchor].text.len()..end);
            order.iter().copied().filter(ends_here).map(range).collect::<Vec<_>>()
        });
        scanner.judge(bytes, found)
    }

    fn places(spans: &[Span<'_>]) -> Vec<(usize, usize, String)> {
        spans.iter().map(|span| (span.start, span.end, span.kind.to_owned())).collect()
    }

    #[test]
    fn every_pattern_compiles() {
        for pattern in &SCANNER.patterns {
            assert!(pattern.check(b"", 0).is_ok(), "{}", pattern.rule.pattern);
        }
    }

    proptest! {
        #[test]
        fn the_filter_misses_nothing(
            pieces in prop::collection::vec((0..SCANNER.anchors.len(), "[a-zA-Z0-9=: .\"'@/-]{0,12}"), 0..12),
        ) {
            let text: String = pieces.iter().flat_map(|(anchor, rest)| [SCANNER.anchors[*anchor].text, rest]).collect();
            prop_assert_eq!(places(&find(&text)), places(&find_naively(&text)));
        }
    }
}
