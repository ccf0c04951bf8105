//! Special tokens of a tokenizer, such as `<s>`.

use std::ops::ControlFlow;

use aho_corasick::{AhoCorasick, MatchKind};

use super::description::{AddedToken, check};

/// Finds them before the text around them is read.
#[derive(Debug)]
pub(super) struct Marks {
    finder: Option<AhoCorasick>,
    marks: Vec<Mark>,
}

#[derive(Debug)]
struct Mark {
    id: u32,
    trims_before: bool,
    trims_after: bool,
}

/// A part of a text.
pub(super) enum Part<'a> {
    Text(&'a str),
    Mark(u32),
}

impl Marks {
    pub(super) fn new(tokens: &[AddedToken], limit: usize) -> Result<Self, String> {
        let tokens: Vec<&AddedToken> = tokens.iter().filter(|token| !token.content.is_empty()).collect();
        for token in &tokens {
            check(&token.content, token.id, limit)?;
            let kind = match token {
                AddedToken { normalized: true, .. } => "normalized",
                AddedToken { single_word: true, .. } => "single_word",
                _ => continue,
            };
            return Err(format!("the added token {:?} is `{kind}`, which memctx does not read", token.content));
        }
        let marks = tokens
            .iter()
            .map(|token| Mark { id: token.id, trims_before: token.lstrip, trims_after: token.rstrip })
            .collect();
        if tokens.is_empty() {
            return Ok(Self { finder: None, marks });
        }
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(tokens.iter().map(|token| &token.content))
            .map_err(|fault| format!("its added tokens cannot be searched for: {fault}"))?;
        Ok(Self { finder: Some(finder), marks })
    }

    /// Show every part of a text in order, none of them empty, until asked to stop.
    pub(super) fn for_each(&self, text: &str, mut see: impl FnMut(Part<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut done = 0;
        for found in self.finder.iter().flat_map(|finder| finder.find_iter(text)) {
            let mark = &self.marks[found.pattern().as_usize()];
            // White space that the mark before has taken is not taken twice.
            let before = &text[done..found.start().max(done)];
            let before = if mark.trims_before { before.trim_end() } else { before };
            if !before.is_empty() {
                see(Part::Text(before))?;
            }
            see(Part::Mark(mark.id))?;
            let after = &text[found.end()..];
            done = found.end() + if mark.trims_after { after.len() - after.trim_start().len() } else { 0 };
        }
        if done < text.len() { see(Part::Text(&text[done..])) } else { ControlFlow::Continue(()) }
    }
}
