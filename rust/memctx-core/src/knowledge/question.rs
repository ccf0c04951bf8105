//! What a question asks for: the words that say something, each once.

use crate::bm25::Texts;
use crate::text::{Term, aboutness, for_each_form, for_each_token, is_cjk, is_filler};

/// A word of a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    pub(super) token: String,
    /// What it may be called in a fact: itself, and its other forms that some fact has.
    pub(super) terms: Vec<Term>,
    /// How many facts have it, whatever it is called there.
    pub(super) facts: usize,
    /// What it tells: the more, the fewer facts have it.
    pub(super) weight: f64,
}

/// The words of a question, in order.
pub(super) fn words(texts: &Texts, question: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for token in tokens(texts, question) {
        if words.iter().any(|word| word.token == token || word.terms.contains(&Term::new(&token))) {
            continue;
        }
        let mut terms = vec![Term::new(&token)];
        for_each_form(&token, |form| {
            let term = Term::new(form);
            if !terms.contains(&term) && texts.count(term) > 0 {
                terms.push(term);
            }
        });
        let facts = terms.iter().map(|&term| texts.count(term)).sum::<usize>().min(texts.statistics().documents);
        let weight = aboutness(&token) * texts.statistics().idf(facts);
        words.push(Word { token, terms, facts, weight });
    }
    words
}

/// The tokens that are words of a question: pairs of CJK characters rather than the characters, the parts of an
/// identifier rather than the whole, but a number with its points.
fn tokens(texts: &Texts, question: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for_each_token(question, texts.mode(), |token| {
        let parts = parts_of(token, &tokens);
        if is_pair(token) {
            // Its characters came just before it, the first of them with the pair before if there was one.
            while tokens.last().is_some_and(|last| last.chars().count() == 1 && token.contains(last.as_str())) {
                tokens.pop();
            }
        } else if parts >= 2 && is_number(token) {
            tokens.truncate(tokens.len() - parts);
        } else if parts >= 2 {
            return;
        }
        tokens.push(token.to_owned());
    });
    tokens.retain(|token| !is_filler(token));
    tokens
}

fn is_pair(token: &str) -> bool {
    token.starts_with(is_cjk) && token.chars().count() == 2
}

fn is_number(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_punctuation())
}

/// How many of the last tokens a token is made of.
fn parts_of(token: &str, before: &[String]) -> usize {
    let is_joint = |c: char| matches!(c, '_' | '-' | '.' | '/' | ':' | '\\' | '@');
    let mut rest = token;
    for (parts, part) in before.iter().rev().enumerate() {
        if rest.is_empty() {
            return parts;
        }
        match rest.strip_suffix(part.as_str()) {
            Some(front) => rest = front.trim_end_matches(is_joint),
            None => return 0,
        }
    }
    if rest.is_empty() { before.len() } else { 0 }
}
