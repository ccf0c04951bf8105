//! Pattern rules: an anchor, a pattern and the part that is masked.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::span::{Rank, Span};
use super::tables::PUBLIC_TOKENS;
use super::value::{Proof, is_placeholder, is_secret};
use super::wordy::looks_random;

/// Condition on the matched secret beyond the pattern.
#[derive(Clone, Copy, Debug)]
pub(super) enum Judge {
    /// That it is no placeholder.
    Format,
    /// That it is not made of words either.
    Drawn,
    /// That it is a secret, by the measure of named values.
    Named(Proof),
}

/// One pattern. Group 1 is what goes, or the whole match where there is no group.
#[derive(Debug)]
pub(super) struct Rule {
    /// Kind shown in the mask.
    pub(super) kind: &'static str,
    /// Literals, in any case: one of them stands in every match.
    pub(super) anchors: &'static [&'static str],
    /// The pattern, in the part of the syntax that all regex engines share, ASCII only.
    pub(super) pattern: &'static str,
    /// Longest part of the token before the anchor, in bytes.
    pub(super) back: usize,
    pub(super) judge: Judge,
    pub(super) rank: Rank,
}

/// A rule and its compiled pattern, made when the first candidate turns up.
pub(super) struct Compiled {
    pub(super) rule: &'static Rule,
    regex: OnceLock<Regex>,
}

/// Longest distance of a match behind its anchor.
const REACH: usize = 1 << 13;

/// Number of starts that are tried for a token with its anchor inside.
const MOST_STARTS: usize = 4;

impl Compiled {
    pub(super) fn new(rule: &'static Rule) -> Self {
        Self { rule, regex: OnceLock::new() }
    }

    /// Return what the rule finds around an anchor; the error is the end of a match that is no secret.
    pub(super) fn check(&self, text: &[u8], anchor: usize) -> Result<Option<Span<'static>>, usize> {
        let run = text[..anchor].iter().rev().take(self.rule.back).take_while(|byte| in_token(**byte)).count();
        let first = behind_escape(text, anchor - run);
        let begins = |&start: &usize| {
            begins_token(text, start) && (start == first || text[start].is_ascii_alphanumeric()) && start <= anchor
        };
        for start in (first..=anchor.max(first)).filter(begins).take(MOST_STARTS) {
            let groups = self.regex().captures(&text[start..text.len().min(anchor + REACH)]);
            let Some(part) = groups.as_ref().and_then(|groups| groups.get(1).or_else(|| groups.get(0))) else {
                continue;
            };
            let value = part.as_bytes();
            let is_secret = match self.rule.judge {
                Judge::Format => !is_placeholder(value),
                Judge::Drawn => !is_placeholder(value) && looks_random(value) && !self.is_public(value),
                Judge::Named(proof) => is_secret(value, proof),
            };
            let (start, end) = (start + part.start(), start + part.end());
            if !is_secret {
                return Err(end);
            }
            return Ok(Some(Span { start, end, kind: self.rule.kind, rank: self.rule.rank }));
        }
        Ok(None)
    }

    /// Return whether a token that the rule for any vendor found is meant to be published.
    fn is_public(&self, token: &[u8]) -> bool {
        self.rule.kind == "api_key" && PUBLIC_TOKENS.iter().any(|start| token.starts_with(start.as_bytes()))
    }

    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| {
            RegexBuilder::new(&format!("^(?:{})", self.rule.pattern))
                .unicode(false)
                .size_limit(1 << 22)
                .build()
                .expect("the patterns of this crate compile, as a test shows")
        })
    }
}

/// Behind the letter of `\n`, or behind a color code, if that is what stands here.
pub(super) fn behind_escape(text: &[u8], at: usize) -> usize {
    let before = at.checked_sub(1).map_or(b' ', |before| text[before]);
    let escaped = before == b'\\' && text.get(at).is_some_and(|byte| b"nrt".contains(byte));
    let digits = text[at..].iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
    let colored = before == b'[' && text.get(at + digits) == Some(&b'm');
    at + if colored { digits + 1 } else { usize::from(escaped) }
}

/// Return whether a byte can stand in a token before its anchor.
fn in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/_~.-".contains(&byte)
}

/// Return whether what stands here is not the middle of a word. An escape (`\n`, `%3D`, a color code) before it is
/// none of it.
pub(super) fn begins_token(text: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map_or(b' ', |at| text[at]);
    let last = before(1);
    if !last.is_ascii_alphanumeric() || text.get(at).is_some_and(|byte| !byte.is_ascii_alphanumeric()) {
        return true;
    }
    let is_escape = b"nrt".contains(&last) && before(2) == b'\\';
    let is_percent = before(3) == b'%' && last.is_ascii_hexdigit() && before(2).is_ascii_hexdigit();
    let is_color = last == b'm' && {
        let digits = (2..8).take_while(|&back| before(back).is_ascii_digit() || before(back) == b';').count();
        before(2 + digits) == b'['
    };
    is_escape || is_percent || is_color
}
