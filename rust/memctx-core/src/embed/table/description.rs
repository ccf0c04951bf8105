//! Parser of the parts of a `tokenizer.json` that determine tokenization.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The whole file. How it cuts and pads does not matter: the embedder has a limit of its own and needs no padding.
#[derive(Deserialize)]
pub(super) struct Description<'a> {
    #[serde(default)]
    pub(super) added_tokens: Vec<AddedToken>,
    #[serde(default)]
    pub(super) normalizer: Value,
    #[serde(default)]
    pub(super) pre_tokenizer: Value,
    #[serde(borrow)]
    pub(super) model: Model<'a>,
}

/// A piece that is found in the text as it stands, before anything else is done to it.
#[allow(clippy::struct_excessive_bools)] // the fields of the file
#[derive(Deserialize)]
pub(super) struct AddedToken {
    pub(super) id: u32,
    pub(super) content: String,
    #[serde(default)]
    pub(super) single_word: bool,
    #[serde(default)]
    pub(super) lstrip: bool,
    #[serde(default)]
    pub(super) rstrip: bool,
    #[serde(default)]
    pub(super) normalized: bool,
}

/// The part that knows the pieces. What only some kinds have is read when the kind is known.
#[derive(Deserialize)]
pub(super) struct Model<'a> {
    #[serde(rename = "type", default)]
    pub(super) kind: Option<String>,
    #[serde(borrow)]
    vocab: &'a RawValue,
    #[serde(borrow, default)]
    merges: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) unk_token: Option<String>,
    #[serde(default)]
    pub(super) continuing_subword_prefix: Option<String>,
    #[serde(default)]
    pub(super) end_of_word_suffix: Option<String>,
    #[serde(default)]
    pub(super) max_input_chars_per_word: Option<usize>,
    #[serde(default)]
    pub(super) dropout: Option<f64>,
    #[serde(default)]
    pub(super) byte_fallback: bool,
    #[serde(default)]
    pub(super) fuse_unk: bool,
    #[serde(default)]
    pub(super) ignore_merges: bool,
}

impl Model<'_> {
    /// Return every piece with its number, which must be below `limit`.
    pub(super) fn vocab(&self, limit: usize) -> Result<HashMap<String, u32>, String> {
        let vocab: HashMap<String, u32> = serde_json::from_str(self.vocab.get())
            .map_err(|fault| format!("`model.vocab` must give a number to each piece: {fault}"))?;
        vocab.iter().try_for_each(|(piece, &id)| check(piece, id, limit))?;
        Ok(vocab)
    }

    /// Return the pairs that are joined, the most urgent first. Older files write a pair as one string with a space
    /// between.
    pub(super) fn merges(&self) -> Result<Vec<[String; 2]>, String> {
        let text = self.merges.ok_or("`model.merges` is missing")?.get();
        if let Ok(pairs) = serde_json::from_str(text) {
            return Ok(pairs);
        }
        let lines: Vec<String> = serde_json::from_str(text).map_err(|fault| {
            format!("`model.merges` must be pairs, or strings with a space between two pieces: {fault}")
        })?;
        lines.iter().map(|line| pair_of(line)).collect()
    }
}

/// Refuse a piece without a row of its own, which would have no vector.
pub(super) fn check(piece: &str, id: u32, limit: usize) -> Result<(), String> {
    if (id as usize) < limit {
        return Ok(());
    }
    Err(format!("the piece {piece:?} has the number {id}, but the table has rows for {limit} pieces only"))
}

fn pair_of(line: &str) -> Result<[String; 2], String> {
    match line.split_once(' ') {
        Some((left, right)) if !right.contains(' ') => Ok([left.to_owned(), right.to_owned()]),
        _ => Err(format!("`model.merges` must name two pieces with a space between, not {line:?}")),
    }
}
