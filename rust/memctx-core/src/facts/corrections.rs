//! Corrections in a conversation: facts that something said later contradicts.

use aho_corasick::AhoCorasick;

use super::language::{Comparison, Relation, Statement, is_past, may_state};
use crate::messages::{Conversation, Kind, MessageView, Role};
use crate::recall::last_shown;
use crate::text::{is_cjk, is_filler};

/// A fact that may be out of date.
#[derive(Clone, Debug)]
pub struct Stated<'a> {
    /// Content of the fact.
    pub content: &'a str,
    /// Contents of the messages that state it, as far as they are known.
    pub sources: Vec<&'a str>,
}

/// Sentences that are compared with the facts at most, the newest.
const MOST_SENTENCES: usize = 256;
/// Beginnings of words of sentences that need not name what was changed: "we switched to pnpm".
const CHANGES: [&str; 9] = ["switch", "moved", "migrat", "切换", "换成", "移行", "전환", "옮", "gewechselt"];

/// Return for each fact whether the conversation contradicts it after the messages that state it.
///
/// The latest sentence about a fact decides. A model's sentences count where they announce a change.
///
/// ```
/// use memctx_core::facts::{Stated, corrected};
/// use memctx_core::messages::{Conversation, Format};
///
/// let conversation = Conversation::new(Format::OpenAi, vec![]);
/// let fact = Stated { content: "The port is 3000", sources: vec![] };
/// assert_eq!(corrected(&conversation, &[fact]), [false]);
/// ```
#[must_use]
pub fn corrected(conversation: &Conversation, facts: &[Stated<'_>]) -> Vec<bool> {
    let Some(words) = words_of(facts) else { return vec![false; facts.len()] };
    let mut scan = Scan {
        words,
        known: facts.iter().map(|fact| Statement::read(fact.content)).collect(),
        since: last_stated(conversation, facts),
        verdicts: vec![None; facts.len()],
        left: MOST_SENTENCES,
    };
    for (at, view) in conversation.views.iter().enumerate().rev() {
        if scan.left == 0 || scan.verdicts.iter().all(Option::is_some) {
            break;
        }
        if matches!(view.role, Role::User | Role::Assistant) && !view.is_summary && !view.is_recalled {
            scan.read(at, view);
        }
    }
    scan.verdicts.into_iter().map(|verdict| verdict.unwrap_or(false)).collect()
}

struct Scan {
    /// Beginnings of words, one of which a sentence about a fact has.
    words: AhoCorasick,
    known: Vec<Statement>,
    /// The message that last stated each fact.
    since: Vec<Option<usize>>,
    /// Whether each fact is corrected, once that is known.
    verdicts: Vec<Option<bool>>,
    left: usize,
}

impl Scan {
    /// Read the sentences of a message, the last one first.
    fn read(&mut self, at: usize, view: &MessageView) {
        let is_said = |kind: Kind| kind == Kind::Text;
        for part in view.parts.iter().rev().filter(|part| is_said(part.kind) && part.name.is_none()) {
            let Some(text) = part.text.as_deref().map(|text| text.body()).filter(|text| self.words.is_match(*text))
            else {
                continue;
            };
            let sentences: Vec<&str> = sentences(text).filter(|sentence| self.words.is_match(*sentence)).collect();
            for sentence in sentences.into_iter().rev().filter(|sentence| may_state(sentence)) {
                if self.left == 0 {
                    return;
                }
                self.left -= 1;
                let statement = Statement::read(sentence);
                if statement.announces || view.role == Role::User && !is_past(sentence) {
                    self.judge(at, &statement);
                }
            }
        }
    }

    /// Decide the facts that a sentence repeats or contradicts.
    fn judge(&mut self, at: usize, new: &Statement) {
        let mut vague = Vec::new();
        for index in 0..self.known.len() {
            if self.verdicts[index].is_some() || self.since[index].is_some_and(|since| at <= since) {
                continue;
            }
            let comparison = Comparison::new(&self.known[index], new);
            match comparison.relation() {
                Relation::Same => self.verdicts[index] = Some(false),
                Relation::Changed if !new.is_assertion() => {}
                Relation::Changed if comparison.is_less_specific() => vague.push(index),
                Relation::Changed => self.verdicts[index] = Some(true),
                Relation::Refined | Relation::Apart if comparison.restates() => self.verdicts[index] = Some(false),
                Relation::Refined | Relation::Apart => {}
            }
        }
        // "The port is 9443" does not say which of two ports.
        if let [index] = vague[..] {
            self.verdicts[index] = Some(true);
        }
    }
}

/// Return the message that last stated each fact, as far as its sources are in the conversation.
fn last_stated(conversation: &Conversation, facts: &[Stated<'_>]) -> Vec<Option<usize>> {
    let sources: Vec<&str> = facts.iter().flat_map(|fact| fact.sources.iter().copied()).collect();
    if sources.is_empty() {
        return vec![None; facts.len()];
    }
    let mut places = last_shown(conversation, &sources).into_iter();
    facts.iter().map(|fact| places.by_ref().take(fact.sources.len()).flatten().max()).collect()
}

/// Return the beginnings of the facts' words, and those of words of change.
fn words_of(facts: &[Stated<'_>]) -> Option<AhoCorasick> {
    let mut words: Vec<String> = Vec::new();
    for fact in facts {
        for run in fact.content.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
            let chars: Vec<char> = run.chars().collect();
            if chars.iter().any(|&c| is_cjk(c)) {
                words.extend(chars.windows(2).map(|pair| pair.iter().collect()));
            } else if chars.len() > 1 && !is_filler(&run.to_lowercase()) {
                // Forms of a word begin alike.
                words.push(chars.iter().take(if chars.len() > 5 { 5 } else { chars.len() }).collect());
            }
        }
    }
    words.sort_unstable();
    words.dedup();
    if words.is_empty() {
        return None;
    }
    let words = words.iter().map(String::as_str).chain(CHANGES);
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
}

/// Return the sentences of a text, without code, quotations, headings and tables.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut is_fenced = false;
    let prose = text.lines().filter(move |line| {
        let start = line.trim_start();
        let is_fence = start.starts_with("```") || start.starts_with("~~~");
        is_fenced ^= is_fence;
        let is_code = line.starts_with("    ") || line.starts_with('\t');
        !is_fenced && !is_fence && !is_code && !start.starts_with(['>', '|', '#', '<'])
    });
    prose.flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (sentence, behind) = rest.split_at(sentence_end(rest));
            rest = behind;
            Some(sentence.trim())
        })
    })
}

/// Return the length of the first sentence: a full stop ends it where a space follows.
fn sentence_end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_end = match c {
            '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' => chars.peek().is_some_and(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            return at + c.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Format;
    use crate::messages::draft::said;

    fn check(messages: &[(Role, &str)], fact: &str, sources: &[&str]) -> bool {
        let views = messages.iter().map(|&(role, text)| said(role, text)).collect();
        let facts = [Stated { content: fact, sources: sources.to_vec() }];
        corrected(&Conversation::new(Format::OpenAi, views), &facts)[0]
    }

    #[test]
    fn a_later_statement_corrects_a_fact() {
        let fact = "The gateway listens on port 8443";
        for text in [
            "The gateway listens on port 9443 now, the proxy took the old one.",
            "Thanks! The gateway port is 9443.",
            "Please change the gateway port to 9443",
            "- the gateway listens on port 9443",
        ] {
            assert!(check(&[(Role::User, text)], fact, &[]), "{text}");
        }
        for text in [
            "Does the gateway listen on port 9443?",
            "If the gateway listens on port 9443, stop it",
            "Maybe the gateway listens on port 9443",
            "```\nThe gateway listens on port 9443\n```",
            "> The gateway listens on port 9443",
            "The admin panel listens on port 9443",
            "The gateway is slow today",
            "The gateway was listening on port 9443 last year",
            "The gateway listens on port 8443, as I said",
        ] {
            assert!(!check(&[(Role::User, text)], fact, &[]), "{text}");
        }
    }

    #[test]
    fn the_latest_statement_decides() {
        let (old, new) = ("The port is 8443", "The port is 9443");
        assert!(check(&[(Role::User, old), (Role::User, new)], old, &[]));
        assert!(!check(&[(Role::User, new), (Role::User, old)], old, &[]));
        // Its source came after the other statement, in words that are not its own.
        let source = "ok, let us go back to the one before";
        assert!(!check(&[(Role::User, new), (Role::User, source)], old, &[source]));
        assert!(check(&[(Role::User, source), (Role::User, new)], old, &[source]));
    }

    #[test]
    fn a_model_corrects_where_it_announces_a_change() {
        let fact = "The port is 8443";
        assert!(check(&[(Role::Assistant, "Done. The port is now 9443.")], fact, &[]));
        assert!(!check(&[(Role::Assistant, "The port is 9443.")], fact, &[]));
        assert!(!check(&[(Role::Tool, "The port is now 9443.")], fact, &[]));
    }

    #[test]
    fn a_vague_statement_corrects_no_one_of_two_facts() {
        let views = vec![said(Role::User, "The port is 9443")];
        let facts = ["The gateway port is 8443", "The admin port is 3000"];
        let facts = facts.map(|content| Stated { content, sources: vec![] });
        let conversation = Conversation::new(Format::OpenAi, views);
        assert_eq!(corrected(&conversation, &facts), [false, false]);
        assert_eq!(corrected(&conversation, &facts[..1]), [true]);
    }
}
