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

/// Call `see` with the forms that a word may also have; some come twice, and many do not exist.
///
/// A word and its forms mean the same to a search; what no text holds costs nothing but a look.
pub(crate) fn for_each_form(word: &str, mut see: impl FnMut(&str)) {
    if !LENGTHS.contains(&word.len()) || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    let mut form = String::with_capacity(word.len() + 4);
    let mut offer = |stem: &str, ending: &str| {
        form.clear();
        form.push_str(stem);
        form.push_str(ending);
        if form != word {
            see(&form);
        }
    };
    for_each_stem(word, |stem| {
        for ending in ["", "s", "es", "ed", "ing"] {
            offer(stem, ending);
        }
        if let Some(root) = stem.strip_suffix('e') {
            offer(root, "ed");
            offer(root, "ing");
        }
        if let Some(root) = stem.strip_suffix('y') {
            offer(root, "ies");
            offer(root, "ied");
        }
    });
}

/// Call `see` with what a word may be without its ending.
fn for_each_stem(word: &str, mut see: impl FnMut(&str)) {
    const SHORTEST: usize = 3;
    see(word);
    for (ending, end) in ENDINGS {
        let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() + end.len() >= SHORTEST) else { continue };
        if !end.is_empty() {
            see(&format!("{stem}{end}"));
            continue;
        }
        see(stem);
        // A doubled consonant belongs to the ending: planned, plan.
        let bytes = stem.as_bytes();
        if bytes.len() > SHORTEST && bytes[bytes.len() - 1] == bytes[bytes.len() - 2] {
            see(&stem[..stem.len() - 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(word: &str) -> Vec<String> {
        let mut forms = Vec::new();
        for_each_form(word, |form| forms.push(form.to_owned()));
        forms
    }

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
    fn tokens_that_are_no_words_have_no_other_forms() {
        for word in ["api", "payment_webhook", "飞书消息", "x1y2", "Support", "", "abcdefghijklmnopqrstuvwxyz"] {
            assert!(forms(word).is_empty(), "{word}");
        }
        assert!(forms("deploy").iter().all(|form| form != "deploy"));
    }
}
