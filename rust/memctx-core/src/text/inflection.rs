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

/// Endings of nouns made of verbs, the fewest letters before them, and what the verb may end in.
const DERIVED: [(&str, usize, &[&str]); 10] = [
    ("ment", 4, &["", "e"]),
    ("ation", 4, &["", "e", "ate"]),
    ("ion", 5, &["", "e"]),
    ("sion", 4, &["t", "d", "de"]),
    ("al", 5, &["", "e"]),
    ("age", 4, &["", "e"]),
    ("ure", 5, &["", "e"]),
    ("ance", 5, &["", "e"]),
    ("er", 4, &["", "e"]),
    ("or", 5, &["", "e"]),
];

/// Call `see` with the words that may belong to the family of a word: deploy, deployed, deployment, deployments. They
/// are the forms of the word, of the verb that it may be made of, and of the nouns that this verb may make.
pub(crate) fn for_each_relative(word: &str, mut see: impl FnMut(&str)) {
    for_each_form(word, &mut see);
    if !LENGTHS.contains(&word.len()) || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    let mut verbs: Vec<String> = Vec::new();
    for_each_stem(word, |stem| {
        verbs.push(stem.to_owned());
        for (ending, shortest, ends) in DERIVED {
            let Some(root) = stem.strip_suffix(ending).filter(|root| root.len() >= shortest) else { continue };
            verbs.extend(ends.iter().map(|end| format!("{root}{end}")));
            // A doubled consonant belongs to the ending: scanner, scan.
            let bytes = root.as_bytes();
            if bytes[bytes.len() - 1] == bytes[bytes.len() - 2] {
                verbs.push(root[..root.len() - 1].to_owned());
            }
        }
    });
    verbs.sort_unstable();
    verbs.dedup();
    for verb in verbs.iter().filter(|verb| verb.len() > 3) {
        for_each_form(verb, &mut see);
        see(verb);
        let last = &verb[verb.len() - 1..];
        for (ending, shortest, ends) in DERIVED {
            for root in ends.iter().filter_map(|end| verb.strip_suffix(end)).filter(|root| root.len() >= shortest) {
                see(&format!("{root}{ending}"));
                see(&format!("{root}{ending}s"));
            }
            see(&format!("{verb}{last}{ending}"));
            see(&format!("{verb}{last}{ending}s"));
        }
    }
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
    fn words_of_a_family_lead_to_one_another() {
        let relatives = |word: &str| {
            let mut relatives = Vec::new();
            for_each_relative(word, |relative| relatives.push(relative.to_owned()));
            relatives
        };
        for family in [
            &["deploy", "deploys", "deployed", "deploying", "deployment", "deployments"][..],
            &["migrate", "migrated", "migration", "migrations"],
            &["configure", "configured", "configuration", "configurations"],
            &["validate", "validates", "validation", "validator"],
            &["scan", "scans", "scanning", "scanner", "scanners"],
            &["approve", "approved", "approval", "approvals"],
            &["encrypt", "encrypted", "encryption"],
            &["import", "imports", "importer", "importers"],
            &["manage", "management", "manager", "managers"],
            &["delete", "deletes", "deletion", "deletions"],
            &["convert", "converted", "conversion", "conversions"],
            &["decide", "decided", "decision", "decisions"],
            &["store", "stored", "storage"],
        ] {
            for word in family {
                for other in family.iter().filter(|other| *other != word) {
                    assert!(relatives(word).iter().any(|relative| relative == other), "{word} {other}");
                }
            }
        }
        for (word, other) in
            [("port", "portion"), ("port", "portal"), ("use", "user"), ("order", "ordinal"), ("test", "testament")]
        {
            assert!(!relatives(word).iter().any(|relative| relative == other), "{word} {other}");
        }
        assert!(relatives("cafés").is_empty() && relatives("x86").is_empty());
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
