//! A statement as the rule reads it.

use std::hash::Hasher as _;

use rustc_hash::FxHasher;
use unicode_normalization::UnicodeNormalization as _;

use super::lexicon::{Entry, Lexicon, class, flag};
use super::polarity;
use super::stem::stem;
use super::value::{self, Place};
use crate::text::{Term, is_cjk};

/// Which part of a clause a token stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Before the verb: what it is about.
    Subject,
    /// Behind the verb, or anywhere if there is none.
    Object,
    /// Behind a word such as "for": which of several is meant.
    Qualifier,
}

/// A word that says something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// The same for all forms of the word.
    pub(super) key: Term,
    /// What may stand in its place; 0 for a plain word.
    pub(super) class: u64,
    /// What it does, see [`flag`].
    pub(super) flags: u32,
    /// Where it stands.
    pub(super) side: Side,
    /// Whether it is said not to hold.
    pub(super) is_negated: bool,
    /// Whether it is part of a reason.
    pub(super) is_aside: bool,
}

impl Token {
    /// Whether it is an answer rather than what the question is about.
    pub(super) fn is_value(&self) -> bool {
        self.class & class::ALWAYS != 0 || self.class != 0 && self.side == Side::Object
    }
}

/// What a statement says, word by word.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// The words that say something, in order.
    pub(super) tokens: Vec<Token>,
    /// The places of the tokens, ordered by key.
    pub(super) by_key: Vec<u32>,
    /// The verbs that end subjects, all together.
    pub(super) verbs: u32,
    /// Whether it is still to be done.
    pub(super) is_pending: bool,
    /// How many words turn something into its opposite.
    pub(super) negations: usize,
    /// The place of the token before which a verb stands whose sides may not be exchanged.
    pub(super) directed_at: Option<usize>,
    /// A hash of the text but for case, white space and the marks at its end.
    pub(super) fingerprint: u64,
}

/// A word on its way to become a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) entry: Entry,
    pub(super) side: Side,
    pub(super) is_negated: bool,
    pub(super) is_aside: bool,
    /// The letters of a plain word that opens a sentence may be those of a name.
    pub(super) may_be_name: bool,
}

impl Piece {
    pub(super) fn has(&self, flags: u32) -> bool {
        self.entry.flags & flags != 0
    }

    /// Whether it says something, rather than hold the others together.
    pub(super) fn is_content(&self) -> bool {
        const SILENT: u32 = flag::FILLER | flag::LIGHT | flag::BREAK | flag::FROM | flag::TO | flag::QUALIFY
            | flag::REASON | flag::INSTEAD | flag::NOT_BEFORE | flag::FROM_BEFORE | flag::WITHOUT;
        self.entry.class != 0 || !self.has(SILENT) && (!self.has(flag::NEGATES) || self.has(flag::PIVOT) || self.names_state())
            && (!self.has(flag::PENDING) || self.has(flag::PIVOT))
    }

    /// "disabled" turns the clause and is about "enabled".
    fn names_state(&self) -> bool {
        self.has(flag::NEGATES) && polarity::is_state(self.entry.key)
    }
}

impl Statement {
    /// Read a text.
    pub(super) fn read(text: &str) -> Self {
        let folded;
        let text = if unicode_normalization::is_nfkc_quick(text.chars()) == unicode_normalization::IsNormalized::Yes {
            text
        } else {
            folded = text.nfkc().collect::<String>();
            &folded
        };
        let mut pieces = Reader::new(text).read();
        polarity::mark(&mut pieces);
        Self::from_pieces(&pieces, fingerprint(text))
    }

    fn from_pieces(pieces: &[Piece], fingerprint: u64) -> Self {
        let (mut tokens, mut verbs, mut directed_at) = (Vec::with_capacity(pieces.len()), 0, None);
        for piece in pieces {
            if piece.has(flag::DIRECTED) && directed_at.is_none() {
                directed_at = Some(tokens.len());
            }
            if piece.has(flag::PIVOT) && !piece.is_aside {
                verbs |= piece.entry.flags;
            }
            if piece.is_content() {
                let Piece { entry: Entry { key, flags, class }, side, is_negated, is_aside, .. } = *piece;
                tokens.push(Token { key, class, flags, side, is_negated, is_aside });
            }
        }
        let mut by_key: Vec<u32> = (0..).take(tokens.len()).collect();
        by_key.sort_by_key(|&at| tokens[at as usize].key);
        let is_pending = pieces.iter().any(|piece| piece.has(flag::PENDING) && !piece.is_aside);
        let negations = pieces.iter().filter(|piece| piece.has(flag::NEGATES | flag::WITHOUT)).count();
        Self { tokens, by_key, verbs, is_pending, negations, directed_at, fingerprint }
    }

    /// What the clause's first part is about.
    pub(super) fn subject(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter().filter(|token| token.side == Side::Subject && !token.is_value())
    }
}

/// A hash of the text but for case, white space and the marks at its end.
fn fingerprint(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    let text = text.trim().trim_end_matches(['.', '。', '!', '！', ' ', ';']);
    let mut is_behind_space = false;
    for c in text.chars() {
        if c.is_whitespace() {
            is_behind_space = true;
            continue;
        }
        if std::mem::take(&mut is_behind_space) {
            hasher.write_u32(u32::from(' '));
        }
        c.to_lowercase().for_each(|c| hasher.write_u32(u32::from(c)));
    }
    hasher.finish()
}

/// Cuts a text into pieces.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    pieces: Vec<Piece>,
    opens_sentence: bool,
}

/// Characters that join letters to one run.
fn joins(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/' | '\\' | ':' | '@' | '~' | '+' | '%' | '$' | '#' | '\'' | '’' | '=' | '€' | '£' | '¥')
}

fn runs(c: char) -> bool {
    c.is_alphanumeric() && !is_cjk(c) || joins(c)
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0, pieces: Vec::with_capacity(text.len() / 5), opens_sentence: true }
    }

    fn read(mut self) -> Vec<Piece> {
        while let Some(c) = self.text[self.at..].chars().next() {
            let width = c.len_utf8();
            match c {
                _ if c.is_whitespace() => {
                    if c == '\n' {
                        self.mark(flag::BREAK);
                        self.opens_sentence = true;
                    }
                    self.at += width;
                }
                '`' | '"' | '“' | '「' | '『' | '«' => self.quotation(c),
                _ if is_cjk(c) => self.cjk(),
                '→' => self.sign(flag::NOT_BEFORE | flag::TO, width),
                '-' | '=' if self.text[self.at + 1..].starts_with('>') => self.sign(flag::NOT_BEFORE | flag::TO, 2),
                '!' if self.text[self.at + 1..].starts_with(|c: char| c.is_alphanumeric() || c == '=') => {
                    self.sign(flag::NEGATES, 1);
                }
                '<' | '>' | '≥' | '≤' => self.comparison(width),
                _ if runs(c) => self.run(),
                '.' | '!' | '?' | '。' | '！' | '？' => {
                    self.opens_sentence = true;
                    self.sign(flag::BREAK, width);
                }
                ',' | ';' | ':' | '(' | ')' | '[' | ']' | '{' | '}' | '，' | '、' | '；' | '：' | '（' | '）' | '…' | '—'
                | '–' | '|' | '/' | '&' | '・' => self.sign(flag::BREAK, width),
                '*' | '\'' | '‘' | '’' | '”' | '」' | '』' | '»' | '^' => self.at += width,
                // Whatever else there is may be all that differs.
                _ => {
                    self.push(value::value(&self.text[self.at..self.at + width], 0));
                    self.at += width;
                }
            }
        }
        self.pieces
    }

    fn push(&mut self, entry: Entry) {
        let piece =
            Piece { entry, side: Side::Object, is_negated: false, is_aside: false, may_be_name: self.opens_sentence };
        self.pieces.push(piece);
    }

    fn mark(&mut self, flags: u32) {
        self.push(Entry { key: Term::new(""), flags, class: 0 });
    }

    fn sign(&mut self, flags: u32, width: usize) {
        self.mark(flags);
        self.at += width;
    }

    fn comparison(&mut self, width: usize) {
        let end = self.at + width;
        let end = if self.text[end..].starts_with('=') { end + 1 } else { end };
        let sign = match &self.text[self.at..end] {
            "≥" => ">=",
            "≤" => "<=",
            sign => sign,
        };
        if let Some(entry) = Lexicon::get().word(sign) {
            self.push(entry);
        }
        self.at = end;
    }

    /// What stands between marks; several words are one value.
    fn quotation(&mut self, opening: char) {
        let closing = match opening {
            '“' => '”',
            '「' => '」',
            '『' => '』',
            '«' => '»',
            same => same,
        };
        let start = self.at + opening.len_utf8();
        self.at = start;
        let Some(length) = self.text[start..].find(closing) else { return };
        let inner = self.text[start..start + length].trim();
        self.at = start + length + closing.len_utf8();
        if inner.contains(char::is_whitespace) || inner.chars().any(is_cjk) {
            self.quoted_words(inner);
        } else if !inner.is_empty() {
            self.word(inner, true);
        }
        self.opens_sentence = false;
    }

    /// One value, and the numbers in it as values of their own: `serve -p 3000` is `serve -p 8080` on another port.
    fn quoted_words(&mut self, inner: &str) {
        let has_digit = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
        let words: Vec<&str> = inner.split_whitespace().map(|word| if has_digit(&word) { "#" } else { word }).collect();
        self.push(value::value(&words.join(" "), class::NAME));
        for word in inner.split_whitespace().filter(has_digit) {
            self.push(value::value(word, class::NUMBER));
        }
    }

    fn run(&mut self) {
        let rest = &self.text[self.at..];
        let run = &rest[..run_length(rest)];
        self.at += run.len();
        let ends_sentence = run.ends_with('.');
        let ends_clause = run.ends_with([':', ',', ';']);
        let word = run.trim_start_matches(['=', ':', '\'', '’', '+', '/']);
        // A leading slash is part of a path, behind which more stands.
        let word = if run.starts_with('/') && word.len() + 1 == run.len() { run } else { word };
        let word = word.trim_end_matches(['.', ':', '\'', '’', '-', '=', '/']);
        let word = if word.len() == 1 { word.trim_matches(['-', '.', '~', '#', '@', '\\', '_']) } else { word };
        if !word.is_empty() {
            self.word(word, false);
            self.opens_sentence = false;
        } else if run.contains('=') {
            self.mark(flag::FILLER | flag::PIVOT);
        }
        if ends_sentence || ends_clause {
            self.mark(flag::BREAK);
        }
        self.opens_sentence |= ends_sentence;
    }

    fn word(&mut self, word: &str, is_quoted: bool) {
        let is_behind_number = self.pieces.last().is_some_and(|piece| piece.entry.class == class::NUMBER);
        let place = Place { opens_sentence: self.opens_sentence, is_quoted, is_behind_number };
        let mut entries = Vec::new();
        value::read_run(word.trim_end_matches("()"), place, &mut |entry| entries.push(entry));
        entries.into_iter().for_each(|entry| self.push(entry));
    }

    fn cjk(&mut self) {
        let rest = &self.text[self.at..];
        let length = rest.find(|c| !is_cjk(c)).unwrap_or(rest.len());
        let run = &rest[..length];
        self.at += length;
        self.opens_sentence = false;
        let (run, responsible, tail) = responsible(run);
        for part in [run, responsible, tail] {
            if part == responsible && !part.is_empty() {
                self.mark(flag::FILLER | flag::PIVOT);
                self.push(value::value(part, class::NAME));
                continue;
            }
            let mut found = Vec::new();
            Lexicon::get().for_each_cjk(part, |word, entry| found.push((word, entry)));
            for (word, entry) in found {
                match entry {
                    Some(entry) => self.push(entry),
                    None => self.unknown_cjk(word),
                }
            }
        }
    }

    /// Numerals are numbers, katakana and hangul are words, hiragana say nothing, and Han are taken one by one.
    fn unknown_cjk(&mut self, run: &str) {
        let mut rest = run;
        while let Some(first) = rest.chars().next() {
            let script = Script::of(first);
            let end = match script {
                Script::Han => first.len_utf8(),
                _ => rest.find(|c| Script::of(c) != script).unwrap_or(rest.len()),
            };
            let part = &rest[..end];
            rest = &rest[end..];
            match script {
                Script::Numeral => {
                    let digits = value::numerals(part).unwrap_or_default();
                    self.push(value::value(&digits, class::NUMBER));
                }
                Script::Hiragana => self.mark(if negates_in_hiragana(part) { flag::NEGATES } else { flag::FILLER }),
                Script::Hangul => self.hangul(part),
                Script::Han | Script::Katakana => self.push(value::value(part, 0)),
            }
        }
    }

    fn hangul(&mut self, word: &str) {
        let stem = hangul_stem(word);
        if stem.is_empty() {
            // A particle behind a foreign word: "Redis를".
            let ends_subject = matches!(word, "는" | "은" | "이" | "가");
            return self.mark(if ends_subject { flag::FILLER | flag::PIVOT } else { flag::FILLER });
        }
        self.push(value::value(stem, 0));
        if matches!(&word[stem.len()..], "는" | "은") {
            self.mark(flag::FILLER | flag::PIVOT);
        }
    }
}

/// How far a run goes; the comma of 1,000 belongs to it.
fn run_length(text: &str) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        length += rest.find(|c| !runs(c)).unwrap_or(rest.len());
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        let behind = &text.as_bytes()[length..];
        let groups = behind.first() == Some(&b',') && (1..4).all(|at| is_digit(behind.get(at))) && !is_digit(behind.get(4));
        if !groups || !is_digit(text.as_bytes()[..length].last()) {
            return length;
        }
        length += 1;
    }
}

/// The text before, the one that is responsible, and the text behind: 由张三负责.
fn responsible(run: &str) -> (&str, &str, &str) {
    let found = run.find('由').and_then(|at| {
        let start = at + '由'.len_utf8();
        let end = start + ["负责", "维护", "管理", "处理"].iter().filter_map(|verb| run[start..].find(verb)).min()?;
        let length = run[start..end].chars().count();
        (1..=6).contains(&length).then(|| (&run[..at], &run[start..end], &run[end..]))
    });
    found.unwrap_or((run, "", ""))
}

fn negates_in_hiragana(run: &str) -> bool {
    ["ない", "ません", "なかった", "なく"].iter().any(|ending| run.contains(ending))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Han,
    Numeral,
    Hiragana,
    Katakana,
    Hangul,
}

impl Script {
    fn of(c: char) -> Self {
        match c {
            '零' | '〇' | '一' | '二' | '两' | '三' | '四' | '五' | '六' | '七' | '八' | '九' | '十' | '百' | '千' | '万' => Self::Numeral,
            '\u{3041}'..='\u{309F}' => Self::Hiragana,
            '\u{30A0}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' => Self::Katakana,
            '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{AC00}'..='\u{D7AF}' => Self::Hangul,
            _ => Self::Han,
        }
    }
}

/// A Korean word without its particles and endings.
fn hangul_stem(word: &str) -> &str {
    const ENDINGS: [&str; 32] = [
        "입니다", "합니다", "됩니다", "한다", "하지", "했다", "하는", "하다", "된다", "이다", "으로", "에서", "에게", "부터", "까지", "이며",
        "하고", "해야", "은", "는", "이", "가", "을", "를", "의", "에", "로", "와", "과", "도", "만", "다",
    ];
    ENDINGS.iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word)
}

/// The key of an English word.
pub(super) fn key_of(word: &str) -> Term {
    Term::new(&stem(word))
}
