//! Any bytes, read as a block and put into one: no panic, what is read was written so, what is written is read back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memctx_core::recall::{Detail, Fact, Parsed, parse, write};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Some(parsed) = parse(&text) {
        assert_eq!(write(&parsed), text.trim());
    }
    let (kind, content) = text.split_at((0..=text.len() / 4).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0));
    let fact = Fact { kind: kind.to_owned(), content: content.to_owned() };
    let detail = |timestamp| Detail {
        timestamp,
        role: kind.to_owned(),
        id: kind.to_owned(),
        replaced: None,
        content: content.to_owned(),
    };
    let records =
        Parsed { facts: vec![fact.clone(), fact], details: vec![detail(0.0), detail(60_000.0)], has_note: true };
    let block = write(&records);
    assert_eq!(block.matches("</recalled-context>").count(), 1);
    assert_eq!(parse(&block), Some(records));
});
