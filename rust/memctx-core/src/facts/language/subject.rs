//! Subject of a question in Chinese, Japanese or Korean, without its question words.
//!
//! English words of that kind are identified by [`crate::text::is_filler`] one by one. Here they run into their
//! neighbors, and every pair of characters across such a seam would count as a word that no fact has.

use std::borrow::Cow;

use super::tables::{KOREAN_ENDINGS, KOREAN_QUESTION_WORDS, QUESTION_WORDS};
use crate::text::is_cjk;

/// Return the question with a space in place of each.
pub(in crate::facts) fn subject(question: &str) -> Cow<'_, str> {
    if !question.contains(is_cjk) {
        return Cow::Borrowed(question);
    }
    let mut subject = String::with_capacity(question.len());
    let mut rest = question;
    while let Some(c) = rest.chars().next() {
        let taken = if is_hangul(c) {
            let end = rest.find(|c| !is_hangul(c)).unwrap_or(rest.len());
            subject.push_str(stem(&rest[..end]));
            end
        } else if let Some(word) = QUESTION_WORDS.iter().find(|word| rest.starts_with(**word)) {
            subject.push(' ');
            word.len()
        } else {
            subject.push(if is_hiragana(c) { ' ' } else { c });
            c.len_utf8()
        };
        rest = &rest[taken..];
    }
    Cow::Owned(subject)
}

/// Return a Korean word without its ending. What is left must be a word: a short ending may be part of a short one.
fn stem(word: &str) -> &str {
    if KOREAN_QUESTION_WORDS.contains(&word) {
        return "";
    }
    let is_ending = |ending: &&&str| word.ends_with(**ending);
    let Some(ending) = KOREAN_ENDINGS.iter().find(is_ending) else { return word };
    let stem = &word[..word.len() - ending.len()];
    if ending.chars().count() == 1 && stem.chars().count() < 2 { word } else { stem }
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{AC00}'..='\u{D7A3}')
}

fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_words_are_left_out() {
        for (question, wanted) in [
            ("Which port?", "Which port?"),
            ("前端用的什么组件库", "前端用  组件库"),
            ("認証には何を使っていますか", "認証    使      "),
            ("로그는 얼마나 보관하나요?", "로그  보관?"),
            ("속도는 왜 느린가요", "속도  느린"),
            ("", ""),
        ] {
            assert_eq!(subject(question), wanted);
        }
    }

    #[test]
    fn the_longer_of_two_that_begin_alike_comes_first() {
        for words in [QUESTION_WORDS, KOREAN_ENDINGS] {
            for (index, word) in words.iter().enumerate() {
                assert!(!words[..index].contains(word), "{word} twice");
            }
        }
        for (index, word) in QUESTION_WORDS.iter().enumerate() {
            assert!(
                QUESTION_WORDS[..index].iter().all(|earlier| !word.starts_with(earlier)),
                "{word} is never reached"
            );
        }
        for (index, ending) in KOREAN_ENDINGS.iter().enumerate() {
            assert!(
                KOREAN_ENDINGS[..index].iter().all(|earlier| !ending.ends_with(earlier)),
                "{ending} is never reached"
            );
        }
    }
}
