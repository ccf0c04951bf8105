//! BERT's pre-tokenizer: words cleaned, without accents, in lower case, punctuation by itself.

use std::ops::ControlFlow;

use serde::Deserialize;
use unicode_general_category::{GeneralCategory as Category, get_general_category};
use unicode_normalization::char::decompose_canonical;

/// Normalization before a text is cut into pieces, with the names of a `BertNormalizer`.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct Rules {
    clean_text: bool,
    handle_chinese_chars: bool,
    #[serde(default)]
    strip_accents: Option<bool>,
    lowercase: bool,
}

/// Cuts a text into words.
#[derive(Debug)]
pub(super) struct Words {
    rules: Rules,
    /// Most text is ASCII, so what becomes of that is looked up.
    ascii: [Role; 128],
}

/// Treatment of a character.
#[derive(Clone, Copy, Debug)]
enum Role {
    Dropped,
    White,
    Alone(char),
    Within(char),
}

/// A word in the making, kept only as far as it may count.
struct Word {
    text: String,
    chars: usize,
    most: usize,
}

impl Words {
    pub(super) fn new(rules: Rules) -> Self {
        let ascii = std::array::from_fn(|code| {
            let c = char::from(code as u8);
            if rules.clean_text && is_dropped(c) {
                return Role::Dropped;
            }
            role_of(if rules.lowercase { c.to_ascii_lowercase() } else { c })
        });
        Self { rules, ascii }
    }

    /// Show every word in order until asked to stop; none instead of one with more than `most` characters.
    pub(super) fn for_each(
        &self,
        text: &str,
        most: usize,
        mut see: impl FnMut(Option<&str>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut word = Word { text: String::with_capacity(32), chars: 0, most };
        let mut folded = Vec::new();
        for c in text.chars() {
            if let Some(&role) = self.ascii.get(c as usize) {
                word.take(role, &mut see)?;
                continue;
            }
            if self.rules.clean_text && is_dropped(c) {
                continue;
            }
            let is_apart = self.rules.handle_chinese_chars && is_chinese(c);
            folded.clear();
            self.fold(c, &mut folded);
            if is_apart {
                word.take(Role::White, &mut see)?;
            }
            for &c in &folded {
                word.take(role_of(c), &mut see)?;
            }
            if is_apart {
                word.take(Role::White, &mut see)?;
            }
        }
        word.take(Role::White, &mut see)
    }

    fn fold(&self, c: char, into: &mut Vec<char>) {
        let mut lower = |c: char| if self.rules.lowercase { into.extend(c.to_lowercase()) } else { into.push(c) };
        if !self.rules.strip_accents.unwrap_or(self.rules.lowercase) {
            return lower(c);
        }
        decompose_canonical(c, |c| {
            if get_general_category(c) != Category::NonspacingMark {
                lower(c);
            }
        });
    }
}

impl Word {
    #[inline]
    fn take(&mut self, role: Role, see: &mut impl FnMut(Option<&str>) -> ControlFlow<()>) -> ControlFlow<()> {
        match role {
            Role::Dropped => ControlFlow::Continue(()),
            Role::White => self.finish(see),
            Role::Alone(c) => {
                self.finish(see)?;
                self.push(c);
                self.finish(see)
            }
            Role::Within(c) => {
                self.push(c);
                ControlFlow::Continue(())
            }
        }
    }

    #[inline]
    fn push(&mut self, c: char) {
        self.chars += 1;
        if self.chars <= self.most {
            self.text.push(c);
        }
    }

    fn finish(&mut self, see: &mut impl FnMut(Option<&str>) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.chars == 0 {
            return ControlFlow::Continue(());
        }
        let flow = see((self.chars <= self.most).then_some(&self.text));
        self.text.clear();
        self.chars = 0;
        flow
    }
}

fn role_of(c: char) -> Role {
    match c {
        c if c.is_whitespace() => Role::White,
        c if is_punctuation(c) => Role::Alone(c),
        c => Role::Within(c),
    }
}

/// Controls, invisible characters and those of private use.
fn is_dropped(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\u{FFFD}' => true,
        c => matches!(get_general_category(c), Category::Control | Category::Format | Category::PrivateUse),
    }
}

fn is_punctuation(c: char) -> bool {
    use Category::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation, InitialPunctuation, OpenPunctuation,
        OtherPunctuation,
    };
    if c.is_ascii() {
        return c.is_ascii_punctuation();
    }
    matches!(
        get_general_category(c),
        ClosePunctuation
            | ConnectorPunctuation
            | DashPunctuation
            | FinalPunctuation
            | InitialPunctuation
            | OpenPunctuation
            | OtherPunctuation
    )
}

/// Han, each of which is a word.
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{2A6DF}'
        | '\u{2A700}'..='\u{2B81F}' | '\u{2B920}'..='\u{2CEAF}' | '\u{2F800}'..='\u{2FA1F}')
}
