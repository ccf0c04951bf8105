//! Tokenizers and token estimates.

mod cjk_count;
mod class;
mod common;
mod digest;
mod edge;
mod filler;
mod form;
mod hash_form;
mod identifier;
mod inflection;
mod lanes;
mod openclaw;
mod pairs;
mod script;
mod sink;
mod swar;
mod term;
mod tokenizer;
mod tokens;
mod word;

pub(crate) use class::is_js_space;
pub(crate) use digest::{Digest, append_digests};
pub(crate) use edge::{ends_word, trim_js};
pub use filler::has_topic;
pub(crate) use filler::{aboutness, is_filler};
pub(crate) use hash_form::hash_form;
pub(crate) use inflection::{for_each_family, for_each_form};
pub(crate) use script::{has_case_beyond_ascii, is_cjk};
pub use sink::TokenSink;
pub use term::Term;
pub(crate) use tokenizer::terms_into;
pub use tokenizer::{Mode, for_each_token, tokenize};
pub(crate) use tokens::{CHARS_PER_TOKEN, weighted_len};
pub use tokens::{Estimator, utf16_len};
pub use word::Word;
