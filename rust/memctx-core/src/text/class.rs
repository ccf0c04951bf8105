//! Character classes of the tokenizers, one byte each; shared with `build.rs`, which fills the table.

/// Bits of the byte that hold a [`Class`].
pub(super) const CLASS: u8 = 0b0111;
/// Set when the text must be brought into NFKC before the class holds.
pub(super) const FOLDS: u8 = 0b1000;
/// Shift of the [`OpenClawClass`], three bits wide.
pub(super) const OPENCLAW_SHIFT: u8 = 4;
/// Set for letters and numbers of every script.
pub(super) const WORD: u8 = 0b1000_0000;

/// The part a character plays for the `memctx` tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// Ends a word and a chain of CJK pairs.
    Break = 0,
    /// A letter that lower-casing leaves alone.
    Lower = 1,
    /// A letter that lower-casing changes.
    Upper = 2,
    /// A number of any script.
    Digit = 3,
    /// Han, kana, hangul or bopomofo: a token by itself, and with its neighbor.
    Cjk = 4,
    /// A mark or an invisible format character: read over.
    Skip = 5,
    /// A full-width ASCII character: stands for its narrow form.
    Wide = 6,
    /// One of `_ - . / : \ @`, which join words to an identifier.
    Connector = 7,
}

/// The part a character plays for the OpenClaw tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum OpenClawClass {
    /// White space or punctuation: ends a word and a chain of pairs.
    Break = 0,
    /// A letter or number that lower-casing leaves alone.
    Word = 1,
    /// A character that lower-casing changes.
    Lowers = 2,
    /// Han of the first two blocks, or CJK punctuation.
    Cjk = 3,
    /// Anything else: read over, ends nothing.
    Skip = 4,
}

impl Class {
    /// Return the class kept in a table byte.
    pub(super) const fn of(byte: u8) -> Self {
        match byte & CLASS {
            1 => Self::Lower,
            2 => Self::Upper,
            3 => Self::Digit,
            4 => Self::Cjk,
            5 => Self::Skip,
            6 => Self::Wide,
            7 => Self::Connector,
            _ => Self::Break,
        }
    }
}

impl OpenClawClass {
    /// Return the class kept in a table byte.
    pub(super) const fn of(byte: u8) -> Self {
        match byte >> OPENCLAW_SHIFT & 0b111 {
            1 => Self::Word,
            2 => Self::Lowers,
            3 => Self::Cjk,
            4 => Self::Skip,
            _ => Self::Break,
        }
    }
}

/// White space by the rules of JavaScript.
pub(crate) const fn is_js_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ' | '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{2028}' | '\u{2029}'
        | '\u{202F}' | '\u{205F}' | '\u{3000}' | '\u{FEFF}')
}
