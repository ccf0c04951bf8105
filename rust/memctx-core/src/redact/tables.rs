//! Tables that the build script makes of the files under `data`: formats of tokens, lists of words.

use super::key::Named;
use super::rule::{Judge, Rule};
use super::span::Rank;
use super::value::Proof;

include!(concat!(env!("OUT_DIR"), "/redact.rs"));

/// Return whether a list holds the word, in any case of its ASCII letters. Lists are sorted and lower case.
pub(super) fn holds(list: &[&str], word: &[u8]) -> bool {
    list.binary_search_by(|entry| entry.bytes().cmp(word.iter().map(u8::to_ascii_lowercase))).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_many_and_start_where_their_anchors_say() {
        assert!(FORMATS.len() > 300);
        for rule in FORMATS {
            assert!(!rule.anchors.is_empty(), "{}", rule.kind);
            assert!(rule.back > 0 || rule.anchors.iter().all(|anchor| anchor.len() > 1), "{}", rule.kind);
        }
    }

    #[test]
    fn formats_become_patterns_with_anchors() {
        let of = |kind: &str| FORMATS.iter().find(|rule| rule.kind == kind).expect("the kind is known");
        let github = of("github_token");
        assert_eq!(github.anchors, ["gho_", "ghp_", "ghr_", "ghs_", "ghu_"]);
        assert_eq!(github.pattern, r"gh(?:o|p|r|s|u)_[A-Za-z0-9_.]{30,}");
        let terraform = of("terraform_token");
        assert_eq!((terraform.anchors, terraform.back), (&[".atlasv1."][..], 14));
        let maxmind = of("maxmind_key");
        assert_eq!((maxmind.anchors, maxmind.back), (&["_mmk"][..], 36));
        let telegram = FORMATS.iter().rfind(|rule| rule.kind == "telegram_token").expect("the kind is known");
        assert_eq!((telegram.anchors, telegram.back), (&[":A"][..], 19));
    }

    #[test]
    fn lists_are_searched_in_any_case() {
        assert!(holds(ABOUT, b"FingerPrint"));
        assert!(!holds(ABOUT, b"finger"));
    }
}
