//! OpenClaw's tokenizer.

use std::borrow::Cow;

use super::class::OpenClawClass;
use super::form::Form;
use super::pairs::PairChain;
use super::script;
use super::sink::TokenSink;

/// The one letter whose small form depends on its neighbors.
const SIGMA: &str = "Σ";

pub(super) fn tokenize(text: &str, sink: &mut impl TokenSink) {
    scan(&with_final_sigmas(text), sink);
}

/// Return the text, all lower-cased if it holds a capital sigma; every other letter can be lower-cased where it stands.
pub(super) fn with_final_sigmas(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), SIGMA.as_bytes()).is_some() {
        Cow::Owned(text.to_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

fn scan(text: &str, sink: &mut impl TokenSink) {
    let mut word = Form::new(text);
    let mut pairs = PairChain::new(text);
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        match OpenClawClass::of(script::byte_of(c)) {
            OpenClawClass::Word => {
                pairs.stop();
                word.push_slice(at, end);
            }
            OpenClawClass::Lowers => {
                for small in c.to_lowercase() {
                    if OpenClawClass::of(script::byte_of(small)) == OpenClawClass::Word {
                        pairs.stop();
                        word.push_char(small);
                    }
                }
            }
            OpenClawClass::Cjk => {
                finish(&mut word, sink);
                pairs.push(at, end, sink);
            }
            OpenClawClass::Break => {
                finish(&mut word, sink);
                pairs.stop();
            }
            OpenClawClass::Skip => {}
        }
    }
    finish(&mut word, sink);
}

fn finish(word: &mut Form<'_>, sink: &mut impl TokenSink) {
    if !word.is_empty() {
        sink.token(word.as_str());
        word.clear();
    }
}
