//! One spelling of a text: what the pieces of an encoder are cut from.

use rustc_hash::FxHashMap;
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

/// Script of a character, as far as a change of it ends a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Hiragana,
    Katakana,
    Han,
    Hangul,
    Other,
}

impl Script {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | '0'..='9' => Self::Latin,
            '\u{3041}'..='\u{309F}' => Self::Hiragana,
            '\u{30A0}'..='\u{30FF}' => Self::Katakana,
            '\u{3005}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' => Self::Han,
            '\u{AC00}'..='\u{D7AF}' => Self::Hangul,
            _ => Self::Other,
        }
    }

    /// Return whether a word ends between two characters of these scripts.
    fn splits(self, next: Self) -> bool {
        use Script::{Han, Hangul, Hiragana, Katakana, Latin};
        let is_japanese = |script| matches!(script, Hiragana | Katakana | Han);
        match (self, next) {
            (Latin, Hiragana | Katakana | Han | Hangul) | (Hiragana | Katakana | Han | Hangul, Latin) => true,
            (a, b) => a != b && is_japanese(a) && is_japanese(b),
        }
    }
}

/// Characters that are written as others: traditional ones as simplified.
#[derive(Clone, Debug, Default)]
pub(super) struct Fold(FxHashMap<char, char>);

impl Fold {
    /// Read pairs of characters, one after the other.
    pub(super) fn new(pairs: &str) -> Self {
        let mut characters = pairs.chars();
        let next = || Some((characters.next()?, characters.next()?));
        Self(std::iter::from_fn(next).collect())
    }
}

/// Return the words of a text in lower case: compatible forms made one, `camelCase` and changes of script split, letters
/// and digits only. Of a long text the first `most` characters count.
pub(super) fn words(text: &str, most: usize, fold: &Fold) -> Vec<String> {
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    let characters: Vec<char> = text[..end].nfkc().collect();
    let mut words = vec![String::new()];
    let mut last = None;
    for (at, &c) in characters.iter().enumerate() {
        if at > 0 && is_hump(characters[at - 1], c, characters.get(at + 1).copied()) {
            last = None;
            words.push(String::new());
        }
        for lower in c.to_lowercase() {
            let lower = fold.0.get(&lower).copied().unwrap_or(lower);
            if !is_word(lower) {
                last = None;
                words.push(String::new());
                continue;
            }
            let script = Script::of(lower);
            if last.is_some_and(|last: Script| last.splits(script)) {
                words.push(String::new());
            }
            last = Some(script);
            if let Some(word) = words.last_mut() {
                word.push(lower);
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Return whether a word of an identifier begins with `c`.
fn is_hump(before: char, c: char, after: Option<char>) -> bool {
    let ends = before.is_ascii_lowercase() || before.is_ascii_digit();
    let is_acronym_over = before.is_ascii_uppercase() && after.is_some_and(|after| after.is_ascii_lowercase());
    c.is_ascii_uppercase() && (ends || is_acronym_over)
}

/// Return whether a character is a letter or a number.
fn is_word(c: char) -> bool {
    use GeneralCategory::{
        DecimalNumber, LetterNumber, LowercaseLetter, ModifierLetter, OtherLetter, OtherNumber, TitlecaseLetter,
        UppercaseLetter,
    };
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    matches!(
        get_general_category(c),
        UppercaseLetter
            | LowercaseLetter
            | TitlecaseLetter
            | ModifierLetter
            | OtherLetter
            | DecimalNumber
            | LetterNumber
            | OtherNumber
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_scripts_and_punctuation_split_words() {
        let fold = Fold::new("國国體体");
        let of = |text| words(text, 1_000, &fold).join(" ");
        assert_eq!(of("parseHTTPResponse_v2(x)"), "parse http response v2 x");
        assert_eq!(of("中國API接口"), "中国 api 接口");
        assert_eq!(of("データベースの接続が切れた"), "データベース の 接続 が 切 れた");
        assert_eq!(of("서버2대"), "서버 2 대");
        assert_eq!(of("Ｆｕｌｌ　width № ½"), "full width no 1 2");
        assert_eq!(of("…"), "");
        assert_eq!(words("one two", 3, &fold), ["one"]);
    }
}
