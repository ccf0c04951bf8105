//! Cues: words by which a question says what it wants and a statement that it corrects another.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::text::{is_cjk, sentences};

include!(concat!(env!("OUT_DIR"), "/cues.rs"));

/// Demands of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Many texts: a list, an order of events, a summary.
    pub many: bool,
    /// Former states.
    pub history: bool,
}

impl Wish {
    /// Read a question.
    ///
    /// ```
    /// use memctx_core::recall::Wish;
    ///
    /// assert!(Wish::of("List all ports that we use").many);
    /// assert!(Wish::of("What was the port before?").history);
    /// assert_eq!(Wish::of("Which port does the webhook use?"), Wish::default());
    /// ```
    #[must_use]
    pub fn of(question: &str) -> Self {
        static CUES: LazyLock<[Cues; 2]> = LazyLock::new(|| [Cues::new(MANY), Cues::new(HISTORY)]);
        let text = folded(question);
        Self { many: CUES[0].are_in(&text) || names_several(&text), history: CUES[1].are_in(&text) }
    }
}

/// Return whether a text is nothing but questions.
pub(crate) fn only_asks(text: &str) -> bool {
    let mut sentences = sentences(text).filter(|text| text.contains(char::is_alphanumeric)).peekable();
    sentences.peek().is_some() && sentences.all(asks)
}

/// Return whether a sentence says that something else no longer holds.
pub(crate) fn corrects(sentence: &str) -> bool {
    static CUES: LazyLock<Cues> = LazyLock::new(|| Cues::new(CORRECTS));
    let text = folded(sentence);
    // "Not this but that"; a cue of its own would need words between.
    let contrasts = || {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| word == "not") && words.any(|word| word == "but")
    };
    CUES.are_in(&text) || contrasts()
}

fn asks(sentence: &str) -> bool {
    static CUES: LazyLock<[Cues; 2]> = LazyLock::new(|| [Cues::new(ASKS), Cues::new(ASKS_ANYWHERE)]);
    let text = folded(sentence);
    let text = text.trim_end_matches(['.', '。', ' ']);
    text.ends_with(['?', '？', '؟']) || CUES[0].open(text) || text.contains(is_cjk) && CUES[1].are_in(text)
}

/// "What books", "which of the cities": a plural behind the question word.
fn names_several(question: &str) -> bool {
    /// Words that end like a plural.
    const SINGULAR: [&str; 12] =
        ["does", "was", "has", "his", "this", "always", "is", "its", "news", "goes", "series", "yes"];
    let is_plural = |word: &str| {
        word.len() > 3
            && word.ends_with('s')
            && !word.ends_with(['\'', '’'])
            && !SINGULAR.contains(&word)
            && !["ss", "us", "is", "'s"].iter().any(|ending| word.ends_with(ending))
    };
    let words: Vec<&str> = question.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
    words.windows(2).any(|pair| ["what", "which"].contains(&pair[0]) && is_plural(pair[1]))
}

fn folded(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

/// Phrases, to be found as whole words; in scripts without spaces anywhere.
struct Cues {
    /// By the first character.
    phrases: BTreeMap<char, Vec<Cue>>,
}

struct Cue {
    text: String,
    /// True if the last word may go on.
    is_open: bool,
    is_anywhere: bool,
}

impl Cues {
    fn new(rows: &[&str]) -> Self {
        let mut phrases: BTreeMap<char, Vec<Cue>> = BTreeMap::new();
        for row in rows {
            let (text, is_open) = row.strip_suffix('*').map_or((*row, false), |text| (text, true));
            let cue = Cue { text: text.to_owned(), is_open, is_anywhere: text.contains(is_cjk) };
            if let Some(first) = text.chars().next() {
                phrases.entry(first).or_default().push(cue);
            }
        }
        Self { phrases }
    }

    fn are_in(&self, text: &str) -> bool {
        let mut before = None;
        for (at, c) in text.char_indices() {
            if self.stand_at(text, at, before, c) {
                return true;
            }
            before = Some(c);
        }
        false
    }

    /// Return whether a text begins with one.
    fn open(&self, text: &str) -> bool {
        text.chars().next().is_some_and(|first| self.stand_at(text, 0, None, first))
    }

    fn stand_at(&self, text: &str, at: usize, before: Option<char>, first: char) -> bool {
        let begins = before.is_none_or(|before| !before.is_alphanumeric());
        let ends = |cue: &Cue| {
            let next = text[at + cue.text.len()..].chars().next();
            let last = cue.text.chars().next_back();
            cue.is_open
                || next.is_none_or(|next| !next.is_alphanumeric())
                || last.is_none_or(|last| !last.is_alphanumeric())
        };
        let stands = |cue: &Cue| text[at..].starts_with(&cue.text) && (cue.is_anywhere || begins && ends(cue));
        self.phrases.get(&first).is_some_and(|cues| cues.iter().any(stands))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_for_many_texts_are_told_from_questions_for_one() {
        for question in [
            "Which books has Ann read?",
            "List the order in which I brought up the features",
            "Can you summarize what I learned?",
            "What all did we decide about logging?",
            "我们都有哪些端口？",
            "これまでの決定をまとめてください",
            "모든 포트를 알려줘",
            "Welche Ports gibt es? Bitte alle nennen",
        ] {
            assert!(Wish::of(question).many, "{question}");
        }
        for question in [
            "Which port does the webhook use?",
            "On which port does it listen?",
            "What does his boss want?",
            "When did Ann move?",
            "端口是多少？",
            "ポートは何番ですか",
            "포트가 몇 번이야?",
            "Is this the allowance?",
        ] {
            assert!(!Wish::of(question).many, "{question}");
        }
    }

    #[test]
    fn questions_for_history_are_recognized() {
        for question in [
            "What was the port before?",
            "What was it originally?",
            "之前的端口是多少",
            "元々のポートは？",
            "이전 포트는?",
        ] {
            assert!(Wish::of(question).history, "{question}");
        }
        for question in ["Which port is it?", "What must I do before the deploy?", "端口是多少", "ポートは？"]
        {
            assert!(!Wish::of(question).history, "{question}");
        }
    }

    #[test]
    fn questions_are_told_from_statements() {
        for text in ["Which port?", "which port does it use", "Hi! Who owns it?", "端口是多少", "担当は誰ですか。"]
        {
            assert_eq!(only_asks(text), text != "Hi! Who owns it?", "{text}");
        }
        for text in ["The port is 8443.", "It is 8443. Is that right?", "", "端口是 8443。"] {
            assert!(!only_asks(text), "{text}");
        }
    }

    #[test]
    fn corrections_have_a_cue() {
        for text in [
            "Sorry, it is not an Alpha 15 but an Alpha 25, I was wrong.",
            "The projector was replaced: Magna 32",
            "更正：不是 15，而是 25",
            "田中さんから佐藤さんに変わりました",
            "화요일이 아니라 목요일입니다",
            "El proyector no es un Alpha 15 sino un Alpha 25",
        ] {
            assert!(corrects(text), "{text}");
        }
        for text in ["The projector is an Alpha 15", "I know the snow", "端口是 8443", "ポートは8443です"] {
            assert!(!corrects(text), "{text}");
        }
    }
}
