//! The tokenizers against golden values and against slow reference implementations.

mod golden;

use memctx_core::text::{Mode, for_each_token};
use proptest::prelude::*;
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;

fn tokens(text: &str, mode: Mode) -> Vec<String> {
    let mut all = Vec::new();
    for_each_token(text, mode, |token| all.push(token.to_owned()));
    all
}

#[test]
fn golden_tokens() {
    let cases = golden::load("tokens.json");
    for case in cases.as_array().expect("a list") {
        let text = case["text"].as_str().expect("text");
        for (mode, key) in [(Mode::OpenClaw, "openclaw"), (Mode::Memctx, "memctx")] {
            let expected: Vec<&str> =
                case[key].as_array().expect("tokens").iter().map(|token| token.as_str().expect("token")).collect();
            assert_eq!(tokens(text, mode), expected, "{text:?} in {key} mode");
        }
    }
}

#[test]
fn fifty_megabytes_of_one_word_are_one_token() {
    let text = "x".repeat(50 << 20);
    let mut lengths = Vec::new();
    for_each_token(&text, Mode::Memctx, |token| lengths.push(token.len()));
    assert_eq!(lengths, [50 << 20]);
}

/// Return the category of a character, by its first letter.
fn category(c: char) -> char {
    use GeneralCategory as G;
    match get_general_category(c) {
        G::UppercaseLetter | G::LowercaseLetter | G::TitlecaseLetter | G::ModifierLetter | G::OtherLetter => 'L',
        G::DecimalNumber | G::LetterNumber | G::OtherNumber => 'N',
        G::NonspacingMark | G::SpacingMark | G::EnclosingMark => 'M',
        G::Format => 'F',
        G::ConnectorPunctuation
        | G::DashPunctuation
        | G::OpenPunctuation
        | G::ClosePunctuation
        | G::InitialPunctuation
        | G::FinalPunctuation
        | G::OtherPunctuation => 'P',
        _ => 'S',
    }
}

fn push_pairs(all: &mut Vec<String>, run: &mut Vec<char>) {
    for (at, c) in run.iter().enumerate() {
        all.push(c.to_string());
        if at > 0 {
            all.push(run[at - 1..=at].iter().collect());
        }
    }
    run.clear();
}

/// Tokenize by OpenClaw's rules, a character at a time over the lower-cased text.
fn naive_openclaw(text: &str) -> Vec<String> {
    let is_cjk = |c| matches!(c, '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{3000}'..='\u{303F}');
    let is_space = |c: char| c == '\u{FEFF}' || (c.is_whitespace() && c != '\u{85}');
    let (mut all, mut word, mut run) = (Vec::new(), String::new(), Vec::new());
    for c in text.to_lowercase().chars() {
        if is_cjk(c) {
            all.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            run.push(c);
        } else if is_space(c) || category(c) == 'P' {
            push_pairs(&mut all, &mut run);
            all.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        } else if matches!(category(c), 'L' | 'N') {
            push_pairs(&mut all, &mut run);
            word.push(c);
        }
    }
    push_pairs(&mut all, &mut run);
    all.extend((!word.is_empty()).then_some(word));
    all
}

fn naive_is_cjk(c: char) -> bool {
    let blocks = [
        (0x1100, 0x11FF), // jamo
        (0x2E80, 0x2FDF), // radicals
        (0x3005, 0x3007),
        (0x3021, 0x3029),
        (0x3031, 0x3035),
        (0x3038, 0x303C),
        (0x3041, 0x30FF), // kana
        (0x3105, 0x318E), // bopomofo, compatibility jamo
        (0x31A0, 0x31BF),
        (0x31F0, 0x31FF),
        (0x3400, 0x4DBF),
        (0x4E00, 0x9FFF),
        (0xA960, 0xA97F),
        (0xAC00, 0xD7FF), // hangul
        (0xF900, 0xFAFF),
        (0xFF66, 0xFFDC), // half-width
        (0x1_AFF0, 0x1_B16F),
        (0x2_0000, 0x3_FFFF),
    ];
    matches!(category(c), 'L' | 'N') && blocks.iter().any(|&(low, high)| (low..=high).contains(&(c as u32)))
}

/// Split a word by rule 4 of the tokenizer.
fn naive_humps(word: &[char]) -> Vec<Vec<char>> {
    let is_capital = |c: &char| !c.to_lowercase().eq(std::iter::once(*c)) && category(*c) == 'L';
    let is_digit = |c: &char| category(*c) == 'N';
    let is_small = |c: &char| !is_capital(c) && !is_digit(c);
    let mut parts: Vec<Vec<char>> = vec![Vec::new()];
    for (at, c) in word.iter().enumerate() {
        let part = &parts[parts.len() - 1];
        let behind_small = at > 0 && is_small(&word[at - 1]);
        let before_small = word.get(at + 1).is_some_and(is_small);
        let plural = word.get(at + 1) == Some(&'s') && word.get(at + 2).is_none_or(is_capital);
        if is_capital(c) && !part.is_empty() && (behind_small || (before_small && !plural)) {
            parts.push(Vec::new());
        }
        let last = parts.len() - 1;
        parts[last].push(*c);
    }
    parts
}

fn lower(chars: &[char]) -> String {
    chars.iter().flat_map(|c| c.to_lowercase()).filter(|c| category(*c) != 'M').collect()
}

fn push_identifier(all: &mut Vec<String>, words: &mut Vec<Vec<char>>, joints: &mut Vec<char>) {
    let parts: Vec<Vec<char>> = words.iter().flat_map(|word| naive_humps(word)).collect();
    all.extend(parts.iter().map(|part| lower(part)));
    if parts.len() > 1 {
        let mut whole = lower(&words[0]);
        for (joint, word) in joints.iter().zip(&words[1..]) {
            whole.push(*joint);
            whole.push_str(&lower(word));
        }
        all.push(whole);
    }
    words.clear();
    joints.clear();
}

/// Return the rules of the `memctx` mode over the text in NFKC, without thought of speed.
fn naive_memctx(text: &str) -> Vec<String> {
    let text: Vec<char> = text.nfkc().collect();
    let is_word = |c: char| matches!(category(c), 'L' | 'N') && !naive_is_cjk(c);
    let (mut all, mut run) = (Vec::new(), Vec::new());
    let (mut words, mut joints): (Vec<Vec<char>>, Vec<char>) = (Vec::new(), Vec::new());
    for (at, &c) in text.iter().enumerate() {
        if matches!(category(c), 'M' | 'F') {
            continue;
        }
        if !naive_is_cjk(c) {
            push_pairs(&mut all, &mut run);
        }
        let is_joint = "_-./:\\@".contains(c) && text.get(at + 1).is_some_and(|&next| is_word(next));
        if is_word(c) {
            if words.len() == joints.len() {
                words.push(Vec::new());
            }
            let last = words.len() - 1;
            words[last].push(c);
        } else if is_joint && !words.is_empty() {
            joints.push(c);
        } else if !words.is_empty() {
            push_identifier(&mut all, &mut words, &mut joints);
        }
        if naive_is_cjk(c) {
            run.push(c);
        }
    }
    push_pairs(&mut all, &mut run);
    if !words.is_empty() {
        push_identifier(&mut all, &mut words, &mut joints);
    }
    all
}

/// Text with everything the rules speak of close together.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-cs]{1,3}", 3 => "[A-CS]{1,3}", 2 => "[0-9]{1,2}", 3 => "[_./:@\\\\-]{1,2}", 2 => "[ ,=+\u{3000}、]",
        2 => "[飞书々テスーか가한\u{20000}]{1,3}", 1 => "[Ａ－ｚ＿．ﾃｶﾞ㍿ﬁ…①½٣]", 1 => "[\u{301}\u{3099}\u{1161}\u{11A8}ΣσςİŸé]",
        1 => "[\u{200B}\u{AD}\u{0}\u{FEFF}\u{85}😀\u{FE0F}]", 1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Several hundred bytes, nearly all of them common: words of every length, and Han, kana and hangul with what breaks
/// them.
fn long_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        5 => "[飞书消息一龥]{1,9}", 2 => "[のかンー]{1,6}", 2 => "[가한글힝]{1,4}", 3 => "[、。「」，！？“”—…]",
        6 => "[a-z]{1,6}", 3 => "[A-Zs]{1,3}", 2 => "[0-9]{1,3}", 3 => "[_./:@\\\\-]", 6 => "[ ,=+\n\u{0}]{1,2}",
        1 => "[a-zA-Z0-9_./-]{10,90}", 2 => "[éжЖß٣ếक│→]{1,3}", 1 => "[é飞テ한Ａ．、\u{301}\u{93F}😀𠀀]",
    ];
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn openclaw_mode_equals_the_reference_implementation(text in text()) {
        prop_assert_eq!(tokens(&text, Mode::OpenClaw), naive_openclaw(&text));
    }

    #[test]
    fn memctx_mode_equals_the_reference_implementation(text in text()) {
        prop_assert_eq!(tokens(&text, Mode::Memctx), naive_memctx(&text));
    }

    #[test]
    fn long_texts_equal_the_reference_implementation(text in long_text()) {
        prop_assert_eq!(tokens(&text, Mode::Memctx), naive_memctx(&text));
    }

    #[test]
    fn no_token_is_empty(text in ".{0,80}") {
        for mode in [Mode::Memctx, Mode::OpenClaw] {
            prop_assert!(tokens(&text, mode).iter().all(|token| !token.is_empty()));
        }
    }

    /// However a text is composed, search sees the same.
    #[test]
    fn normal_forms_do_not_matter(text in text()) {
        let expected = tokens(&text, Mode::Memctx);
        prop_assert_eq!(&tokens(&text.nfd().collect::<String>(), Mode::Memctx), &expected);
        prop_assert_eq!(&tokens(&text.nfkc().collect::<String>(), Mode::Memctx), &expected);
    }
}
