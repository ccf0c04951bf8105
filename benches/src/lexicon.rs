//! Made-up words with the frequencies and the topics of real ones.

use crate::rng::{Rng, Zipf};

/// Number of topics in a corpus.
pub(crate) const TOPICS: u64 = 400;
/// Number of words of a lexicon that a topic prefers.
const WORDS_PER_TOPIC: u64 = 90;
/// Ranks so frequent that they belong to no topic.
const COMMON: u64 = 150;

const FUNCTION_WORDS: &[&str] = &[
    "the", "to", "and", "of", "a", "in", "is", "it", "that", "for", "we", "on", "this", "with", "be", "not", "you",
    "are", "as", "but", "have", "if", "at", "from", "or", "by", "was", "can", "so", "an", "will", "when", "there",
    "use", "should", "then", "now", "which", "what", "all", "one", "has", "how", "do", "after", "would", "only",
    "they", "just", "about", "no", "more", "my", "our", "why", "set", "new", "get", "also", "file", "server", "test",
    "error", "before", "value", "code", "works", "call", "because", "still", "user", "same", "time", "please",
];
const ONSETS: &[&str] = &[
    "b", "c", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "br", "cl", "cr", "gr",
    "pl", "pr", "sh", "st", "th", "tr",
];
const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "ea", "io"];
const CODAS: &[&str] = &["", "", "n", "r", "s", "t", "l", "m", "nd", "ck", "ng"];
const EXTENSIONS: &[&str] = &["rs", "py", "ts", "go", "json", "toml", "md"];
const KATAKANA: &[&str] = &[
    "ア", "イ", "ウ", "エ", "オ", "カ", "キ", "ク", "ケ", "コ", "サ", "シ", "ス", "セ", "タ", "チ", "テ", "ト", "ナ",
    "ニ", "ネ", "ノ", "ハ", "フ", "ホ", "マ", "ミ", "メ", "モ", "ラ", "リ", "ル", "レ", "ロ", "ン", "ー", "ド", "ジ",
    "バ", "プ", "ッ", "グ",
];
const OKURIGANA: &[&str] = &["する", "した", "い", "く", "って", "り", "れる", "え"];

/// Words of one language, the most frequent first.
pub(crate) struct Lexicon {
    words: Vec<String>,
    ranks: Zipf,
    topical: Zipf,
    seed: u64,
}

impl Lexicon {
    fn new(size: u64, seed: u64, purpose: u64, make: impl Fn(u64, &mut Rng) -> String) -> Self {
        let seed = Rng::keyed(&[seed, purpose]).bits();
        Self {
            words: (0..size).map(|rank| make(rank, &mut Rng::keyed(&[seed, rank]))).collect(),
            ranks: Zipf::new(size),
            topical: Zipf::new(WORDS_PER_TOPIC),
            seed,
        }
    }

    /// English: function words, then words of one to four syllables.
    pub(crate) fn english(seed: u64) -> Self {
        Self::new(120_000, seed, 1, english_word)
    }

    /// Names from code in every usual spelling.
    pub(crate) fn identifiers(seed: u64, english: &Self) -> Self {
        Self::new(60_000, seed, 2, |_, rng| identifier(english, rng))
    }

    /// Chinese: one to four of 3,500 characters.
    pub(crate) fn chinese(seed: u64) -> Self {
        let characters = Zipf::new(3_500);
        Self::new(60_000, seed, 3, |rank, rng| {
            let length =
                if rank < COMMON { rng.between(1, 2) } else { 1 + rng.below(14).div_ceil(8) + rng.below(5) / 4 };
            (0..length).map(|_| han(characters.draw(rng))).collect()
        })
    }

    /// Japanese: kanji with or without an ending, and katakana loan words.
    pub(crate) fn japanese(seed: u64) -> Self {
        let characters = Zipf::new(2_000);
        Self::new(30_000, seed, 4, |_, rng| {
            if rng.percent(30) {
                return (0..rng.between(2, 6)).map(|_| rng.pick(KATAKANA)).collect();
            }
            let stem: String = (0..rng.between(1, 3)).map(|_| han(characters.draw(rng))).collect();
            let ending = if rng.percent(40) { rng.pick(OKURIGANA) } else { "" };
            stem + ending
        })
    }

    /// Korean stems of one to four of 1,200 syllables.
    pub(crate) fn korean(seed: u64) -> Self {
        let syllables = Zipf::new(1_200);
        Self::new(30_000, seed, 5, |_, rng| (0..rng.between(1, 4)).map(|_| hangul(syllables.draw(rng))).collect())
    }

    /// A word by frequency alone.
    pub(crate) fn common(&self, rng: &mut Rng) -> &str {
        &self.words[self.ranks.draw(rng)]
    }

    /// A word that names are made of: frequent, but none of the most frequent.
    fn plain_noun(&self, rng: &mut Rng) -> &str {
        &self.words[(50 + self.ranks.draw(rng)) % self.words.len()]
    }

    /// A word the topic prefers.
    pub(crate) fn of_topic(&self, topic: u64, rng: &mut Rng) -> &str {
        let favorite = self.topical.draw(rng) as u64;
        let rarer = self.words.len() as u64 - COMMON;
        let rank = COMMON + Rng::keyed(&[self.seed, topic, favorite]).below(rarer);
        &self.words[rank as usize]
    }

    /// A word of a text on a topic: its own words in a third of the cases.
    pub(crate) fn draw(&self, topic: u64, rng: &mut Rng) -> &str {
        if rng.percent(33) { self.of_topic(topic, rng) } else { self.common(rng) }
    }
}

fn english_word(rank: u64, rng: &mut Rng) -> String {
    if let Some(word) = FUNCTION_WORDS.get(rank as usize) {
        return (*word).to_owned();
    }
    let syllables = if rank < 2_000 { rng.between(1, 2) } else { rng.between(2, 3) };
    let stem: String = (0..syllables).flat_map(|_| [rng.pick(ONSETS), rng.pick(VOWELS)]).collect();
    stem + rng.pick(CODAS)
}

/// A name of two or three words: snake, camel, Pascal, kebab, dotted, or a path.
fn identifier(english: &Lexicon, rng: &mut Rng) -> String {
    let parts: Vec<&str> = (0..rng.between(2, 3)).map(|_| english.plain_noun(rng)).collect();
    match rng.below(100) {
        0..40 => parts.join("_"),
        40..65 => camel(parts[0], &parts[1..]),
        65..77 => camel("", &parts),
        77..83 => parts.join("-"),
        83..89 => parts.join("."),
        _ => format!("{}.{}", parts.join("/"), rng.pick(EXTENSIONS)),
    }
}

fn camel(first: &str, humps: &[&str]) -> String {
    humps.iter().fold(first.to_owned(), |name, hump| name + &capitalized(hump))
}

/// The word with its first letter, which is ASCII, in upper case.
pub(crate) fn capitalized(word: &str) -> String {
    let mut word = word.to_owned();
    if let Some(first) = word.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    word
}

/// The Han character of a frequency rank, spread over the whole basic block.
fn han(rank: usize) -> char {
    spread(0x4E00, rank, 1_103, 3_500, 5)
}

/// The hangul syllable of a frequency rank.
fn hangul(rank: usize) -> char {
    spread(0xAC00, rank, 701, 1_200, 9)
}

fn spread(base: u32, rank: usize, step: usize, pool: usize, stride: u32) -> char {
    let place = rank * step % pool;
    char::from_u32(base + place as u32 * stride).unwrap_or('\u{4E00}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_prefer_different_words() {
        let english = Lexicon::english(7);
        let favorites = |topic| -> Vec<String> {
            let mut rng = Rng::keyed(&[topic]);
            (0..50).map(|_| english.of_topic(topic, &mut rng).to_owned()).collect()
        };
        let (one, other) = (favorites(1), favorites(2));
        assert!(one.iter().filter(|word| other.contains(word)).count() < 5);
    }

    #[test]
    fn pools_do_not_repeat_characters() {
        let mut characters: Vec<char> = (0..3_500).map(han).collect();
        characters.sort_unstable();
        characters.dedup();
        assert_eq!(characters.len(), 3_500);
        assert!(('가'..='힣').contains(&hangul(1_199)));
    }
}
