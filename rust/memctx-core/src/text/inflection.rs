//! Other forms of an English word, by rule and without a dictionary.

/// Endings and what a word may have ended in without them.
const ENDINGS: [(&str, &str); 10] = [
    ("ies", "y"),
    ("ied", "y"),
    ("es", ""),
    ("es", "e"),
    ("s", ""),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
    ("ly", ""),
];

/// Shorter words change too much, longer ones are no words.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=20;

/// The forms that a word may also have, each once; many of them do not exist.
///
/// A word and its forms mean the same to a search; what no text holds costs nothing but a look.
pub(crate) fn forms(word: &str) -> Vec<String> {
    if !LENGTHS.contains(&word.len()) || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Vec::new();
    }
    let mut forms: Vec<String> = Vec::new();
    let mut add = |form: String| {
        if form != word && !forms.contains(&form) {
            forms.push(form);
        }
    };
    for stem in stems(word) {
        for ending in ["", "s", "es", "ed", "ing"] {
            add(format!("{stem}{ending}"));
        }
        if let Some(root) = stem.strip_suffix('e') {
            add(format!("{root}ed"));
            add(format!("{root}ing"));
        }
        if let Some(root) = stem.strip_suffix('y') {
            add(format!("{root}ies"));
            add(format!("{root}ied"));
        }
    }
    forms
}

/// What a word may be without its ending.
fn stems(word: &str) -> Vec<String> {
    const SHORTEST: usize = 3;
    let mut stems = vec![word.to_owned()];
    let shorter = ENDINGS.iter().filter_map(|(ending, end)| Some(format!("{}{end}", word.strip_suffix(ending)?)));
    for stem in shorter.filter(|stem| stem.len() >= SHORTEST) {
        // A doubled consonant belongs to the ending: planned, plan.
        let bytes = stem.as_bytes();
        if bytes.len() > SHORTEST && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] {
            stems.push(stem[..stem.len() - 1].to_owned());
        }
        stems.push(stem);
    }
    stems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_to_their_other_forms() {
        for (word, other) in [
            ("support", "supports"),
            ("supports", "supporting"),
            ("planned", "plan"),
            ("cities", "city"),
            ("city", "cities"),
            ("deploying", "deployed"),
            ("caches", "cache"),
            ("cache", "caching"),
        ] {
            assert!(forms(word).iter().any(|form| form == other), "{word} {other}");
        }
    }

    #[test]
    fn what_is_no_word_has_no_other_forms() {
        for word in ["api", "payment_webhook", "飞书消息", "x1y2", "Support", "", "abcdefghijklmnopqrstuvwxyz"] {
            assert!(forms(word).is_empty(), "{word}");
        }
        assert!(forms("deploy").iter().all(|form| form != "deploy"));
    }
}
