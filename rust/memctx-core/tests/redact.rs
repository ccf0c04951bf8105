//! The redactor as a whole: invariants, hostile input, settings, and the values of OpenClaw.

use std::borrow::Cow;
use std::fs;
use std::time::{Duration, Instant};

use memctx_core::Error;
use memctx_core::redact::{Redaction, Redactor};
use proptest::prelude::*;

fn redactor() -> Redactor {
    Redactor::new(Redaction::Mask, false, &[]).expect("the defaults are valid")
}

fn mask(text: &str) -> String {
    redactor().mask(text).text.into_owned()
}

#[test]
fn a_clean_text_is_borrowed() {
    let masked = redactor().mask("fn main() { println!(\"4f2a9c81d07be3\"); }");
    assert!(matches!(masked.text, Cow::Borrowed(_)));
    assert!(masked.kinds.is_empty());
}

#[test]
fn kinds_are_counted_and_sorted() {
    let text = "password=Xk29vQz8 and password=Lm47rTw1, ghp_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9Jj0Kk1Ll";
    let masked = redactor().mask(text);
    assert_eq!(masked.kinds, [("github_token".into(), 1), ("password".into(), 2)]);
    assert_eq!(masked.text, "password=[REDACTED:password] and password=[REDACTED:password], [REDACTED:github_token]");
}

#[test]
fn a_token_right_behind_a_cjk_letter_is_found() {
    assert_eq!(mask("令牌ghp_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9Jj0Kk1Ll。"), "令牌[REDACTED:github_token]。");
}

#[test]
fn off_does_nothing() {
    let redactor = Redactor::new(Redaction::Off, true, &[]).expect("valid");
    assert_eq!(redactor.mask("password=Xk29vQz8").text, "password=Xk29vQz8");
}

#[test]
fn personal_data_goes_on_request_only() {
    let text = "mail ada@lovelace.org";
    assert_eq!(mask(text), text);
    let redactor = Redactor::new(Redaction::Mask, true, &[]).expect("valid");
    assert_eq!(redactor.mask(text).text, "mail [REDACTED:email]");
}

#[test]
fn patterns_of_the_user_go_first() {
    let patterns = [("ticket".to_owned(), "ACME-[0-9]{6}".to_owned())];
    let redactor = Redactor::new(Redaction::Mask, false, &patterns).expect("valid");
    assert_eq!(redactor.mask("see ACME-123456").text, "see [REDACTED:ticket]");
}

#[test]
fn a_bad_pattern_is_refused_by_the_name_of_its_kind() {
    for (kind, pattern) in
        [("ticket", "ACME-["), ("ticket", "(?:[a-z]{1,999}){999}"), ("ticket", "x*"), ("a kind]", "x")]
    {
        let fault = Redactor::new(Redaction::Mask, false, &[(kind.to_owned(), pattern.to_owned())]).expect_err(pattern);
        assert!(matches!(fault, Error::Argument { .. }));
        assert!(fault.to_string().contains(kind), "{fault}");
    }
}

#[test]
fn unknown_modes_are_refused() {
    let fault = Redaction::parse("maks").expect_err("no such mode");
    assert_eq!(fault.to_string(), "mode must be \"off\", \"mask\" or \"openclaw\", not \"maks\"");
}

#[test]
fn compatibility_mode_masks_as_openclaw_does() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/redact.json");
    let cases: Vec<(String, String)> =
        serde_json::from_str(&fs::read_to_string(golden).expect("the file is there")).expect("it is JSON");
    let redactor = Redactor::new(Redaction::OpenClaw, false, &[]).expect("valid");
    assert!(cases.len() > 10);
    for (text, expected) in cases {
        assert_eq!(redactor.mask(&text).text, expected);
    }
}

#[test]
fn references_to_secrets_stay() {
    for text in [
        "mysqldump -u root --password=\"$DB_PASSWORD\" app",
        "mysql --password=${MYSQL_PWD2} app",
        "mysql -uroot -p\"$MYSQL_PWD2\" app",
        "sshpass -p \"$(cat ~/.pw2)\" ssh host",
        "sqlcmd -U sa -P %SA_PASSWORD1% -Q x",
        "deploy --token=\"{{ vault_token_v2 }}\"",
        "curl -u user:<api-token-2> https://x",
        "openssl enc -pass \"pass:$KEY1\" -in a",
        "key = os.environ.get('API_KEY_V2')",
    ] {
        assert_eq!(mask(text), text);
    }
}

#[test]
fn checksums_of_files_named_like_secrets_stay() {
    let md5 = "9e107d9d372bb6826bd81d3542a419d6";
    for line in [
        format!("MD5 (token) = {md5}"),
        format!("MD5 (password-store.iso) = {md5}"),
        format!("SHA256 (secret_key.tar.gz) = {md5}{md5}"),
        format!("SHA2-256(tokens.db)= {md5}{md5}"),
        format!("{md5}  secrets.tar.gz"),
        format!("token.txt: {md5}"),
    ] {
        assert_eq!(mask(&line), line);
    }
    assert_eq!(mask(&format!("token = {md5}")), "token = [REDACTED:token]");
}

#[test]
fn sentences_in_other_languages_give_secrets_away() {
    for (text, masked) in [
        ("Das Passwort ist Sommer2024!x.", "Das Passwort ist [REDACTED:password]."),
        ("das Kennwort lautet jetzt hunter2x", "das Kennwort lautet jetzt [REDACTED:password]"),
        ("le mot de passe de la base est hunter2x", "le mot de passe de la base est [REDACTED:password]"),
        ("mot de passe\u{a0}: hunter2x", "mot de passe\u{a0}: [REDACTED:password]"),
        ("mi contraseña es Verano2024", "mi contraseña es [REDACTED:password]"),
        ("パスワードはNatsu2024です", "パスワードは[REDACTED:password]です"),
        ("비밀번호는 hunter2x입니다", "비밀번호는 [REDACTED:password]입니다"),
        ("my PIN is 482913", "my PIN is [REDACTED:pin]"),
        ("暗証番号は4829です", "暗証番号は[REDACTED:password]です"),
    ] {
        assert_eq!(mask(text), masked);
    }
}

#[test]
fn sentences_about_secrets_stay() {
    for text in [
        "das Passwort ist falsch",
        "Das Passwort ist seit Python3 Pflicht",
        "le mot de passe est obligatoire",
        "la clave primaria es user_id2",
        "パスワードは必須です",
        "パスワードは8文字以上",
        "비밀번호는 8자 이상이어야 합니다",
        "RSA key fingerprint is MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48.",
        "the pin is soldered to GPIO17",
        "your PIN is 4 digits long",
    ] {
        assert_eq!(mask(text), text);
    }
}

#[test]
fn hostile_input_takes_time_in_proportion() {
    const SIZE: usize = 1 << 16;
    let pieces = [
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nQUJD",
        "password=",
        "password: ",
        "key",
        "token ",
        "eyJ",
        "eyJa.",
        "://a:",
        "://a:b@",
        "Authorization: ",
        "Cookie: a=",
        "bearer ",
        "\"kty\"",
        "\"kty\"{",
        "a.b.c.d.",
        "M23456.",
        "[REDACTED:",
        "curl -u ",
        "mysql ",
        "密码",
        "secret\\",
        "${token:",
        "api_key=\"",
        "api_key='''",
        "://",
        "x:5432:",
        "sk-",
        "echo ",
        "-us",
        ":A",
        "WIFI:",
        "\"auth\"",
        "credentials are ",
        "LS0tLS1CRUdJTi",
        "identified by ",
        "password=xxxxxxxx ",
        "a_b-c.d_key",
        "name: DB_PASSWORD value",
        "-us-us",
        "a.bot1:A",
        "Q~",
        "+ASt",
        "mot de passe est ",
        "パスワードは",
        "PIN ist ",
        "MD5 (token) = ",
        ".password(\"",
        "snmpget -A ",
    ];
    for piece in pieces {
        let text = piece.repeat(SIZE / piece.len());
        let start = Instant::now();
        let _ = redactor().mask(&text);
        // With little optimization and on a busy machine the slowest takes one second; quadratic time would be ten.
        assert!(start.elapsed() < Duration::from_secs(3), "{piece:?} took {:?}", start.elapsed());
    }
}

/// Return texts made of what the rules look for.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("password"),
        Just("="),
        Just(": "),
        Just("\""),
        Just("'"),
        Just("\\n"),
        Just("\n"),
        Just(" "),
        Just("ghp_"),
        Just("sk-"),
        Just("-----BEGIN PRIVATE KEY-----"),
        Just("-----END PRIVATE KEY-----"),
        Just("://"),
        Just("@"),
        Just(":"),
        Just("Authorization: "),
        Just("Bearer "),
        Just("Basic "),
        Just("Cookie: "),
        Just(";"),
        Just("密码"),
        Just("是"),
        Just("[REDACTED:token]"),
        Just("[REDACTED:"),
        Just("]"),
        Just("token"),
        Just("api_key"),
        Just("k3jf9slwq0plmz81nsod"),
        Just("Xk29vQz8"),
        Just("hunter2"),
        Just("is "),
        Just("$"),
        Just("{"),
        Just("}"),
        Just("("),
        Just(")"),
        Just("AKIA"),
        Just("JBSWY3DPEHPK3PXQ"),
        Just("eyJhbGciOiJIUzI1NiJ9"),
        Just("."),
        Just("é"),
        Just("curl -u a:"),
        Just("--password "),
        Just("|"),
        Just(","),
        Just("<"),
        Just(">"),
        Just("credentials are "),
        Just("\\"),
        Just("/"),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn masking_twice_is_masking_once(text in texts()) {
        let once = mask(&text);
        prop_assert_eq!(mask(&once), once);
    }

    #[test]
    fn masking_any_text_twice_equals_masking_it_once(text in ".{0,200}") {
        let once = mask(&text);
        prop_assert_eq!(mask(&once), once);
    }

    #[test]
    fn counts_equal_the_masks_written(text in texts()) {
        let masked = redactor().mask(&text);
        let counted: u32 = masked.kinds.iter().map(|(_, count)| count).sum();
        prop_assert_eq!(counted > 0, masked.text != text);
    }
}
