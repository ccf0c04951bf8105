//! Any bytes, read as text and masked: no panic, and masking twice is masking once.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use memctx_core::redact::{Redaction, Redactor};

static REDACTOR: LazyLock<Redactor> =
    LazyLock::new(|| Redactor::new(Redaction::Mask, true, &[]).expect("the defaults are valid"));

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let once = REDACTOR.mask(&text);
    assert_eq!(once.kinds.is_empty(), once.text == text);
    assert_eq!(REDACTOR.mask(&once.text).text, once.text);
});
