//! JSON string quoting.

use std::fmt::Write;

/// Write a text in quotes, with nothing escaped but what must be.
///
/// ```
/// let mut json = String::new();
/// memctx_core::messages::quote("支付 \"a\"\n", &mut json);
/// assert_eq!(json, r#""支付 \"a\"\n""#);
/// ```
pub fn quote(text: &str, into: &mut String) {
    into.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < 0x20 || matches!(byte, b'"' | b'\\')) {
        into.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'\n' => into.push_str("\\n"),
            b'\r' => into.push_str("\\r"),
            b'\t' => into.push_str("\\t"),
            0x08 => into.push_str("\\b"),
            0x0C => into.push_str("\\f"),
            byte @ (b'"' | b'\\') => {
                into.push('\\');
                into.push(char::from(byte));
            }
            byte => {
                // Writing to a string cannot fail.
                let _ = write!(into, "\\u{byte:04x}");
            }
        }
        rest = &rest[at + 1..];
    }
    into.push_str(rest);
    into.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quoting_equals_a_json_writer(text in r#"[\x00-\x7f"\\é支😀]{0,40}"#) {
            let mut json = String::new();
            quote(&text, &mut json);
            prop_assert_eq!(serde_json::to_string(&text).ok(), Some(json));
        }
    }
}
