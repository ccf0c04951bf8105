//! Corrections in a conversation: facts that something said later contradicts.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::language::{Comparison, Relation, Statement, Sureness, for_each_word, is_past, may_state, replaces};
use super::versions::LONGEST;
use crate::messages::{Conversation, Kind, MessageView, Part, Role, Text};
use crate::recall::{corrects, last_shown};
use crate::text::{Term, sentences};

/// A fact that may be out of date.
#[derive(Clone, Debug)]
pub struct Stated<'a> {
    /// Content of the fact.
    pub content: &'a str,
    /// Contents of the messages that state it, as far as they are known.
    pub sources: Vec<&'a str>,
}

/// Bytes of messages that are read at most, the newest.
const MOST_BYTES: usize = 256 << 10;
/// Sentences that are compared with one fact at most, the newest.
const MOST_COMPARED: usize = 32;
/// Comparisons at most, with all facts; the first facts come first.
const MOST_COMPARISONS: usize = 1024;
/// Comparisons at most to see whether texts were taken back; the first texts come first.
const MOST_TAKEN_BACK: usize = 256;
/// Facts whose verdicts are remembered.
const MOST_VERDICTS: usize = 4096;
/// Words of a clause that may not name what it is about: "we switched to eu-west-3".
const FEW_WORDS: usize = 4;
/// Parts of words by which a model announces a change; its other sentences are not read.
static ANNOUNCES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let words = [
        "now", "chang", "switch", "mov", "migrat", "renam", "replac", "bump", "upgrad", "rais", "lower", "现在", "改",
        "换", "切换", "今後", "変更", "移行", "변경", "이제", "jetzt",
    ];
    // The words are constants: the tests would not pass if they made no automaton.
    let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(words);
    automaton.unwrap_or_else(|fault| unreachable!("{fault}"))
});

/// Finds the facts that a conversation corrects, at next to no cost while it only gets longer.
///
/// ```
/// use memctx_core::facts::{Corrections, Stated};
/// use memctx_core::messages::{Conversation, Format};
///
/// let conversation = Conversation::new(Format::OpenAi, vec![]);
/// let fact = Stated { content: "The port is 3000", sources: vec![] };
/// assert_eq!(Corrections::default().find(&conversation, &[fact]), [false]);
/// ```
#[derive(Debug, Default)]
pub struct Corrections {
    /// Keys of the messages that were read or skipped.
    keys: Vec<u64>,
    bytes: usize,
    /// Sentences that may state something, in order.
    sentences: Vec<Sentence>,
    /// The sentences that have a word, ascending.
    by_word: FxHashMap<Term, Vec<u32>>,
    /// The sentences that begin with a clause of few words, ascending.
    short: Vec<u32>,
    /// For each fact: true if it is corrected, and the number of sentences that were there then.
    verdicts: FxHashMap<(u64, Option<usize>), (bool, u32)>,
}

/// A fact, parsed on first use.
struct Known<'a> {
    content: &'a str,
    statement: OnceCell<Statement>,
}

impl Known<'_> {
    fn statement(&self) -> &Statement {
        let read = || match self.content.strip_prefix("The user ") {
            // As a model writes down what a person says.
            Some(rest) => Statement::read(&format!("I {rest}")),
            None => Statement::read(self.content),
        };
        self.statement.get_or_init(read)
    }
}

#[derive(Debug)]
struct Sentence {
    /// Index of the message.
    at: usize,
    text: String,
    is_model: bool,
    statement: OnceCell<Option<Statement>>,
    corrects: OnceCell<bool>,
}

impl Sentence {
    /// Return whether it says that it corrects something.
    fn corrects(&self) -> bool {
        *self.corrects.get_or_init(|| corrects(&self.text))
    }

    /// Return what the sentence states; nothing if that held in the past or a model repeats it.
    fn statement(&self) -> Option<&Statement> {
        let read = || {
            let statement = Statement::read(&self.text);
            // "I moved the port to 9443" tells, "move the port to 9443" proposes.
            let tells = || statement.announces() && is_told_by_speaker(&self.text);
            let counts = if self.is_model {
                statement.is_now() || tells()
            } else {
                statement.announces() || !is_past(&self.text)
            };
            counts.then_some(statement)
        };
        self.statement.get_or_init(read).as_ref()
    }
}

impl Corrections {
    /// Return for each fact whether the conversation contradicts it after the messages that state it.
    ///
    /// The latest sentence about a fact decides. A model's sentences count where they announce a change.
    pub fn find(&mut self, conversation: &Conversation, facts: &[Stated<'_>]) -> Vec<bool> {
        if facts.is_empty() {
            return Vec::new();
        }
        self.follow(conversation);
        let known: Vec<Known<'_>> =
            facts.iter().map(|fact| Known { content: fact.content, statement: OnceCell::new() }).collect();
        let since = last_stated(conversation, facts);
        let mut left = MOST_COMPARISONS;
        let count = self.sentences.len() as u32;
        if self.verdicts.len() > MOST_VERDICTS {
            self.verdicts.clear();
        }
        let mut corrected = Vec::with_capacity(facts.len());
        for (fact, stated) in facts.iter().enumerate() {
            let key = (xxh3_64(stated.content.as_bytes()), since[fact]);
            let (earlier, first) = self.verdicts.get(&key).copied().unwrap_or_default();
            let verdict = self.verdict(fact, &known, since[fact], first, &mut left).unwrap_or(earlier);
            if left > 0 {
                self.verdicts.insert(key, (verdict, count));
            }
            corrected.push(verdict);
        }
        corrected
    }

    /// Return for each text whether the conversation takes back something that it says, after the message that it was:
    /// true if that is all of it.
    pub fn take_back(&mut self, conversation: &Conversation, texts: &[&str]) -> Vec<Option<bool>> {
        if texts.is_empty() {
            return Vec::new();
        }
        self.follow(conversation);
        let since = last_shown(conversation, texts);
        let mut left = MOST_TAKEN_BACK;
        let mut is_taken_back = |old: &Statement, since: Option<usize>| {
            let later = |sentence: &&Sentence| !sentence.is_model && since.is_none_or(|since| sentence.at > since);
            let candidates = if left > 0 { self.candidates(old, 0) } else { Vec::new() };
            let candidates = candidates.into_iter().take(MOST_COMPARED.min(left));
            left -= candidates.len();
            let sentences = candidates.map(|number| &self.sentences[number as usize]);
            sentences.filter(later).filter_map(|new| replaces(old, new.statement()?, new.corrects())).max()
        };
        let mut of = |(text, since): (&&str, Option<usize>)| {
            if text.len() > LONGEST {
                return None;
            }
            let stated: Vec<Statement> = sentences(text).filter(|text| may_state(text)).map(Statement::read).collect();
            let taken: Vec<_> = stated.iter().map(|old| is_taken_back(old, since)).collect();
            let is_sure = |taken: &Option<Sureness>| *taken == Some(Sureness::Certain);
            taken.iter().any(Option::is_some).then(|| taken.iter().all(is_sure))
        };
        texts.iter().zip(since).map(&mut of).collect()
    }

    /// Read the messages that are new; all, if others changed.
    fn follow(&mut self, conversation: &Conversation) {
        let views = &conversation.views;
        let is_longer =
            views.len() >= self.keys.len() && self.keys.iter().zip(views).all(|(&key, view)| key == view.key);
        if self.keys.is_empty() || !is_longer || self.bytes > 2 * MOST_BYTES {
            *self = Self::default();
            let mut left = MOST_BYTES;
            let is_far = |view: &MessageView| {
                left = left.saturating_sub(texts(view).map(|text| text.body().len()).sum());
                left == 0
            };
            let first = views.iter().rev().position(is_far).map_or(0, |newer| views.len() - newer);
            self.keys.extend(views[..first].iter().map(|view| view.key));
        }
        for (at, view) in views.iter().enumerate().skip(self.keys.len()) {
            self.keys.push(view.key);
            for text in texts(view) {
                self.bytes += text.body().len();
                self.add(at, view.role == Role::Assistant, text.body());
            }
        }
    }

    fn add(&mut self, at: usize, is_model: bool, text: &str) {
        if is_model && !ANNOUNCES.is_match(text) {
            return;
        }
        let is_read = |sentence: &&str| (!is_model || ANNOUNCES.is_match(*sentence)) && may_state(sentence);
        for sentence in sentences(text).filter(is_read) {
            let number = self.sentences.len() as u32;
            for_each_word(sentence, |word| {
                let numbers = self.by_word.entry(word).or_default();
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            });
            let (clause, mut words) = (sentence.split([',', ';', '(', '，', '、']).next().unwrap_or(sentence), 0);
            for_each_word(clause, |_| words += 1);
            if (1..=FEW_WORDS).contains(&words) {
                self.short.push(number);
            }
            let text = sentence.to_owned();
            let (statement, corrects) = (OnceCell::new(), OnceCell::new());
            self.sentences.push(Sentence { at, text, is_model, statement, corrects });
        }
    }

    /// Return whether the last sentence about a fact contradicts it, from the sentence `first` on; none if there is none.
    fn verdict(
        &self,
        fact: usize,
        known: &[Known<'_>],
        since: Option<usize>,
        first: u32,
        left: &mut usize,
    ) -> Option<bool> {
        if first as usize == self.sentences.len() {
            return None;
        }
        let old = known[fact].statement();
        for number in self.candidates(old, first).into_iter().take(MOST_COMPARED) {
            let sentence = &self.sentences[number as usize];
            if *left == 0 || since.is_some_and(|since| sentence.at <= since) {
                break;
            }
            *left -= 1;
            let Some(new) = sentence.statement() else { continue };
            let comparison = Comparison::new(old, new);
            match comparison.relation() {
                Relation::Same => return Some(false),
                Relation::Changed if !new.is_assertion() || is_ambiguous(new, fact, known) => {}
                Relation::Changed => return Some(true),
                Relation::Refined | Relation::Apart if comparison.restates() => return Some(false),
                Relation::Refined | Relation::Apart => {}
            }
        }
        None
    }

    /// Return the sentences that may be about a fact, the newest first, and none before `first`.
    fn candidates(&self, fact: &Statement, first: u32) -> Vec<u32> {
        let newer = |numbers: &[u32]| numbers.len() - numbers.partition_point(|&number| number < first);
        let mut topics: Vec<Term> = fact.topics().collect();
        topics.sort_unstable();
        topics.dedup();
        let words = if topics.is_empty() { fact.words().collect() } else { topics };
        // A correction names what it corrects, in fewer words perhaps.
        let needed = match words.len() {
            0..=2 => 1,
            3..=6 => 2,
            many => many.div_ceil(3),
        };
        let mut found: Vec<u32> = Vec::new();
        for numbers in words.iter().filter_map(|word| self.by_word.get(word)) {
            found.extend(&numbers[numbers.len() - newer(numbers)..]);
        }
        found.sort_unstable();
        let is_about = |run: &&[u32]| run.len() >= needed;
        let mut numbers: Vec<u32> = found.chunk_by(|a, b| a == b).filter(is_about).map(|run| run[0]).collect();
        let is_bare = |number: &&u32| self.sentences[**number as usize].statement().is_some_and(Statement::is_bare);
        numbers.extend(self.short[self.short.len() - newer(&self.short)..].iter().filter(is_bare));
        numbers.sort_unstable_by_key(|&number| Reverse(number));
        numbers.dedup();
        numbers
    }
}

/// Return whether a sentence may as well be about another of the facts: "the port is 9443" where there are two ports.
fn is_ambiguous(new: &Statement, fact: usize, known: &[Known<'_>]) -> bool {
    let is_vague = |old: &Statement| {
        let comparison = Comparison::new(old, new);
        comparison.relation() == Relation::Changed && comparison.is_less_specific()
    };
    let mut others = known.iter().enumerate().filter(|&(other, _)| other != fact).map(|(_, old)| old.statement());
    is_vague(known[fact].statement()) && others.any(is_vague)
}

/// Return whether a sentence is about what its speaker does.
pub(super) fn is_told_by_speaker(sentence: &str) -> bool {
    ["I ", "I've ", "We ", "我"].iter().any(|word| sentence.starts_with(word))
}

/// Return what a person or a model said in a message.
fn texts(view: &MessageView) -> impl Iterator<Item = &Text> {
    let is_read = matches!(view.role, Role::User | Role::Assistant) && !view.is_summary && !view.is_recalled;
    let is_said = move |part: &&Part| is_read && part.kind == Kind::Text && part.name.is_none();
    view.parts.iter().filter(is_said).filter_map(|part| part.text.as_deref())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Format;
    use crate::messages::draft::said;

    fn check(messages: &[(Role, &str)], fact: &str, sources: &[&str]) -> bool {
        let views = messages.iter().map(|&(role, text)| said(role, text)).collect();
        let facts = [Stated { content: fact, sources: sources.to_vec() }];
        Corrections::default().find(&Conversation::new(Format::OpenAi, views), &facts)[0]
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
    fn a_person_corrects_what_was_written_down_of_the_user() {
        assert!(check(&[(Role::User, "I live in Braga now.")], "The user lives in Porto", &[]));
        assert!(check(&[(Role::User, "I prefer light mode")], "The user prefers dark mode", &[]));
        assert!(!check(&[(Role::User, "I live in Porto.")], "The user lives in Porto", &[]));
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
        assert!(check(&[(Role::Assistant, "I moved the port to 9443.")], fact, &[]));
        assert!(!check(&[(Role::Assistant, "Move the port to 9443.")], fact, &[]));
        assert!(!check(&[(Role::Assistant, "The port is 9443.")], fact, &[]));
        assert!(!check(&[(Role::Tool, "The port is now 9443.")], fact, &[]));
    }

    #[test]
    fn a_vague_statement_corrects_no_one_of_two_facts() {
        let views = vec![said(Role::User, "The port is 9443")];
        let facts = ["The gateway port is 8443", "The admin port is 3000"];
        let facts = facts.map(|content| Stated { content, sources: vec![] });
        let conversation = Conversation::new(Format::OpenAi, views);
        assert_eq!(Corrections::default().find(&conversation, &facts), [false, false]);
        assert_eq!(Corrections::default().find(&conversation, &facts[..1]), [true]);
    }

    #[test]
    fn a_longer_or_another_conversation_is_followed() {
        let facts = [Stated { content: "The port is 8443", sources: vec![] }];
        let (old, new) = ("The port is 8443", "The port is 9443");
        let mut corrections = Corrections::default();
        let mut find = |texts: &[&str]| {
            let views = texts.iter().map(|text| said(Role::User, text)).collect();
            corrections.find(&Conversation::new(Format::OpenAi, views), &facts)[0]
        };
        assert!(!find(&[old]));
        assert!(find(&[old, new]));
        assert!(!find(&[old, new, old]));
        assert!(find(&[new]));
        assert!(!find(&[]));
    }

    #[test]
    fn the_newest_of_a_long_conversation_is_read() {
        let facts = [Stated { content: "The port is 8443", sources: vec![] }];
        let long = "The lunch was long and the walk was longer. ".repeat(2_000);
        let mut views = vec![said(Role::User, "The port is 9443")];
        views.extend((0..8).map(|_| said(Role::User, &long)));
        let mut corrections = Corrections::default();
        assert_eq!(corrections.find(&Conversation::new(Format::OpenAi, views.clone()), &facts), [false]);
        views.push(said(Role::User, "The port is 9443"));
        assert_eq!(corrections.find(&Conversation::new(Format::OpenAi, views), &facts), [true]);
    }
}
