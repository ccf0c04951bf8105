//! Generates tables: one byte for each code point, so that the tokenizer looks a character up once, and the word lists
//! and token formats of the data files.
//!
//! The byte's meaning is fixed in `src/text/class.rs`, which this file includes to stay in step with it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use unicode_general_category::{GeneralCategory as Category, get_general_category};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

#[allow(dead_code)]
#[path = "src/text/class.rs"]
mod class;

#[path = "build/redact.rs"]
mod redact;

#[path = "build/words.rs"]
mod words;

use class::{Class, FOLDS, OPENCLAW_SHIFT, OpenClawClass, WORD};

const PAGE: usize = 256;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/text/class.rs");
    println!("cargo::rerun-if-changed=build/redact.rs");
    for file in redact::FILES {
        println!("cargo::rerun-if-changed={file}");
    }
    println!("cargo::rerun-if-changed=build/words.rs");
    for (file, _) in words::FILES {
        println!("cargo::rerun-if-changed={file}");
    }
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    std::fs::write(Path::new(&out).join("classes.rs"), tables()).expect("OUT_DIR is writable");
    std::fs::write(Path::new(&out).join("redact.rs"), redact::tables(Path::new(&root))).expect("OUT_DIR is writable");
    for (file, generated) in words::FILES {
        let source = words::tables(Path::new(&root), file);
        std::fs::write(Path::new(&out).join(generated), source).expect("OUT_DIR is writable");
    }
}

fn tables() -> String {
    let mut pages: Vec<Vec<u8>> = Vec::new();
    let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut index = Vec::new();
    for start in (0..0x11_0000).step_by(PAGE) {
        let page: Vec<u8> = (start..start + PAGE).map(|code| byte_of(code as u32)).collect();
        let number = *numbers.entry(page.clone()).or_insert_with(|| {
            pages.push(page);
            pages.len() - 1
        });
        index.push(number);
    }
    let mut source = String::new();
    writeln!(source, "static PAGE_OF: [u16; {}] = {index:?};", index.len()).expect("strings grow");
    writeln!(source, "static PAGES: [[u8; {PAGE}]; {}] = {pages:?};", pages.len()).expect("strings grow");
    writeln!(source, "static MAY_FOLD: [bool; 256] = {:?};", may_fold()).expect("strings grow");
    source
}

/// Return for each first byte of a UTF-8 sequence whether any character that starts with it can need folding.
fn may_fold() -> Vec<bool> {
    let mut table = vec![false; 256];
    let mut buffer = [0; 4];
    for code in 0x80..0x11_0000 {
        if let Some(c) = char::from_u32(code) {
            let lead = usize::from(c.encode_utf8(&mut buffer).as_bytes()[0]);
            table[lead] |= byte_of(code) & FOLDS != 0;
        }
    }
    table
}

fn byte_of(code: u32) -> u8 {
    char::from_u32(code).map_or(Class::Break as u8, |c| {
        let category = get_general_category(c);
        let word = if is_letter(category) || is_number(category) { WORD } else { 0 };
        class_of(c) | (openclaw_class_of(c) as u8) << OPENCLAW_SHIFT | word
    })
}

fn class_of(c: char) -> u8 {
    if ('\u{FF01}'..='\u{FF5E}').contains(&c) {
        return Class::Wide as u8;
    }
    let class = class_when_folded(c);
    let is_normal = is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes;
    if is_normal && canonical_combining_class(c) == 0 {
        return class as u8;
    }
    if is_part_of_words(c) { class as u8 | FOLDS } else { Class::Break as u8 }
}

/// Return whether a character that NFKC changes, or that changes a neighbor, can do anything but end a word. An
/// ellipsis cannot: it folds to three full stops, and only a single one joins words.
fn is_part_of_words(c: char) -> bool {
    let folded: Vec<Class> = std::iter::once(c).nfkc().map(class_when_folded).collect();
    let may_compose = is_nfkc_quick(std::iter::once(c)) == IsNormalized::Maybe;
    may_compose
        || folded == [Class::Connector]
        || folded.iter().any(|class| !matches!(class, Class::Break | Class::Connector))
}

fn class_when_folded(c: char) -> Class {
    if matches!(c, '_' | '-' | '.' | '/' | ':' | '\\' | '@') {
        return Class::Connector;
    }
    let category = get_general_category(c);
    if is_letter(category) || is_number(category) {
        return match c {
            c if is_cjk(c) => Class::Cjk,
            _ if is_number(category) => Class::Digit,
            c if lowers(c) => Class::Upper,
            _ => Class::Lower,
        };
    }
    if is_mark(category) || category == Category::Format { Class::Skip } else { Class::Break }
}

fn openclaw_class_of(c: char) -> OpenClawClass {
    let category = get_general_category(c);
    match c {
        '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{3000}'..='\u{303F}' => OpenClawClass::Cjk,
        c if class::is_js_space(c) || is_punctuation(category) => OpenClawClass::Break,
        c if lowers(c) => OpenClawClass::Lowers,
        _ if is_letter(category) || is_number(category) => OpenClawClass::Word,
        _ => OpenClawClass::Skip,
    }
}

/// Han, kana, hangul and bopomofo, given that `c` is a letter or a number.
fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11FF}' | '\u{2E80}'..='\u{2FDF}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3031}'..='\u{3035}' | '\u{3038}'..='\u{303C}' | '\u{3041}'..='\u{30FF}' | '\u{3105}'..='\u{312F}'
        | '\u{3131}'..='\u{318E}' | '\u{31A0}'..='\u{31BF}' | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}' | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FFDC}' | '\u{1AFF0}'..='\u{1B16F}' | '\u{20000}'..='\u{3FFFF}')
}

fn lowers(c: char) -> bool {
    !c.to_lowercase().eq(std::iter::once(c))
}

fn is_letter(category: Category) -> bool {
    use Category::{LowercaseLetter, ModifierLetter, OtherLetter, TitlecaseLetter, UppercaseLetter};
    matches!(category, LowercaseLetter | ModifierLetter | OtherLetter | TitlecaseLetter | UppercaseLetter)
}

fn is_number(category: Category) -> bool {
    matches!(category, Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber)
}

fn is_mark(category: Category) -> bool {
    matches!(category, Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark)
}

fn is_punctuation(category: Category) -> bool {
    use Category::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation, InitialPunctuation, OpenPunctuation,
        OtherPunctuation,
    };
    matches!(
        category,
        ClosePunctuation
            | ConnectorPunctuation
            | DashPunctuation
            | FinalPunctuation
            | InitialPunctuation
            | OpenPunctuation
            | OtherPunctuation
    )
}
