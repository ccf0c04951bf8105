//! Parser of statements into pieces.

use super::lexicon::{Entry, Lexicon, class, flag};
use super::statement::{Piece, Side};
use super::value::{self, Context};
use crate::text::{Term, is_cjk};

/// Cuts a text into pieces.
pub(super) struct Reader<'t> {
    text: &'t str,
    at: usize,
    pieces: Vec<Piece>,
    opens_sentence: bool,
}

/// Characters that join letters to one run.
fn joins(c: char) -> bool {
    matches!(
        c,
        '_' | '-' | '.' | '/' | '\\' | ':' | '@' | '~' | '+' | '%' | '$' | '#' | '\'' | '’' | '=' | '€' | '£' | '¥'
    )
}

fn runs(c: char) -> bool {
    c.is_alphanumeric() && !is_cjk(c) || joins(c)
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, pieces: Vec::with_capacity(text.len() / 5), opens_sentence: true }
    }

    /// Return the pieces, in order.
    pub(super) fn read(mut self) -> Vec<Piece> {
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
                ',' | ';' | ':' | '(' | ')' | '[' | ']' | '{' | '}' | '，' | '、' | '；' | '：' | '（' | '）' | '…'
                | '—' | '–' | '|' | '/' | '&' | '・' => self.sign(flag::BREAK, width),
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

    /// Read the text between quotation marks; several words are one value.
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
        } else if run.contains('-') {
            self.mark(flag::BREAK);
        }
        if ends_sentence || ends_clause {
            self.mark(flag::BREAK);
        }
        self.opens_sentence |= ends_sentence;
    }

    fn word(&mut self, word: &str, is_quoted: bool) {
        let is_behind_number = self.pieces.last().is_some_and(|piece| piece.entry.class == class::NUMBER);
        let context = Context { opens_sentence: self.opens_sentence, is_quoted, is_behind_number };
        let mut entries = Vec::new();
        value::read_run(word.trim_end_matches("()"), context, &mut |entry| entries.push(entry));
        for entry in entries {
            self.push(entry);
        }
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
                Script::Hiragana => self.hiragana(part),
                Script::Hangul => self.hangul(part),
                Script::Han | Script::Katakana => self.push(value::value(part, 0)),
            }
        }
    }

    /// Endings and particles; those that are not all grammar count.
    fn hiragana(&mut self, part: &str) {
        let is_grammar = part.chars().all(|c| "でですますはをのがにともしたっているだなうくりきえけせれめ".contains(c));
        let counts = if is_grammar { 0 } else { flag::COUNTS };
        let flags = if negates_in_hiragana(part) { flag::NEGATES } else { flag::FILLER | counts };
        self.push(Entry { key: Term::new(part), flags, class: 0 });
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

/// Return the length of a run; the comma of 1,000 belongs to it.
fn run_length(text: &str) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        length += rest.find(|c| !runs(c)).unwrap_or(rest.len());
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        let behind = &text.as_bytes()[length..];
        let groups =
            behind.first() == Some(&b',') && (1..4).all(|at| is_digit(behind.get(at))) && !is_digit(behind.get(4));
        if !groups || !is_digit(text.as_bytes()[..length].last()) {
            return length;
        }
        length += 1;
    }
}

/// Return the text before, the one that is responsible, and the text behind: 由张三负责.
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
            '零' | '〇' | '一' | '二' | '两' | '三' | '四' | '五' | '六' | '七' | '八' | '九' | '十' | '百' | '千'
            | '万' => Self::Numeral,
            '\u{3041}'..='\u{309F}' => Self::Hiragana,
            '\u{30A0}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' => Self::Katakana,
            '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{AC00}'..='\u{D7AF}' => Self::Hangul,
            _ => Self::Han,
        }
    }
}

/// Return a Korean word without its particles and endings.
fn hangul_stem(word: &str) -> &str {
    const ENDINGS: [&str; 32] = [
        "입니다",
        "합니다",
        "됩니다",
        "한다",
        "하지",
        "했다",
        "하는",
        "하다",
        "된다",
        "이다",
        "으로",
        "에서",
        "에게",
        "부터",
        "까지",
        "이며",
        "하고",
        "해야",
        "은",
        "는",
        "이",
        "가",
        "을",
        "를",
        "의",
        "에",
        "로",
        "와",
        "과",
        "도",
        "만",
        "다",
    ];
    ENDINGS.iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word)
}
