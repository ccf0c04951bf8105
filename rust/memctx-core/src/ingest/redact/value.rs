//! Whether a value is a secret, or only stands where one would: a placeholder, a variable, a word, a path.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use memchr::memmem;

use super::span::MARK;
use super::wordy::looks_random;

/// How much a value must show, by what names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Proof {
    /// Named a password: people choose these, so letters with a digit will do.
    Password,
    /// Named a token, key or secret: must not be made of words.
    Random,
    /// Named by a word that often means something else: long and random.
    Long,
}

/// What stands in documents and forms in place of a secret. All lower case.
const STAND_INS: [&str; 21] = [
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "replace",
    "insert",
    "redacted",
    "masked",
    "dummy",
    "your-",
    "your_",
    "your ",
    "<your",
    "xxxx",
    "****",
    "fixme",
    "undefined",
    "not-real",
    "notreal",
    "...",
];

/// What people type who need any value.
const SEQUENCES: [&str; 5] = ["12345678", "01234567", "abcdefgh", "qwertyui", "deadbeef"];

/// A value with a sequence in it that is longer than this may still be a key.
const LONGEST_SEQUENCE: usize = 18;

/// Words that name a secret rather than being one, unless the rest is random.
const NAMES: [&str; 14] = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "credential",
    "your",
    "sample",
    "fake",
    "test",
    "here",
    "todo",
];

/// Names of algorithms and formats, which look like passwords that a person chose.
const TERMS: [&str; 25] = [
    "base64", "base32", "base58", "sha1", "sha256", "sha384", "sha512", "sha3", "argon2", "pbkdf2", "oauth2", "utf8",
    "ed25519", "rsa2048", "rsa4096", "aes128", "aes256", "hs256", "rs256", "es256", "x509", "bcrypt", "scrypt", "pkcs",
    "latin1",
];

const STARTS_OF_HASHES: [&[u8]; 7] = [b"sha256-", b"sha384-", b"sha512-", b"sha1-", b"sha256:", b"sha1:", b"md5:"];

/// Whether a value named as a secret is one.
pub(super) fn is_secret(value: &[u8], proof: Proof) -> bool {
    let value = value.strip_prefix(b"django-insecure-").unwrap_or(value);
    if is_placeholder(value) || is_code(value) || is_place(value) || is_term(value) {
        return false;
    }
    let random = looks_random(value);
    match proof {
        Proof::Random => random,
        Proof::Long => random && value.len() >= 16 && !is_uuid(value),
        Proof::Password => random || (value.len() >= 6 && is_chosen(value)),
    }
}

/// Whether a value is one that documents, forms and templates put where a secret goes.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    value.is_empty() || is_reference(value) || is_monotone(value) || has_stand_in(value)
}

/// A password that a person made of a word, with a digit or a sign in it.
fn is_chosen(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let signs = value.iter().filter(|byte| b"!@#$%^&*?~+=".contains(byte)).count();
    let joints = value.iter().filter(|byte| b"-_. /:".contains(byte)).count();
    letters >= 2 && (digits > 0 || signs > 0) && (joints <= 1 || signs > 0) && value.len() <= 64
}

/// A short value that speaks of an algorithm.
fn is_term(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    value.len() < 24 && TERMS.iter().any(|term| memmem::find(&lower, term.as_bytes()).is_some())
}

/// `$VAR`, `${VAR}`, `{{ x }}`, `<token>`, `%VAR%`, `%(x)s`, `#{x}`, `:name`, `__NAME__`, `[...]`.
fn is_reference(value: &[u8]) -> bool {
    let is_name = |name: &[u8]| name.iter().all(|&byte| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'.');
    let has = |part: &str| memmem::find(value, part.as_bytes()).is_some();
    let (first, last) = (value[0], value[value.len() - 1]);
    let inner = &value[1..value.len().max(2) - 1];
    match first {
        b'$' if is_shell_name(&value[1..]) => return true,
        b'\\' if value.get(1) == Some(&b'$') => return true,
        b'<' if last == b'>' => return true,
        b'{' | b'%' if last == b'}' || last == b'%' => return true,
        b'%' if value.len() <= 3 || value.ends_with(b")s") => return true,
        b'[' if last == b']' => return true,
        b':' | b'@' | b'&' | b'*' | b'!' if is_name(&value[1..]) => return true,
        b'_' if value.starts_with(b"__") && value.ends_with(b"__") && is_name(inner) => return true,
        _ => {}
    }
    ["${", "$(", "{{", "}}", "<%", "#{", "$env:", "\u{2026}", "\u{2022}", MARK, "[REDACTED"].into_iter().any(has)
}

/// A variable, or something looked up in one.
fn is_shell_name(name: &[u8]) -> bool {
    let len = name.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
    let is_name = len > 0 && name.get(len).is_none_or(|byte| b"[-.(:)}".contains(byte));
    let name = &name[..len];
    is_name && !name.first().is_some_and(u8::is_ascii_digit) && !looks_random(name)
}

/// Hardly any two different characters, or one of them again and again.
fn is_monotone(value: &[u8]) -> bool {
    let mut seen = [false; 256];
    for &byte in value {
        seen[usize::from(byte)] = true;
    }
    let different = seen.iter().filter(|&&seen| seen).count();
    let repeats = value.windows(6).any(|window| window.iter().all(|byte| byte == &window[0]));
    different <= 2 || (value.len() >= 12 && different <= 4) || repeats
}

fn has_stand_in(value: &[u8]) -> bool {
    const SEQUENCE: usize = STAND_INS.len();
    const NAME: usize = SEQUENCE + SEQUENCES.len();
    let mut is_named = false;
    for found in TELLTALES.find_overlapping_iter(value) {
        match found.pattern().as_usize() {
            ..SEQUENCE => return true,
            SEQUENCE..NAME => {
                if value.len() <= LONGEST_SEQUENCE {
                    return true;
                }
            }
            NAME.. => is_named = true,
        }
    }
    is_named && !looks_random(value)
}

/// Stand-ins, then sequences, then names, in any case.
static TELLTALES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(STAND_INS.iter().chain(&SEQUENCES).chain(&NAMES))
        .expect("a few dozen words fit an automaton")
});

/// An expression: a call, a subscript, an arrow, a list of words.
fn is_code(value: &[u8]) -> bool {
    if value.iter().any(u8::is_ascii_whitespace) {
        return true;
    }
    let has = |part: &str| memmem::find(value, part.as_bytes()).is_some();
    let calls = has("(") && (has(")") || !looks_random(value));
    let subscripts = has("[") && (has("[\"") || has("['"))
        || has("=>")
        || has("->")
        || has("::")
        || has("[++")
        || has("[i")
        || has("] ");
    calls && !looks_random(value) || subscripts && !looks_random(value) || has("().") || has("(\"") || has("('")
}

/// A path, a URL, a hash that says it is one.
fn is_place(value: &[u8]) -> bool {
    let is_path = [&b"/"[..], b"./", b"../", b"~/"].iter().any(|start| value.starts_with(start));
    let is_drive = value.len() > 2 && value[0].is_ascii_alphabetic() && value[1] == b':' && b"\\/".contains(&value[2]);
    let is_file =
        [&b".pem"[..], b".key", b".json", b".yaml", b".yml", b".txt", b".env", b".crt", b".p12", b".jks", b".pub"]
            .iter()
            .any(|end| value.ends_with(end));
    let is_url = memmem::find(value, b"://").is_some() || value.starts_with(b"arn:");
    is_url || is_drive || is_file || is_hash(value) || (is_path && (!looks_random(value) || begins_path(value)))
}

/// Whether the first step of what looks like a path is a word.
fn begins_path(value: &[u8]) -> bool {
    let Some(rest) = value.strip_prefix(b"/") else { return true };
    let step = rest.iter().position(|byte| *byte == b'/');
    let is_plain = !rest.iter().any(|byte| b"+=".contains(byte));
    is_plain && step.is_some_and(|len| len > 1 && rest[..len].iter().all(u8::is_ascii_lowercase))
}

fn is_hash(value: &[u8]) -> bool {
    STARTS_OF_HASHES.iter().any(|start| value.starts_with(start))
}

/// Thirty-six characters, hexadecimal but for four dashes.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_are_no_secrets() {
        for value in [
            "$DB_PASS",
            "${DB_PASS}",
            "${{ secrets.TOKEN }}",
            "<token>",
            "sk-...",
            "your-api-key",
            "xxxxxxxx",
            "********",
            "os.environ[\"X\"]",
            "process.env.TOKEN",
            "getenv(\"TOKEN\")",
            "str",
            "string",
            "None",
            "true",
            "4096",
            "password",
            "/run/secrets/db2",
            "~/.ssh/id_ed25519.pub",
            "https://x1y2z3.example.org",
            "sha512-k3jf9slwq0plmz81nsod",
            "my-secret",
            "[REDACTED:token]",
            "%DB_PASS%",
            "{{ token }}",
            ":password",
            "self.token",
            "changeme123",
            "Optional[str]",
        ] {
            assert!(!is_secret(value.as_bytes(), Proof::Password), "{value}");
        }
    }

    #[test]
    fn chosen_and_drawn_passwords_are() {
        for value in ["PEHuwarrrU", "NFRNowLJJGBGHA", "hunter2", "Summer2024!", "k3jf9slw", "Xk#9!vQ2m", "p4$$w0rdZ"] {
            assert!(is_secret(value.as_bytes(), Proof::Password), "{value}");
        }
    }
}
