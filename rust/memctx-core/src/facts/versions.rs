//! Versions: messages that take back earlier ones.

use super::corrections::is_told_by_speaker;
use super::language::{Statement, Sureness, may_state, replaces};
use crate::recall::{Replaced, corrects};
use crate::text::sentences;

/// Something that was said.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// Role of the speaker.
    pub role: &'a str,
    /// The text.
    pub text: &'a str,
}

/// Bytes of a message that states or corrects something. What is longer tells of many things, and its sentences are read
/// wrongly more often than they correct.
pub(super) const LONGEST: usize = 400;
/// Words of a sentence that may need the one before to be understood: "It is an Alpha 25."
const SHORT: usize = 6;

/// Return for each message what replaced it; they are given oldest first.
///
/// A message of a tool neither replaces nor is replaced. What a model says counts where it tells of a change that it
/// made, "I moved the port to 9443", and where it corrects what a model said.
///
/// ```
/// use memctx_core::facts::{Version, replaced};
///
/// let said = ["The port is 3000.", "Correction: the port is not 3000 but 8080.", "The logs are full."];
/// let said = said.map(|text| Version { role: "user", text });
/// let found = replaced(&said);
/// assert_eq!(found[0].map(|found| found.by), Some(Some(1)));
/// assert!(found[1].is_none() && found[2].is_none());
/// ```
#[must_use]
pub fn replaced(said: &[Version<'_>]) -> Vec<Option<Replaced>> {
    let read: Vec<Vec<Sentence>> = said.iter().map(|version| sentences_of(version)).collect();
    let newest_of = |old: usize, sentence: &Sentence| {
        let sureness = |new: usize| read[new].iter().filter_map(|new| new.replaces(sentence)).max();
        (old + 1..said.len()).rev().find_map(|new| Some((new, sureness(new)?)))
    };
    let mut found: Vec<Option<Replaced>> = Vec::with_capacity(said.len());
    for (old, sentences) in read.iter().enumerate() {
        let stating: Vec<&Sentence> = sentences.iter().filter(|sentence| !sentence.is_joined).collect();
        let by: Vec<Option<(usize, Sureness)>> = stating.iter().map(|sentence| newest_of(old, sentence)).collect();
        let is_sure = |by: &Option<(usize, Sureness)>| by.is_some_and(|(_, sureness)| sureness == Sureness::Certain);
        let newest = by.iter().flatten().map(|(new, _)| *new).max();
        found.push(newest.map(|new| Replaced { by: Some(new), is_whole: by.iter().all(is_sure) }));
    }
    // Of a chain the last one holds.
    for old in (0..found.len()).rev() {
        if let Some(Replaced { by: Some(new), is_whole }) = found[old]
            && let Some(Replaced { by: Some(last), .. }) = found[new]
        {
            found[old] = Some(Replaced { by: Some(last), is_whole });
        }
    }
    found
}

/// Return for each message whether a later one says that all of it no longer holds; they are given oldest first.
///
/// As in [`replaced`], but only corrections that say so count, so that a long conversation is read in little time.
///
/// ```
/// use memctx_core::facts::{Version, outdated};
///
/// let said = ["The port is 3000.", "Correction: the port is not 3000 but 8080.", "The logs are full."];
/// assert_eq!(outdated(&said.map(|text| Version { role: "user", text })), [true, false, false]);
/// ```
#[must_use]
pub fn outdated(said: &[Version<'_>]) -> Vec<bool> {
    let is_correcting = |version: &Version<'_>| version.text.len() <= LONGEST && sentences(version.text).any(corrects);
    let Some(last) = said.iter().rposition(is_correcting) else { return vec![false; said.len()] };
    let read: Vec<Vec<Sentence>> = said[..=last].iter().map(sentences_of).collect();
    let correcting: Vec<(usize, &Sentence)> = (0..)
        .zip(&read)
        .flat_map(|(at, sentences)| sentences.iter().map(move |sentence| (at, sentence)))
        .filter(|(_, sentence)| sentence.corrects)
        .collect();
    let is_replaced = |old: usize, sentence: &Sentence| {
        let mut later = correcting.iter().filter(|(new, _)| *new > old);
        later.any(|(_, new)| new.replaces(sentence) == Some(Sureness::Certain))
    };
    let is_outdated = |(old, sentences): (usize, &Vec<Sentence>)| {
        let mut stating = sentences.iter().filter(|sentence| !sentence.is_joined).peekable();
        stating.peek().is_some() && stating.all(|sentence| is_replaced(old, sentence))
    };
    let mut found: Vec<bool> = read.iter().enumerate().map(is_outdated).collect();
    found.resize(said.len(), false);
    found
}

/// Speaker of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaker {
    Person,
    /// It tells of a change that it made.
    ModelThatChanged,
    Model,
}

/// A sentence that states something.
struct Sentence {
    statement: Statement,
    corrects: bool,
    speaker: Speaker,
    /// True if it is two sentences, of which the second is short.
    is_joined: bool,
}

impl Sentence {
    fn replaces(&self, old: &Self) -> Option<Sureness> {
        // A correction of a model goes for what a model said.
        let may_replace = self.speaker != Speaker::Model || self.corrects && old.speaker != Speaker::Person;
        if may_replace { replaces(&old.statement, &self.statement, self.corrects) } else { None }
    }
}

fn sentences_of(version: &Version<'_>) -> Vec<Sentence> {
    if version.role == "tool" || version.text.len() > LONGEST {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut before: Option<(&str, bool)> = None;
    for text in sentences(version.text) {
        if !text.contains(char::is_alphanumeric) || is_order(text) {
            continue;
        }
        let (own, text) = (corrects(text), without_speaker(text));
        let is_announced = before.is_some_and(|(_, corrects)| corrects);
        if may_state(text) {
            let statement = Statement::read(text);
            let words = statement.words().count();
            let speaker = match version.role {
                "assistant" if statement.announces() && is_told_by_speaker(text) => Speaker::ModelThatChanged,
                "assistant" => Speaker::Model,
                _ => Speaker::Person,
            };
            if words > 0 {
                found.push(Sentence { statement, corrects: own || is_announced, speaker, is_joined: false });
            }
            if let Some((previous, _)) = before.filter(|_| words <= SHORT) {
                let statement = Statement::read(&format!("{previous} {text}"));
                found.push(Sentence { statement, corrects: own || is_announced, speaker, is_joined: true });
            }
        }
        before = Some((text, own));
    }
    found
}

/// Return whether a sentence tells the model what to do next, "Now translate page 3", and not what is so now.
fn is_order(text: &str) -> bool {
    const OPEN_STATEMENTS: [&str; 22] = [
        "the", "a", "an", "my", "our", "your", "his", "her", "their", "its", "i", "we", "you", "he", "she", "they",
        "it", "this", "that", "these", "those", "there",
    ];
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.next().is_some_and(|word| word == "now")
        && words.next().is_some_and(|word| !OPEN_STATEMENTS.contains(&&*word))
}

/// Return a sentence without the name of its speaker: "Ann: it is 8443".
fn without_speaker(text: &str) -> &str {
    match text.split_once(": ") {
        Some((name, rest))
            if !corrects(name) && name.chars().all(char::is_alphanumeric) && name.starts_with(char::is_uppercase) =>
        {
            rest
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(texts: &[&str]) -> Vec<Option<usize>> {
        let said: Vec<Version<'_>> = texts.iter().map(|text| Version { role: "user", text }).collect();
        replaced(&said).into_iter().map(|found| found.and_then(|found| found.by)).collect()
    }

    #[test]
    fn a_correction_replaces_what_it_corrects() {
        let mut failed = Vec::new();
        for (old, new) in [
            (
                "The projector in room Lisbon is an Alpha 15.",
                "Sorry, I was wrong: the projector in room Lisbon is not an Alpha 15 but an Alpha 25.",
            ),
            (
                "The projector in room Lisbon is an Alpha 15.",
                "The projector in room Lisbon was replaced: it is a Magna 32 now.",
            ),
            (
                "The projector in room Lisbon is not an Alpha 15 but an Alpha 25.",
                "The projector in room Lisbon was replaced: Magna 32.",
            ),
            ("My dentist is Dr. Keller.", "Correction: my dentist is Dr. Vogt, not Dr. Keller."),
            (
                "The meeting with the auditors is on Tuesday at 10.",
                "The meeting with the auditors was moved to Thursday at 14.",
            ),
            (
                "The meeting with the auditors is on Tuesday at 10.",
                "Update on the meeting with the auditors: it is on Thursday at 14 instead.",
            ),
            (
                "The wifi password of the studio is heron-42.",
                "The wifi password of the studio has been changed, it is now lark-77.",
            ),
            (
                "Our supplier for oak boards is Brandt.",
                "We no longer buy oak boards from Brandt, the new supplier is Moser.",
            ),
            ("My sister's cat is called Miso.", "Actually I mixed that up, my sister's cat is called Mochi."),
            (
                "The train to Basel leaves from platform 7.",
                "They changed it, the train to Basel leaves from platform 11.",
            ),
            (
                "The train to Basel leaves from platform 7.",
                "I was wrong about the train to Basel. It leaves from platform 11.",
            ),
            ("会议室的投影仪型号是 Alpha 15。", "更正：会议室的投影仪不是 Alpha 15，而是 Alpha 25。"),
            ("会议室的投影仪型号是 Alpha 15。", "会议室的投影仪换成了 Magna 32。"),
            ("担当者は田中さんです。", "担当者は田中さんから佐藤さんに変わりました。"),
            ("회의는 화요일 10시입니다.", "회의는 화요일이 아니라 목요일 14시입니다."),
            ("Der Drucker im Büro ist ein Alpha 15.", "Der Drucker im Büro wurde ersetzt, es ist jetzt ein Magna 32."),
            (
                "El proyector de la sala es un Alpha 15.",
                "Corrección: el proyector de la sala no es un Alpha 15 sino un Alpha 25.",
            ),
            (
                "Le projecteur de la salle est un Alpha 15.",
                "Finalement le projecteur de la salle a été remplacé par un Magna 32.",
            ),
        ] {
            if by(&[old, new])[0].is_none() {
                failed.push((old, new));
            }
        }
        assert!(failed.is_empty(), "{failed:#?}");
    }

    #[test]
    fn corrected_messages_are_outdated() {
        let said = [
            "The projector in room Lisbon is an Alpha 15.",
            "The printer is on the second floor.",
            "Sorry, I was wrong: the projector in room Lisbon is not an Alpha 15 but an Alpha 25.",
            "Lunch is at noon.",
            "The projector in room Lisbon was replaced: it is a Magna 32 now.",
        ];
        let found = outdated(&said.map(|text| Version { role: "user", text }));
        assert_eq!(found, [true, false, true, false, false]);
        assert_eq!(
            outdated(&said[..2].iter().map(|text| Version { role: "user", text }).collect::<Vec<_>>()),
            [false; 2]
        );
    }

    #[test]
    fn a_model_replaces_what_it_says_that_it_changed() {
        let of = |new| {
            let said = [("user", "The gateway listens on port 8443."), ("assistant", new)];
            replaced(&said.map(|(role, text)| Version { role, text }))[0].is_some()
        };
        assert!(of("I moved the gateway to port 9443."));
        assert!(!of("Now let's move the gateway to port 9443."));
        assert!(!of("Correction: the gateway does not listen on port 8443 but on port 9443."), "a person said it");
    }

    #[test]
    fn a_model_corrects_what_a_model_said() {
        let said = [
            ("assistant", "The shop is deployed to the region us-east-1."),
            ("assistant", "Correction: the shop is deployed to the region eu-west-3 now, no longer to us-east-1."),
        ];
        let found = replaced(&said.map(|(role, text)| Version { role, text }));
        assert_eq!(found, [Some(Replaced { by: Some(1), is_whole: true }), None]);
    }

    #[test]
    fn a_message_that_says_more_is_not_replaced_as_a_whole() {
        let said =
            ["The port of the gateway is 3000. Ann looks after it.", "The port of the gateway is not 3000 but 8080."];
        let found = replaced(&said.map(|text| Version { role: "user", text }));
        assert_eq!(found[0], Some(Replaced { by: Some(1), is_whole: false }));
    }

    #[test]
    fn a_statement_about_something_else_replaces_nothing() {
        let mut failed = Vec::new();
        for (old, new) in [
            ("I painted a sunrise yesterday.", "I painted a sunset last week."),
            ("The projector in room Lisbon is an Alpha 15.", "The projector in room Porto is an Alpha 25."),
            (
                "The projector in room Lisbon is an Alpha 15.",
                "The projector in room Porto was replaced, it is a Magna 32 now.",
            ),
            ("I went to the support group on May 7.", "I went to the pride parade on July 3."),
            ("Melanie has 3 kids.", "Melanie has 2 dogs."),
            ("My sister lives in Rome.", "My brother lives in Paris now."),
            ("Caroline: I moved from Sweden 4 years ago.", "Caroline: I now work in a school."),
            ("I bought two lamps for the living room.", "I bought three chairs for the living room."),
            ("The api service uses Redis.", "The worker service now uses Valkey."),
            ("The meeting with the auditors is on Tuesday.", "The meeting with the bank was moved to Thursday."),
            ("Is the port 3000?", "The port is 8080 now."),
            ("会议室的投影仪是 Alpha 15。", "办公室的打印机换成了 Magna 32。"),
            ("My dentist is Dr. Keller.", "I am tired now."),
            ("Now translate page 1.", "Now translate page 2."),
            (
                "Lisa felt anxious at school before the exam.",
                "Lisa was happy at school, but now she misses her friends.",
            ),
        ] {
            if by(&[old, new])[0].is_some() {
                failed.push((old, new));
            }
        }
        assert!(failed.is_empty(), "{failed:#?}");
    }
}
