//! Lexicon: function words, negations, and values that may replace one another.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashMap;

use super::stem::stem;
use super::tables::{
    AMBIGUOUS, CJK, CJK_MEANINGS, CJK_VALUES, CJK_WHOLE, GERMAN, IRREGULAR, OPPOSITES, VALUES, VERBS, WORDS,
};
use super::value;
use crate::text::{Term, is_cjk};

/// Grammatical functions of a word, as bits.
pub(super) mod flag {
    /// Says nothing.
    pub(crate) const FILLER: u32 = 1;
    /// A verb so general that another may stand in its place.
    pub(crate) const LIGHT: u32 = 1 << 1;
    /// Ends the subject.
    pub(crate) const PIVOT: u32 = 1 << 2;
    /// A pivot that may have many objects side by side.
    pub(crate) const MANY: u32 = 1 << 3;
    /// A pivot that may have many objects, of different kinds.
    pub(crate) const USE: u32 = 1 << 4;
    /// A pivot whose subject is the answer: "Alice owns it".
    pub(crate) const INVERTS: u32 = 1 << 5;
    /// Turns its clause into the opposite.
    pub(crate) const NEGATES: u32 = 1 << 6;
    /// Turns what follows into the opposite.
    pub(crate) const WITHOUT: u32 = 1 << 7;
    /// Marks that the words after it no longer hold.
    pub(crate) const INSTEAD: u32 = 1 << 8;
    /// Marks that the words before it no longer hold.
    pub(crate) const NOT_BEFORE: u32 = 1 << 9;
    /// Marks that the words after it no longer hold, if the clause expresses a change.
    pub(crate) const FROM: u32 = 1 << 10;
    /// Marks that the words before it no longer hold, if the clause expresses a change.
    pub(crate) const FROM_BEFORE: u32 = 1 << 11;
    /// Ends what no longer holds.
    pub(crate) const TO: u32 = 1 << 12;
    /// Speaks of a change.
    pub(crate) const CHANGE: u32 = 1 << 13;
    /// Speaks of one thing that takes the place of another.
    pub(crate) const SWAP: u32 = 1 << 14;
    /// Says which of several is meant.
    pub(crate) const QUALIFY: u32 = 1 << 15;
    /// Begins a reason.
    pub(crate) const REASON: u32 = 1 << 16;
    /// Says that it is still to be done.
    pub(crate) const PENDING: u32 = 1 << 17;
    /// Ends a clause.
    pub(crate) const BREAK: u32 = 1 << 18;
    /// Its sides may not be exchanged.
    pub(crate) const DIRECTED: u32 = 1 << 19;
    /// One of several places of the same thing.
    pub(crate) const PLACE_OF_MANY: u32 = 1 << 20;
    /// Stands between subject and verb: "must", "does".
    pub(crate) const AUXILIARY: u32 = 1 << 21;
    /// A general word for what a thing is like: has one value.
    pub(crate) const ATTRIBUTE: u32 = 1 << 22;
    /// Says nothing by itself, but another one in its place says another thing: "from", "must", "up to".
    pub(crate) const COUNTS: u32 = 1 << 23;
    /// Says that something holds from now on.
    pub(crate) const NOW: u32 = 1 << 24;
}

/// Classes of values, as bits: two values with a bit in common answer the same question.
pub(super) mod class {
    /// A number, an amount, a version, a date.
    pub(crate) const NUMBER: u64 = 1;
    /// Unit of a number.
    pub(crate) const UNIT: u64 = 1 << 1;
    /// A path, a file, an address.
    pub(crate) const PLACE: u64 = 1 << 2;
    /// An identifier, a quotation, a name that is not known.
    pub(crate) const NAME: u64 = 1 << 3;
    /// The first of the classes that the tables below define.
    pub(crate) const FIRST_TABLE: u32 = 4;
    /// A region of a cloud provider: `eu-west-1`.
    pub(crate) const REGION: u64 = 1 << 63;
    /// Values wherever they stand.
    pub(crate) const ALWAYS: u64 = NUMBER | UNIT | 0b1_1111 << FIRST_TABLE;
}

/// Entry of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The same for all spellings and forms.
    pub(super) key: Term,
    /// Its functions.
    pub(super) flags: u32,
    /// Its classes of values; 0 for a plain word.
    pub(super) class: u64,
}

/// All tables, ready to be looked up.
pub(super) struct Lexicon {
    words: FxHashMap<&'static str, Entry>,
    stems: FxHashMap<String, Entry>,
    cjk: AhoCorasick,
    cjk_entries: Vec<Entry>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::new);

impl Lexicon {
    /// Return the shared instance.
    pub(super) fn get() -> &'static Self {
        &LEXICON
    }

    /// Return the entry of a word in lower case.
    pub(super) fn word(&self, word: &str) -> Option<Entry> {
        self.words.get(word).or_else(|| self.stems.get(&*stem(word))).copied()
    }

    /// Return the entry of a word that is not capitalized: "go" is a verb, "Go" a language.
    pub(super) fn plain_word(&self, word: &str) -> Option<Entry> {
        if AMBIGUOUS.contains(&word) { self.stems.get(&*stem(word)).copied() } else { self.word(word) }
    }

    /// Call `see` with every known word of a run of CJK characters, and with what lies between them.
    pub(super) fn for_each_cjk<'t>(&self, run: &'t str, mut see: impl FnMut(&'t str, Option<Entry>)) {
        let mut at = 0;
        for found in self.cjk.find_iter(run) {
            if at < found.start() {
                see(&run[at..found.start()], None);
            }
            see(&run[found.range()], Some(self.cjk_entries[found.pattern().as_usize()]));
            at = found.end();
        }
        if at < run.len() {
            see(&run[at..], None);
        }
    }

    fn new() -> Self {
        let mut words: FxHashMap<&'static str, Entry> = FxHashMap::default();
        let mut stems: FxHashMap<String, Entry> = FxHashMap::default();
        for &(flags, list) in VERBS {
            for word in list.split_whitespace() {
                let key = Term::new(&stem(word));
                let entry = stems.entry(stem(word).into_owned()).or_insert(Entry { key, flags: 0, class: 0 });
                entry.flags |= flags;
            }
        }
        for &(word, other) in OPPOSITES {
            let (other, flags) = other.strip_prefix('=').map_or((other, flag::NEGATES), |other| (other, 0));
            let base = stems.get(&*stem(other)).map_or(0, |entry| entry.flags);
            let entry = Entry { key: Term::new(&stem(other)), flags: base | flags, class: 0 };
            stems.insert(stem(word).into_owned(), entry);
        }
        for &(word, base) in IRREGULAR {
            let base = stem(base);
            let plain = Entry { key: Term::new(&base), flags: 0, class: 0 };
            words.insert(word, stems.get(&*base).copied().unwrap_or(plain));
        }
        for &(flags, list) in WORDS {
            for word in list.split_whitespace() {
                words.insert(word, Entry { key: Term::new(word), flags, class: 0 });
            }
        }
        for &(flags, list) in GERMAN {
            for word in list.split_whitespace() {
                words.entry(word).or_insert(Entry { key: Term::new(word), flags, class: 0 });
            }
        }
        for (row, values) in VALUES.iter().enumerate() {
            for_each_value(row, values, |word, key, class| {
                let entry = words.entry(word).or_insert(Entry { key, flags: 0, class: 0 });
                entry.class |= class;
                entry.key = if entry.class == class { key } else { entry.key };
            });
        }
        let (cjk, cjk_entries) = cjk_tables(&words, &stems);
        Self { words, stems, cjk, cjk_entries }
    }
}

fn for_each_value<'t>(row: usize, values: &'t str, mut see: impl FnMut(&'t str, Term, u64)) {
    for spellings in values.split_whitespace() {
        let is_sign = spellings.bytes().all(|byte| matches!(byte, b'<' | b'>' | b'='));
        let first = if is_sign { spellings } else { spellings.split('=').next().unwrap_or(spellings) };
        let class = 1 << (class::FIRST_TABLE as usize + row);
        if is_sign {
            see(spellings, Term::new(first), class);
        } else {
            spellings.split('=').for_each(|word| see(word, Term::new(first), class));
        }
    }
}

fn cjk_tables(words: &FxHashMap<&'static str, Entry>, stems: &FxHashMap<String, Entry>) -> (AhoCorasick, Vec<Entry>) {
    let mut known: FxHashMap<&'static str, Entry> = FxHashMap::default();
    for &word in CJK_WHOLE {
        known.insert(word, Entry { key: Term::new(word), flags: 0, class: 0 });
    }
    for &(flags, list) in CJK {
        for word in list.split_whitespace().filter(|word| word.chars().all(is_cjk)) {
            known.entry(word).or_insert(Entry { key: Term::new(word), flags: 0, class: 0 }).flags |= flags;
        }
    }
    for (row, values) in CJK_VALUES.iter().enumerate() {
        for_each_value(row, values, |word, key, class| {
            let entry = known.entry(word).or_insert(Entry { key, flags: 0, class: 0 });
            (entry.key, entry.class) = (key, class);
        });
    }
    for &(word, meaning) in CJK_MEANINGS {
        let (meaning, flags) = meaning.strip_prefix('!').map_or((meaning, 0), |meaning| (meaning, flag::NEGATES));
        if let Some(&value) = words.get(meaning).filter(|entry| entry.class != 0) {
            known.insert(word, value);
            continue;
        }
        let english = stems.get(&*stem(meaning)).map_or(0, |entry| entry.flags);
        let class = if value::unit_of(meaning).is_some() { class::UNIT } else { 0 };
        let key = value::unit_of(meaning).map_or_else(|| Term::new(&stem(meaning)), Term::new);
        // "Light" would hide it, and it is what the statement is about.
        known.insert(word, Entry { key, flags: english & !flag::LIGHT | flags, class });
    }
    let mut list: Vec<(&str, Entry)> = known.into_iter().collect();
    list.sort_unstable_by_key(|&(word, _)| word);
    let automaton =
        AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(list.iter().map(|&(word, _)| word));
    // The words are constants: the tests would not pass if they made no automaton.
    let automaton = automaton.unwrap_or_else(|fault| unreachable!("{fault}"));
    (automaton, list.into_iter().map(|(_, entry)| entry).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_spellings_are_one_word() {
        let lexicon = Lexicon::get();
        let key = |word| lexicon.word(word).map(|entry| entry.key);
        for (a, b) in [("postgresql", "postgres"), ("uses", "using"), ("written", "writes"), ("disabled", "off")] {
            assert!(key(a).is_some() && key(a) == key(b), "{a} {b}");
        }
        assert!(lexicon.word("disabled").is_some_and(|entry| entry.flags & flag::NEGATES != 0));
        assert!(lexicon.word("tokenizer").is_none());
    }

    #[test]
    fn longest_words_come_first() {
        let mut seen = Vec::new();
        Lexicon::get().for_each_cjk("用户不再使用缓存吗", |word, entry| seen.push((word, entry.is_some())));
        assert_eq!(seen, [("用户", true), ("不再", true), ("使用", true), ("缓存", true), ("吗", false)]);
    }
}
