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

/// Endings of nouns made of verbs, and the fewest letters before them.
const DERIVED: [(&str, usize); 6] = [("ation", 4), ("ment", 4), ("ion", 5), ("age", 4), ("er", 4), ("or", 5)];

/// Words that only look as if they were made of another.
const UNDERIVED: [&str; 9] =
    ["production", "question", "message", "package", "letter", "master", "number", "moment", "segment"];

/// Words of a family that no rule knows, with the verb.
const IRREGULAR: [(&str, &str); 3] = [("failure", "fail"), ("expiry", "expire"), ("retention", "retain")];

/// Call `see` with the keys of a word's family, mostly one; words of a family have one in common: deploy, deployed,
/// deployment, deployments.
pub(crate) fn for_each_family(word: &str, mut see: impl FnMut(&str)) {
    if !LENGTHS.contains(&word.len()) || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    let plain = word.strip_suffix('s').filter(|plain| plain.len() > 3 && !plain.ends_with(['s', 'u', 'i']));
    let plain = plain.unwrap_or(word);
    if UNDERIVED.contains(&plain) {
        return see(plain);
    }
    if let Some((_, verb)) = IRREGULAR.iter().find(|(noun, _)| *noun == plain) {
        return see(root(verb));
    }
    if let Some(stem) = plain.strip_suffix("ie").or_else(|| plain.strip_suffix("ied")).filter(|stem| stem.len() > 2) {
        return see(&format!("{stem}y"));
    }
    if let Some(stem) = plain.strip_suffix("sion").filter(|stem| stem.len() > 3) {
        // Conversion and convert, extension and extend, decision and decide.
        see(&format!("{stem}t"));
        see(&format!("{stem}d"));
    }
    // Approval and approve, proposal and propose, but neither portal nor general.
    let plain =
        plain.strip_suffix("al").filter(|stem| stem.len() > 4 && stem.ends_with(['v', 'w', 's'])).unwrap_or(plain);
    see(root(plain));
}

/// Return what the words of a family have in common.
fn root(word: &str) -> &str {
    let verb = ["ing", "ed"].iter().find_map(|ending| word.strip_suffix(ending)).filter(|stem| stem.len() > 2);
    let verb = verb.map_or(word, without_double);
    let derived =
        DERIVED.iter().find_map(|&(ending, least)| verb.strip_suffix(ending).filter(|stem| stem.len() >= least));
    let root = derived.map_or(verb, without_double);
    let root =
        ["ate", "at"].iter().find_map(|ending| root.strip_suffix(ending)).filter(|stem| stem.len() > 3).unwrap_or(root);
    root.strip_suffix('e').filter(|stem| stem.len() > 2).unwrap_or(root)
}

/// Return a stem without the consonant that an ending doubled: scanner, scan; but call and pass.
fn without_double(stem: &str) -> &str {
    match stem.as_bytes() {
        [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'e') && stem.len() > 3 => &stem[..stem.len() - 1],
        _ => stem,
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
    fn words_of_a_family_have_a_key_in_common() {
        let keys = |word: &str| {
            let mut keys = Vec::new();
            for_each_family(word, |key| keys.push(key.to_owned()));
            keys
        };
        let is_related = |a: &str, b: &str| keys(a).iter().any(|key| keys(b).contains(key));
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
            &["retry", "retries", "retried"],
            &["fail", "fails", "failure", "failures"],
            &["call", "calls", "called", "caller"],
        ] {
            for word in family {
                assert!(
                    family.iter().all(|other| is_related(word, other)),
                    "{word}: {:?}",
                    family.iter().map(|word| keys(word)).collect::<Vec<_>>()
                );
            }
        }
        for (word, other) in [
            ("port", "portion"),
            ("port", "portal"),
            ("user", "uses"),
            ("product", "production"),
            ("general", "generate"),
            ("import", "importance"),
            ("auth", "author"),
            ("pass", "passion"),
        ] {
            assert!(!is_related(word, other), "{word} {other}");
        }
        assert!(keys("cafés").is_empty() && keys("x86").is_empty());
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
