//! Any bytes, read as text: no panic, no empty token, the same tokens twice, and estimates in order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memctx_core::text::{Estimator, Mode, for_each_token};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for mode in [Mode::Memctx, Mode::OpenClaw] {
        let tokens = tokens(&text, mode);
        assert!(tokens.iter().all(|token| !token.is_empty()));
        assert_eq!(tokens, self::tokens(&text, mode));
    }
    let low = Estimator::Utf16.estimate(&text);
    assert!(low >= 1 && Estimator::Script.estimate(&text) >= low);
});

fn tokens(text: &str, mode: Mode) -> Vec<String> {
    let mut tokens = Vec::new();
    for_each_token(text, mode, |token| tokens.push(token.to_owned()));
    tokens
}
