//! Words of a question, each once, without fillers.

use super::families::Families;
use super::language::subject;
use crate::bm25::Texts;
use crate::text::{Term, aboutness, for_each_form, for_each_token, is_cjk, is_filler};

/// A word of a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    pub(super) token: String,
    /// Terms that match it: itself, its other forms and the words of its family that some fact has.
    pub(super) terms: Vec<Term>,
    /// Number of facts that have it, in any form.
    pub(super) facts: usize,
    /// Its weight: higher for rarer words.
    pub(super) weight: f64,
}

/// Return the words of a question, in order.
pub(super) fn words(texts: &Texts, families: &Families, question: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for token in tokens(texts, question) {
        if words.iter().any(|word| word.token == token || word.terms.contains(&Term::new(&token))) {
            continue;
        }
        let mut terms = vec![Term::new(&token)];
        let mut also = |term: Term| {
            if !terms.contains(&term) && texts.count(term) > 0 {
                terms.push(term);
            }
        };
        for_each_form(&token, |form| also(Term::new(form)));
        families.for_each(&token, &mut also);
        if is_short_word(&token) {
            also(Term::new(&format!("{token}s")));
        }
        let facts = terms.iter().map(|&term| texts.count(term)).sum::<usize>().min(texts.statistics().documents);
        let weight = aboutness(&token) * texts.statistics().idf(facts);
        words.push(Word { token, terms, facts, weight });
    }
    words
}

/// Return the tokens that are words of a question: pairs of CJK characters rather than the characters, the parts of an
/// identifier rather than the whole, but a number with its points.
fn tokens(texts: &Texts, question: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for_each_token(&subject(question), texts.mode(), |token| {
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
    if !tokens.iter().all(|token| is_lone(token)) {
        tokens.retain(|token| !is_lone(token));
    }
    tokens
}

/// Return whether it is a CJK character by itself, which says little: too many words are written with it.
fn is_lone(token: &str) -> bool {
    token.starts_with(is_cjk) && token.chars().count() == 1
}

/// Return whether it is an English word that is too short for more forms than its plural.
fn is_short_word(token: &str) -> bool {
    token.len() == 3 && token.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn is_pair(token: &str) -> bool {
    token.starts_with(is_cjk) && token.chars().count() == 2
}

fn is_number(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_punctuation())
}

/// Return the number of preceding tokens that a token is made of.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Mode;

    fn read(question: &str) -> Vec<String> {
        tokens(&Texts::new(Mode::Memctx), question)
    }

    #[test]
    fn a_question_is_its_words() {
        for (question, wanted) in [
            ("Which port does the webhook use?", &["port", "webhook"][..]),
            ("src/payHook.rs on 10.0.3.7", &["src", "pay", "hook", "rs", "10.0.3.7"]),
            ("数据库备份在几点？", &["数据", "据库", "库备", "备份", "份在"]),
            ("端口 8443 的服务", &["端口", "8443", "服务"]),
            ("認証には何を使っていますか", &["認証"]),
            ("書", &["書"]),
            ("what and when?", &[]),
            ("", &[]),
        ] {
            assert_eq!(read(question), wanted, "{question}");
        }
    }

    #[test]
    fn a_word_counts_once_in_any_form() {
        let (mut texts, mut families) = (Texts::new(Mode::Memctx), Families::default());
        for text in ["logs are kept", "a log of retries", "deployments on fridays"] {
            texts.push(text).expect("room");
            families.add(text, Mode::Memctx);
        }
        let words = words(&texts, &families, "log logs LOG deploy zookeeper");
        let explained: Vec<(&str, usize)> = words.iter().map(|word| (word.token.as_str(), word.facts)).collect();
        assert_eq!(explained, [("log", 2), ("deploy", 1), ("zookeeper", 0)]);
        assert!(words[2].weight > words[1].weight && words[1].weight > words[0].weight);
    }
}
