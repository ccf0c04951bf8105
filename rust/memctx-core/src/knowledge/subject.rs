//! What a question in Chinese, Japanese or Korean is about, without what makes it a question.
//!
//! English words of that kind are told by [`crate::text::is_filler`] one by one. Here they run into their neighbours, and
//! every pair of characters across such a seam would count as a word that no fact has.

use std::borrow::Cow;

use crate::text::is_cjk;

/// Chinese and Japanese words that ask or hold a sentence together; of two that begin alike the longer comes first.
const HAN: [&str; 43] = [
    "为什么",
    "怎么样",
    "怎么",
    "怎样",
    "什么",
    "如何",
    "多少",
    "多久",
    "多大",
    "几点",
    "几个",
    "哪一个",
    "哪个",
    "哪些",
    "哪里",
    "哪儿",
    "是不是",
    "是否",
    "有没有",
    "能不能",
    "可不可以",
    "可以",
    "请问",
    "告诉",
    "一下",
    "我们",
    "你们",
    "他们",
    "这个",
    "那个",
    "现在",
    "目前",
    "后来",
    "谁",
    "吗",
    "呢",
    "吧",
    "啊",
    "么",
    "的",
    "了",
    "是",
    "何",
];

/// Korean words that ask.
const ASKING: [&str; 15] = [
    "얼마나",
    "얼마",
    "무엇을",
    "무엇",
    "무슨",
    "어디에서",
    "어디",
    "언제",
    "누가",
    "누구",
    "어떻게",
    "어떤",
    "뭐예요",
    "왜",
    "몇",
];

/// What stands behind a Korean word, the longer first.
const ENDINGS: [&str; 42] = [
    "하나요",
    "했나요",
    "되나요",
    "인가요",
    "한가요",
    "이에요",
    "입니까",
    "습니까",
    "합니까",
    "됩니까",
    "습니다",
    "합니다",
    "입니다",
    "에서는",
    "나요",
    "가요",
    "까요",
    "세요",
    "해요",
    "어요",
    "아요",
    "예요",
    "에서",
    "으로",
    "에게",
    "까지",
    "부터",
    "이나",
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "의",
    "에",
    "로",
    "도",
    "와",
    "과",
    "만",
    "요",
];

/// The question with a space in place of each.
pub(super) fn subject(question: &str) -> Cow<'_, str> {
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
        } else if let Some(word) = HAN.iter().find(|word| rest.starts_with(**word)) {
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

/// A Korean word without its ending. What is left must be a word: a short ending may be part of a short one.
fn stem(word: &str) -> &str {
    if ASKING.contains(&word) {
        return "";
    }
    let is_ending = |ending: &&&str| word.ends_with(**ending);
    let Some(ending) = ENDINGS.iter().find(is_ending) else { return word };
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
    fn what_asks_is_left_out() {
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
        for words in [&HAN[..], &ENDINGS] {
            for (place, word) in words.iter().enumerate() {
                assert!(!words[..place].contains(word), "{word} twice");
            }
        }
        for (place, word) in HAN.iter().enumerate() {
            assert!(HAN[..place].iter().all(|earlier| !word.starts_with(earlier)), "{word} is never reached");
        }
        for (place, ending) in ENDINGS.iter().enumerate() {
            assert!(ENDINGS[..place].iter().all(|earlier| !ending.ends_with(earlier)), "{ending} is never reached");
        }
    }
}
