//! Classification of names of secrets in programs, files and sentences.

use super::tables::{
    ABOUT, BEFORE_KEY, CREDENTIAL_WORDS, FILE_ENDINGS, KEY_ENDINGS, NOT_BEFORE_KEY, NOT_BEFORE_TOKEN, PASSWORD_ENDINGS,
    PASSWORD_WORDS, PUBLIC_WORDS, TOKEN_ENDINGS, holds,
};
use super::value::Proof;

/// Meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) kind: &'static str,
    pub(super) proof: Proof,
}

/// Longer names are cut: secrets have shorter ones.
pub(super) const LONGEST_NAME: usize = 80;

/// Return the meaning of a name, if it names a secret.
pub(super) fn named(name: &[u8]) -> Option<Named> {
    let words = Words::of(name);
    let mut previous = None;
    let mut found: Option<Named> = None;
    for word in words.iter() {
        if let Some(named) = of_word(word, previous) {
            found = match found {
                Some(best) if best.proof <= named.proof => Some(best),
                _ => Some(named),
            };
        }
        previous = Some(word);
    }
    let last = words.last()?;
    let is_about = || {
        (holds(ABOUT, last.as_bytes()) && !(last == "hash" && words.len() == 1))
            || is_file(name)
            || words.iter().any(|word| holds(PUBLIC_WORDS, word.as_bytes()))
    };
    found.filter(|_| !is_about())
}

/// Return whether the name ends as files do, as in `token.txt`.
pub(super) fn is_file(name: &[u8]) -> bool {
    memchr::memrchr(b'.', name).is_some_and(|dot| dot > 0 && holds(FILE_ENDINGS, &name[dot + 1..]))
}

fn of_word(word: &str, previous: Option<&str>) -> Option<Named> {
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
    let some = |kind, proof| Some(Named { kind, proof });
    let ends = |list: &[&str]| list.iter().any(|end| word.ends_with(end));
    let has = |list, word: &str| holds(list, word.as_bytes());
    match word {
        _ if has(PASSWORD_WORDS, word) => some("password", Proof::Password),
        "passcode" | "pincode" => some("password", Proof::Pin),
        "pass" if previous.is_some() => some("password", Proof::Password),
        "pass" => some("password", Proof::Random),
        "secret" | "secrets" => some("secret", Proof::Random),
        "token" | "jwt" | "pat" if !previous.is_some_and(|before| has(NOT_BEFORE_TOKEN, before)) => {
            some("token", Proof::Random)
        }
        _ if has(CREDENTIAL_WORDS, word) => some("credential", Proof::Random),
        "key" | "keys" if previous.is_some_and(|before| has(BEFORE_KEY, before)) => some("api_key", Proof::Random),
        "key" if previous.is_some_and(|before| before.len() > 1 && !has(NOT_BEFORE_KEY, before)) => {
            some("api_key", Proof::Long)
        }
        "crumb" | "login" => some("token", Proof::Long),
        "auth" | "signature" | "sig" | "sid" | "phpsessid" | "jsessionid" | "sessionid" => {
            some("credential", Proof::Long)
        }
        _ if ends(PASSWORD_ENDINGS) => some("password", Proof::Password),
        _ if ends(KEY_ENDINGS) => some("api_key", Proof::Random),
        _ if ends(TOKEN_ENDINGS) => some("token", Proof::Random),
        _ if word.len() > 6 && word.ends_with("secret") => some("secret", Proof::Random),
        _ => None,
    }
}

/// The words of a name, lower case: `dbPassword`, `DB_PASSWORD`, `db-password` and `db.password` are `db password`.
struct Words {
    text: String,
}

impl Words {
    fn of(name: &[u8]) -> Self {
        let mut text = String::with_capacity(name.len() + 8);
        for (at, &byte) in name.iter().enumerate() {
            if !byte.is_ascii_alphanumeric() {
                text.push(' ');
                continue;
            }
            let before = at.checked_sub(1).map_or(b' ', |before| name[before]);
            let after = name.get(at + 1).copied().unwrap_or(b' ');
            let begins = byte.is_ascii_uppercase()
                && (before.is_ascii_lowercase() || (before.is_ascii_uppercase() && after.is_ascii_lowercase()));
            if begins {
                text.push(' ');
            }
            text.push(char::from(byte.to_ascii_lowercase()));
        }
        Self { text }
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.text.split_ascii_whitespace()
    }

    fn len(&self) -> usize {
        self.iter().count()
    }

    /// Return the last word that is no number.
    fn last(&self) -> Option<&str> {
        self.iter().rev().find(|word| !word.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_in_every_case() {
        for name in [
            "password",
            "DB_PASSWORD",
            "dbPassword",
            "spring.datasource.password",
            "api_key",
            "apiKey",
            "API-KEY",
            "x-api-key",
            "clientSecret",
            "SECRET_KEY_BASE",
            "aws_secret_access_key",
            "accessToken",
            "GITHUB_TOKEN",
            "OPENAI_API_KEY_PROD",
            "openai_key",
            "_authToken",
            "mysqlRootPassword",
            "privateKey",
            "AUTHTOKEN",
            "csrf_token",
            "requirepass",
            "PGPASSWORD",
            "password2",
            "SharedAccessKey",
            "AccountKey",
            "refresh_token",
            "webhook_secret",
            "DB_PASS",
            "ENCRYPTION_KEY",
        ] {
            assert!(named(name.as_bytes()).is_some(), "{name}");
        }
    }

    #[test]
    fn names_of_other_things_are_no_secrets() {
        for name in [
            "max_tokens",
            "tokens",
            "secret_name",
            "password_hash",
            "token_type",
            "public_key",
            "primary_key",
            "cache_key",
            "key",
            "keyboard",
            "tokenizer",
            "next_page_token",
            "passed",
            "compass",
            "secretary",
            "author",
            "authorName",
            "private_key_path",
            "TOKEN_FILE",
            "passwordPolicy",
            "key_id",
            "foreignKey",
            "design_token",
            "hotkey",
            "monkey",
            "password-length",
        ] {
            assert_eq!(named(name.as_bytes()), None, "{name}");
        }
    }
}
