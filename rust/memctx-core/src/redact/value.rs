//! Classification of values: secrets, or placeholders, variables, words and paths in their position.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use memchr::memmem;

use super::span::MARK;
use super::tables::{SEQUENCES, STAND_INS, TERMS, VALUE_NAMES};
use super::wordy::looks_random;

/// Evidence required of a value, by the name it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Proof {
    /// Named a code that people type: four to eight digits will do, or a password.
    Pin,
    /// Named a password: people choose these, so letters with a digit will do.
    Password,
    /// Named a token, key or secret: must not be made of words.
    Random,
    /// Named by a word that often means something else: long and random.
    Long,
}

/// A value with a sequence in it that is longer than this may still be a key.
const LONGEST_SEQUENCE: usize = 18;

/// In any case, before a dash or a colon.
const HASHES: [&str; 8] = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake3"];

/// Return whether a value named as a secret is one.
pub(super) fn is_secret(value: &[u8], proof: Proof) -> bool {
    let value = value.strip_prefix(b"django-insecure-").unwrap_or(value);
    let random = looks_random(value);
    let shows = match proof {
        Proof::Pin if is_pin(value) => true,
        Proof::Pin | Proof::Password => random || (value.len() >= 6 && is_chosen(value)),
        Proof::Random => random,
        Proof::Long => random && value.len() >= 16 && !is_uuid(value),
    };
    shows && !(is_placeholder(value) || is_code(value) || is_place(value) || is_term(value) || is_constant(value))
}

/// Return whether a value is one that documents, forms and templates put where a secret goes.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    value.is_empty() || is_reference(value) || is_monotone(value) || has_stand_in(value)
}

/// Four to eight digits.
pub(super) fn is_pin(value: &[u8]) -> bool {
    (4..=8).contains(&value.len()) && value.iter().all(u8::is_ascii_digit)
}

/// Return whether a value is a password that a person made of a word, with a digit or a sign in it.
fn is_chosen(value: &[u8]) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let signs = value.iter().filter(|byte| b"!@#$%^&*?~+=".contains(byte)).count();
    let joints = value.iter().filter(|byte| b"-_. /:".contains(byte)).count();
    letters >= 2 && (digits > 0 || signs > 0) && (joints <= 1 || signs > 0) && value.len() <= 64
}

/// Return whether a short value names an algorithm.
fn is_term(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    value.len() < 24 && TERMS.iter().any(|term| memmem::find(&lower, term.as_bytes()).is_some())
}

/// `$VAR`, `${VAR}`, `{{ x }}`, `<token>`, `%VAR%`, `%(x)s`, `#{x}`, `:name`, `__NAME__`, `[...]`.
fn is_reference(value: &[u8]) -> bool {
    let is_name = |name: &[u8]| name.iter().all(|&byte| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'.');
    let has = |part: &str| memmem::find(value, part.as_bytes()).is_some();
    if let Some(source) = value.strip_prefix(b"pass:").filter(|source| !source.is_empty()) {
        return is_reference(source);
    }
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
    ["${", "$(", "{{", "}}", "<%", "#{", "$env:", "$ENV{", "ENC[", "\u{2026}", "\u{2022}", MARK, "[REDACTED"]
        .into_iter()
        .any(has)
}

/// Return whether a value is a variable, or a lookup in one.
fn is_shell_name(name: &[u8]) -> bool {
    let len = name.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
    let is_name = len > 0 && name.get(len).is_none_or(|byte| b"[-.(:)}".contains(byte));
    let name = &name[..len];
    is_name && !name.first().is_some_and(u8::is_ascii_digit) && (is_constant(name) || !looks_random(name))
}

/// Return whether a value is the name of a constant or variable: `API_KEY_V2`, capitals with at most two digits behind
/// them between underscores.
fn is_constant(value: &[u8]) -> bool {
    let is_part = |part: &[u8]| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let digits = &part[letters..];
        (letters > 0 || digits.len() == 1) && digits.len() <= 2 && digits.iter().all(u8::is_ascii_digit)
    };
    value.len() <= 48 && value.contains(&b'_') && value.split(|byte| *byte == b'_').all(is_part)
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
    let sequence = STAND_INS.len();
    let name = sequence + SEQUENCES.len();
    let mut is_named = false;
    for found in TELLTALES.find_overlapping_iter(value) {
        let found = found.pattern().as_usize();
        if found < sequence || (found < name && value.len() <= LONGEST_SEQUENCE) {
            return true;
        }
        is_named |= found >= name;
    }
    is_named && !looks_random(value)
}

/// Stand-ins, then sequences, then names, in any case.
static TELLTALES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(STAND_INS.iter().chain(SEQUENCES).chain(VALUE_NAMES))
        .expect("a few dozen words fit an automaton")
});

/// Return whether a value is an expression: a call, a subscript, an arrow, a list of words.
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

/// Return whether a value is a path, a URL or a labeled hash.
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

/// Return whether the first step of what looks like a path is a word.
fn begins_path(value: &[u8]) -> bool {
    let Some(rest) = value.strip_prefix(b"/") else { return true };
    let step = rest.iter().position(|byte| *byte == b'/');
    let is_plain = !rest.iter().any(|byte| b"+=".contains(byte));
    is_plain && step.is_some_and(|len| len > 1 && rest[..len].iter().all(u8::is_ascii_lowercase))
}

/// Return whether a value is a hash that names its algorithm, or pairs of hexadecimal digits between colons.
fn is_hash(value: &[u8]) -> bool {
    let sign = value.iter().take(8).position(|byte| b"-:".contains(byte));
    let is_named = sign.is_some_and(|len| HASHES.iter().any(|name| value[..len].eq_ignore_ascii_case(name.as_bytes())));
    is_named || (value.len() >= 23 && value.split(|byte| *byte == b':').all(is_hex_pair))
}

fn is_hex_pair(pair: &[u8]) -> bool {
    pair.len() == 2 && pair.iter().all(u8::is_ascii_hexdigit)
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
            "$MYSQL_PWD2",
            "pass:$KEY1",
            "API_KEY_V2",
            "$ENV{DB_PASS2}",
            "ENC[AES256_GCM,data:abcd1234]",
            "MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48",
        ] {
            assert!(!is_secret(value.as_bytes(), Proof::Password), "{value}");
        }
    }

    #[test]
    fn chosen_and_drawn_passwords_look_random() {
        for value in ["PEHuwarrrU", "NFRNowLJJGBGHA", "hunter2", "Summer2024!", "k3jf9slw", "Xk#9!vQ2m", "p4$$w0rdZ"] {
            assert!(is_secret(value.as_bytes(), Proof::Password), "{value}");
        }
    }
}
