//! English stemmer.

use std::borrow::Cow;

/// Return the stem of a word in lower case, which need not be a word itself.
pub(super) fn stem(word: &str) -> Cow<'_, str> {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    let word = singular(word);
    if let Some(root) = word.strip_suffix("ies").or_else(|| word.strip_suffix("ied")).filter(|root| root.len() > 1) {
        return Cow::Owned(format!("{root}y"));
    }
    let root = [("ation", 4), ("ment", 4), ("ion", 4), ("ing", 3), ("ed", 3), ("ly", 4)]
        .into_iter()
        .find_map(|(ending, shortest)| word.strip_suffix(ending).filter(|root| root.len() >= shortest));
    let root = root.map_or(word, without_double);
    // "migrate" and "migration", "cache" and "caching": neither may keep what the other has lost.
    let root = root.strip_suffix("at").filter(|root| root.len() >= 4).unwrap_or(root);
    let root = root.strip_suffix("ate").filter(|root| root.len() >= 4).unwrap_or(root);
    Cow::Borrowed(root.strip_suffix('e').filter(|root| root.len() >= 3).unwrap_or(root))
}

fn singular(word: &str) -> &str {
    if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") || word.ends_with("ies") {
        return word;
    }
    let hissing = ["ses", "xes", "zes", "ches", "shes"];
    if hissing.iter().any(|ending| word.ends_with(ending)) && word.len() > 5 {
        return &word[..word.len() - 2];
    }
    word.strip_suffix('s').filter(|root| root.len() >= 3).unwrap_or(word)
}

/// "plann" is "plan" and "runn" is "run"; "call" and "pass" are themselves.
fn without_double(root: &str) -> &str {
    match root.as_bytes() {
        [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'e') && root.len() > 3 => &root[..root.len() - 1],
        _ => root,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["cache", "caches", "cached", "caching"][..],
            &["plan", "plans", "planned", "planning"],
            &["migrate", "migrates", "migrated", "migrating", "migration", "migrations"],
            &["policy", "policies"],
            &["deploy", "deploys", "deployed", "deployment"],
            &["process", "processes", "processed"],
            &["service", "services"],
            &["call", "calls", "called"],
            &["retry", "retries", "retried"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|other| *other == stems[0]), "{stems:?}");
        }
    }

    #[test]
    fn tokens_that_are_no_words_have_no_stem() {
        for word in ["is", "status", "redis", "x86s", "größe", "class", "api"] {
            assert_eq!(stem(word), word);
        }
    }
}
