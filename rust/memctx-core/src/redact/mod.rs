//! Masking of secrets before a text is stored.
//!
//! Three passes in one: tokens that name themselves, places where secrets stand (armor, URLs, headers, command lines),
//! and names with a value. Nothing is masked for being long or random alone: in talk about code such a run is nearly
//! always a hash.

mod assignment;
mod command;
mod dotted;
mod header;
mod key;
mod openclaw;
mod pem;
mod pgpass;
mod pii;
mod prose;
mod quote;
mod rule;
mod scan;
mod span;
mod tables;
mod url;
mod value;
mod wordy;

use std::borrow::Cow;
use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};

use crate::{Error, Result};
pub(crate) use span::split_at_masks;
use span::{MARK, Rank, Span};

/// Treatment of secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redaction {
    /// Nothing.
    Off,
    /// Each becomes `[REDACTED:kind]`.
    #[default]
    Mask,
    /// The six rules of OpenClaw, unchanged.
    OpenClaw,
}

impl Redaction {
    /// Return the redaction of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "off" => Ok(Self::Off),
            "mask" => Ok(Self::Mask),
            "openclaw" => Ok(Self::OpenClaw),
            _ => Err(Error::argument("mode", "\"off\", \"mask\" or \"openclaw\"", format!("{name:?}"))),
        }
    }
}

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked<'t> {
    /// The text; borrowed when nothing was found.
    pub text: Cow<'t, str>,
    /// Number of masked secrets of each kind, by the name of the kind.
    pub kinds: Vec<(Box<str>, u32)>,
}

/// Return the rules that are patterns, as kind and regular expression, for those who want to run them in another
/// engine.
pub fn patterns() -> impl Iterator<Item = (&'static str, &'static str)> {
    tables::FORMATS.iter().chain(command::COMMANDS).map(|rule| (rule.kind, rule.pattern))
}

/// Compiled patterns of a user stay below this many bytes each.
const PATTERN_LIMIT: usize = 1 << 20;

/// Names of kinds stay readable and cannot break a mask.
const LONGEST_KIND: usize = 40;

/// Finds secrets and masks them.
///
/// ```
/// use memctx_core::redact::{Redaction, Redactor};
///
/// let redactor = Redactor::new(Redaction::Mask, false, &[])?;
/// let masked = redactor.mask("export DB_PASSWORD=k3jf9slw-Qp0 # for staging");
/// assert_eq!(masked.text, "export DB_PASSWORD=[REDACTED:password] # for staging");
/// assert_eq!(masked.kinds, [("password".into(), 1)]);
/// # Ok::<(), memctx_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Redactor {
    mode: Redaction,
    pii: bool,
    patterns: Vec<(Box<str>, Regex)>,
}

impl Redactor {
    /// Create a redactor; `pii` masks personal data too, `patterns` are further kinds, each with a regular expression.
    pub fn new(mode: Redaction, pii: bool, patterns: &[(String, String)]) -> Result<Self> {
        let patterns = patterns.iter().map(|(kind, pattern)| compile(kind, pattern)).collect::<Result<Vec<_>>>()?;
        Ok(Self { mode, pii, patterns })
    }

    /// Mask every secret in a text.
    #[must_use]
    pub fn mask<'t>(&self, text: &'t str) -> Masked<'t> {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let text = match self.mode {
            Redaction::Off => Cow::Borrowed(text),
            Redaction::OpenClaw => openclaw::mask(text, |kind, found| *counts.entry(kind).or_default() += found),
            Redaction::Mask => self.mask_all(text, &mut counts),
        };
        Masked { text, kinds: counts.into_iter().map(|(kind, count)| (kind.into(), count)).collect() }
    }

    /// Mask until nothing is left to mask: a mask may end a value that reached further before.
    fn mask_all<'t, 's>(&'s self, text: &'t str, counts: &mut BTreeMap<&'s str, u32>) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        loop {
            let spans = self.spans(&text);
            if spans.is_empty() {
                return text;
            }
            for span in &spans {
                *counts.entry(span.kind).or_default() += 1;
            }
            text = Cow::Owned(span::write(&text, &spans));
        }
    }

    fn spans<'s>(&'s self, text: &str) -> Vec<Span<'s>> {
        let mut spans: Vec<Span<'s>> = scan::find(text);
        if self.pii {
            pii::find(text.as_bytes(), &mut spans);
        }
        for (kind, regex) in &self.patterns {
            let found = regex.find_iter(text).filter(|found| !found.is_empty());
            spans.extend(found.map(|found| Span { start: found.start(), end: found.end(), kind, rank: Rank::Given }));
        }
        if spans.is_empty() {
            return spans;
        }
        apart_from_marks(text, span::merge(spans))
    }
}

/// Spans without the masks that were written before, and on the borders of characters.
fn apart_from_marks<'k>(text: &str, spans: Vec<Span<'k>>) -> Vec<Span<'k>> {
    let mut apart = Vec::with_capacity(spans.len());
    let mut marks = marks(text).peekable();
    for span in spans {
        let mut start = (0..=span.start).rfind(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let end = (span.end..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
        while let Some(&(from, to)) = marks.peek() {
            if from >= end {
                break;
            }
            if from > start {
                apart.push(Span { start, end: from, ..span });
            }
            start = start.max(to);
            if to > end {
                break;
            }
            marks.next();
        }
        if start < end {
            apart.push(Span { start, end, ..span });
        }
    }
    apart
}

/// Find the masks in a text.
fn marks(text: &str) -> impl Iterator<Item = (usize, usize)> {
    memchr::memmem::find_iter(text.as_bytes(), MARK).filter_map(|start| {
        let name = &text.as_bytes()[start + MARK.len()..];
        let len = name.iter().take(LONGEST_KIND + 1).position(|byte| *byte == b']')?;
        Some((start, start + MARK.len() + len + 1))
    })
}

fn compile(kind: &str, pattern: &str) -> Result<(Box<str>, Regex)> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if kind.is_empty() || kind.len() > LONGEST_KIND || !kind.bytes().all(fits) {
        let found = format!("{kind:?}");
        return Err(Error::argument("the kind of a pattern", "up to 40 small letters, digits and _", found));
    }
    let regex = RegexBuilder::new(pattern).size_limit(PATTERN_LIMIT).build();
    let regex = regex.map_err(|fault| {
        let found = format!("that of kind {kind:?}: {fault}");
        Error::argument("patterns", "regular expressions that compile to at most 1 MiB", found)
    })?;
    if regex.is_match("") {
        return Err(Error::argument(
            "patterns",
            "regular expressions that match something",
            format!("that of kind {kind:?}"),
        ));
    }
    Ok((kind.into(), regex))
}
