//! Personal data, masked only on request: e-mail addresses, phone numbers, cards, bank accounts.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::span::{Rank, Span};

struct Personal {
    kind: &'static str,
    regex: Regex,
    holds: fn(&[u8]) -> bool,
}

static PERSONAL: LazyLock<[Personal; 4]> = LazyLock::new(|| {
    let personal = |kind, pattern, holds| {
        let regex = RegexBuilder::new(pattern)
            .unicode(false)
            .build()
            .expect("the patterns of this crate compile, as a test shows");
        Personal { kind, regex, holds }
    };
    [
        personal("email", r"[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}\b", |_| true),
        personal("card", r"\b[0-9](?:[ -]?[0-9]){12,18}\b", is_card),
        personal("iban", r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", is_iban),
        personal(
            "phone",
            r"(?:\+[0-9]{1,3}[ .-]?(?:\([0-9]{1,4}\)[ .-]?)?[0-9]{1,5}(?:[ .-]?[0-9]{2,5}){1,4}|\([0-9]{3}\) ?[0-9]{3}-[0-9]{4}|\b[0-9]{3}-[0-9]{3}-[0-9]{4}|\b1[3-9][0-9]-?[0-9]{4}-?[0-9]{4}|\b0[0-9]{1,3}-[0-9]{3,4}-[0-9]{4})\b",
            is_phone,
        ),
    ]
});

/// Find all personal data.
pub(super) fn find(text: &[u8], spans: &mut Vec<Span<'_>>) {
    for personal in &*PERSONAL {
        let found = personal.regex.find_iter(text).filter(|found| (personal.holds)(found.as_bytes()));
        spans.extend(found.map(|found| Span {
            start: found.start(),
            end: found.end(),
            kind: personal.kind,
            rank: Rank::Structure,
        }));
    }
}

fn is_phone(number: &[u8]) -> bool {
    (8..=15).contains(&number.iter().filter(|byte| byte.is_ascii_digit()).count())
}

/// Return whether a number has the length and the Luhn check digit of a card.
fn is_card(number: &[u8]) -> bool {
    let digits: Vec<u32> =
        number.iter().filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0')).collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, &digit)| if at % 2 == 0 { digit } else { digit * 2 % 10 + digit / 5 })
        .sum();
    sum.is_multiple_of(10) && matches!(digits[0], 2..=6) && digits.iter().any(|digit| *digit != digits[0])
}

/// Return whether the check digits of an account hold: remainder 97, with country and check digits moved to the end.
fn is_iban(account: &[u8]) -> bool {
    let plain: Vec<u8> = account.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
    let rest = plain[4..].iter().chain(&plain[..4]).fold(0u32, |rest, &byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    (15..=34).contains(&plain.len()) && rest == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<&'static str> {
        let mut spans = Vec::new();
        find(text.as_bytes(), &mut spans);
        spans.into_iter().map(|span| span.kind).collect()
    }

    #[test]
    fn finds_what_the_check_digits_confirm() {
        assert_eq!(kinds("mail ada@example.org now"), ["email"]);
        assert_eq!(kinds("card 4111 1111 1111 1111"), ["card"]);
        assert_eq!(kinds("pay DE89 3704 0044 0532 0130 00 today"), ["iban"]);
        assert_eq!(kinds("call +49 30 901820"), ["phone"]);
        assert_eq!(kinds("手机13812345678"), ["phone"]);
    }

    #[test]
    fn leaves_numbers_that_fail_them() {
        for text in [
            "4111 1111 1111 1112",
            "DE88 3704 0044 0532 0130 00",
            "1731628800000",
            "version 10.0.19041.1",
            "2024-01-15",
        ] {
            assert_eq!(kinds(text), [""; 0], "{text}");
        }
    }
}
