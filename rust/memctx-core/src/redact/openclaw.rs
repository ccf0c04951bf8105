//! The six rules of OpenClaw's `memory-context`, in its order and with its replacements.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Rule: its kind, pattern and replacement.
struct Rule {
    kind: &'static str,
    regex: Regex,
    replacement: &'static str,
}

static RULES: LazyLock<[Rule; 6]> = LazyLock::new(|| {
    // White space as JavaScript has it; letters fold as ASCII does, as they do there without the `u` flag.
    const SPACE: &str = r"\t-\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";
    let rule = |kind, pattern: &str, replacement| {
        let pattern = pattern.replace("SPACE", SPACE);
        Rule {
            kind,
            regex: Regex::new(&pattern).expect("the patterns of this crate compile, as a test shows"),
            replacement,
        }
    };
    [
        rule(
            "authorization",
            r"((?i-u:\bauthorization)[SPACE]*[:=][SPACE]*(?i-u:bearer)[SPACE]+)[^SPACE]{20,}",
            "${1}[REDACTED]",
        ),
        rule("bearer", r"Bearer[SPACE]+[A-Za-z0-9_.-]{20,}", "Bearer [REDACTED]"),
        rule("api_key", r#"((?i-u:api[_-]?key)[SPACE]*[:=][SPACE]*["']?)[A-Za-z0-9_./+-]{16,}["']?"#, "${1}[REDACTED]"),
        rule("token", r#"((?i-u:\btoken)[SPACE]*[:=][SPACE]*["']?)[A-Za-z0-9_./+-]{20,}["']?"#, "${1}[REDACTED]"),
        rule("hex", r"(?-u:\b)[0-9A-Fa-f]{32,}(?-u:\b)", "[REDACTED_HEX]"),
        rule("base64", r"(?-u:\b)[A-Za-z0-9+/]{64,}={0,2}(?-u:\b)", "[REDACTED_B64]"),
    ]
});

/// Return the text after all six rules, counting each replacement.
pub(super) fn mask(text: &str, mut count: impl FnMut(&'static str, u32)) -> Cow<'_, str> {
    RULES.iter().fold(Cow::Borrowed(text), |text, rule| {
        let found = rule.regex.find_iter(&text).count();
        if found == 0 {
            return text;
        }
        count(rule.kind, u32::try_from(found).unwrap_or(u32::MAX));
        Cow::Owned(rule.regex.replace_all(&text, rule.replacement).into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn masks_equal_openclaw_s() {
        let letters = "abcdefghijklmnopqrstuvwxyz";
        for (text, expected) in [
            (format!("AUTHORIZATION = bearer {letters}"), "AUTHORIZATION = bearer [REDACTED]".to_owned()),
            (format!("Bearer {letters}"), "Bearer [REDACTED]".to_owned()),
            (format!("bearer {letters}"), format!("bearer {letters}")),
            (format!("apiKey: \"{letters}\""), "apiKey: \"[REDACTED]".to_owned()),
            (format!("token={letters}"), "token=[REDACTED]".to_owned()),
            (format!("my_token={letters}"), format!("my_token={letters}")),
            ("A".repeat(64), "[REDACTED_HEX]".to_owned()),
            (format!("{}==", "Zz+/".repeat(17)), "[REDACTED_B64]+/==".to_owned()),
            (format!("sk-{letters}"), format!("sk-{letters}")),
        ] {
            assert_eq!(mask(&text, |_, _| ()), expected, "{text}");
        }
    }
}
