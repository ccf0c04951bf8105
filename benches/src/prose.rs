//! Words put together: sentences and lines of code in the manner of a conversation with an agent.

use crate::lexicon::{Lexicon, capitalized};
use crate::rng::Rng;

const PARTICLES: &[&str] = &["は", "が", "を", "に", "で", "の", "と", "も", "から", "ので"];
const JOSA: &[&str] = &["은", "는", "이", "가", "을", "를", "에", "의", "로", "도", "에서", "하고", "합니다"];
const INDENTS: &[&str] = &["", "    ", "        "];

/// Language and style of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// English with a few identifiers and numbers.
    English,
    /// Chinese with identifiers mixed in.
    Chinese,
    /// Source code, requests, stack traces.
    Code,
    /// Japanese: kanji, hiragana and katakana.
    Japanese,
    /// Korean, words set apart by spaces.
    Korean,
}

/// The lexicons of a corpus.
pub(crate) struct Writer {
    english: Lexicon,
    identifiers: Lexicon,
    chinese: Lexicon,
    japanese: Lexicon,
    korean: Lexicon,
}

impl Writer {
    pub(crate) fn new(seed: u64) -> Self {
        let english = Lexicon::english(seed);
        Self {
            identifiers: Lexicon::identifiers(seed, &english),
            chinese: Lexicon::chinese(seed),
            japanese: Lexicon::japanese(seed),
            korean: Lexicon::korean(seed),
            english,
        }
    }

    /// A text that ends with the first word or line to reach `length` characters.
    pub(crate) fn write(&self, kind: Kind, topic: u64, length: usize, rng: &mut Rng) -> String {
        let mut text = String::with_capacity(length * 3);
        let mut written = 0;
        while written < length {
            let start = text.len();
            match kind {
                Kind::English => self.english(topic, rng, &mut text),
                Kind::Chinese => self.chinese(topic, rng, &mut text),
                Kind::Code => self.code(topic, rng, &mut text),
                Kind::Japanese => self.japanese(topic, rng, &mut text),
                Kind::Korean => self.korean(topic, rng, &mut text),
            }
            written += text[start..].chars().count();
        }
        text
    }

    /// A question on a topic in at least so many terms, no word twice.
    ///
    /// Asked in the language of the segment; about code in English with identifiers.
    pub(crate) fn ask(&self, kind: Kind, topic: u64, terms: usize, rng: &mut Rng) -> String {
        let (lexicon, space) = match kind {
            Kind::English | Kind::Code => (&self.english, " "),
            Kind::Chinese => (&self.chinese, ""),
            Kind::Japanese => (&self.japanese, ""),
            Kind::Korean => (&self.korean, " "),
        };
        let names = if kind == Kind::Code { 25 } else { 6 };
        let (mut words, mut found) = (Vec::new(), 0);
        while found < terms {
            let lexicon = if rng.percent(names) { &self.identifiers } else { lexicon };
            let word = if rng.percent(60) { lexicon.of_topic(topic, rng) } else { lexicon.common(rng) };
            if !words.contains(&word) {
                found += terms_in(word, space);
                words.push(word);
            }
        }
        words.join(space)
    }

    fn english(&self, topic: u64, rng: &mut Rng, text: &mut String) {
        let word = match rng.below(100) {
            0..3 => self.identifiers.draw(topic, rng).to_owned(),
            3..5 => number(rng),
            _ => self.english.draw(topic, rng).to_owned(),
        };
        let begins = text.is_empty() || text.ends_with(". ") || text.ends_with('\n');
        text.push_str(&if begins { capitalized(&word) } else { word });
        text.push_str(match rng.below(100) {
            0..6 => ". ",
            6 => ".\n",
            7..14 => ", ",
            14 => "? ",
            _ => " ",
        });
    }

    fn chinese(&self, topic: u64, rng: &mut Rng, text: &mut String) {
        match rng.below(100) {
            0..5 => spaced(self.identifiers.draw(topic, rng), text),
            5..7 => spaced(self.english.draw(topic, rng), text),
            7..9 => text.push_str(&number(rng)),
            _ => text.push_str(self.chinese.draw(topic, rng)),
        }
        text.push_str(match rng.below(100) {
            0..10 => "，",
            10..16 => "。",
            16 => "：",
            17 => "、",
            18 => "\n",
            _ => "",
        });
    }

    fn japanese(&self, topic: u64, rng: &mut Rng, text: &mut String) {
        match rng.below(100) {
            0..4 => spaced(self.identifiers.draw(topic, rng), text),
            4..6 => text.push_str(&number(rng)),
            _ => text.push_str(self.japanese.draw(topic, rng)),
        }
        if rng.percent(70) {
            text.push_str(rng.pick(PARTICLES));
        }
        text.push_str(match rng.below(100) {
            0..10 => "、",
            10..20 => "。",
            _ => "",
        });
    }

    fn korean(&self, topic: u64, rng: &mut Rng, text: &mut String) {
        match rng.below(100) {
            0..4 => text.push_str(self.identifiers.draw(topic, rng)),
            4..6 => text.push_str(&number(rng)),
            _ => text.push_str(self.korean.draw(topic, rng)),
        }
        if rng.percent(60) {
            text.push_str(rng.pick(JOSA));
        }
        text.push_str(match rng.below(100) {
            0..6 => ", ",
            6..16 => ". ",
            _ => " ",
        });
    }

    fn code(&self, topic: u64, rng: &mut Rng, text: &mut String) {
        text.push_str(rng.pick(INDENTS));
        let (form, hex, n) = (rng.below(9), rng.bits() >> 40, number(rng));
        let mut name = || self.identifiers.draw(topic, rng);
        let line = match form {
            0 | 1 => format!("let {} = {}({}, {n});\n", name(), name(), name()),
            2 => format!("if {}.len() >= {n} {{ return {}; }}\n", name(), name()),
            3 => format!("def {}({}: int = {n}) -> str:\n", name(), name()),
            4 => format!("{}[\"{}\"] += 0x{hex:06x}\n", name(), name()),
            5 => format!("GET /api/v2/{}/{n} 200\n", name()),
            6 => format!("  at {} ({}:{n})\n", name(), name()),
            7 => format!("use crate::{}; // {n}\n", name()),
            _ => format!("# {} {}\n", self.english.draw(topic, rng), self.english.draw(topic, rng)),
        };
        text.push_str(&line);
    }
}

/// Half of the numbers are small and come again, the rest are ports, amounts, lines.
fn number(rng: &mut Rng) -> String {
    if rng.percent(50) { rng.below(100).to_string() } else { rng.below(70_000).to_string() }
}

/// The way Latin words stand in CJK text: sometimes with a space on either side.
fn spaced(word: &str, text: &mut String) {
    let space = if word.len().is_multiple_of(3) { "" } else { " " };
    text.push_str(space);
    text.push_str(word);
    text.push_str(space);
}

/// Count the terms a word adds to a query: CJK characters and their pairs, or the parts of a name and the whole.
fn terms_in(word: &str, space: &str) -> usize {
    if word.is_ascii() {
        let humps = word.bytes().skip(1).filter(|byte| !byte.is_ascii_lowercase()).count();
        if humps == 0 { 1 } else { humps + 2 }
    } else {
        2 * word.chars().count() - usize::from(space == " ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_keep_to_their_size() {
        let (writer, mut rng) = (Writer::new(7), Rng::keyed(&[1]));
        for topic in 0..50 {
            let words = writer.ask(Kind::English, topic, 8, &mut rng).split(' ').count();
            assert!((3..=8).contains(&words), "{words}");
        }
    }

    #[test]
    fn terms_are_counted_by_script() {
        assert_eq!(terms_in("server", " "), 1);
        assert_eq!(terms_in("payHook", " "), 3);
        assert_eq!(terms_in("src/pay.rs", " "), 4);
        assert_eq!(terms_in("飞书", ""), 4);
        assert_eq!(terms_in("한국", " "), 3);
    }
}
