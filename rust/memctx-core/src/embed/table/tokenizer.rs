//! Tokenizer defined by a `tokenizer.json`.

use std::ops::ControlFlow;

use serde_json::Value;

use super::description::Description;
use super::llama::Llama;
use super::marks::{Marks, Part};
use super::word_piece::WordPiece;

/// Cuts texts into pieces.
#[derive(Debug)]
pub(super) struct Tokenizer {
    marks: Marks,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    WordPiece(Box<WordPiece>),
    Llama(Llama),
}

impl Tokenizer {
    /// Create the tokenizer from the bytes of the file, for a table that knows `limit` pieces. What differs from the
    /// two kinds below is refused: read as one of them it would give vectors that are nearly right.
    pub(super) fn new(json: &[u8], limit: usize) -> Result<Self, String> {
        if u32::try_from(json.len()).is_err() {
            return Err(format!("a tokenizer must be smaller than 4 GiB, not {} bytes", json.len()));
        }
        let file: Description<'_> =
            serde_json::from_slice(json).map_err(|fault| format!("not the tokenizer.json of a model: {fault}"))?;
        let kind = match file.model.kind.as_deref() {
            Some("WordPiece") => {
                expect("normalizer", &file.normalizer, "BertNormalizer")?;
                expect("pre_tokenizer", &file.pre_tokenizer, "BertPreTokenizer")?;
                let rules = serde_json::from_value(file.normalizer)
                    .map_err(|fault| format!("`normalizer` is not that of BERT: {fault}"))?;
                Kind::WordPiece(Box::new(WordPiece::new(&file.model, limit, rules)?))
            }
            Some("BPE") => {
                expect("pre_tokenizer", &file.pre_tokenizer, "null")?;
                let model = &file.model;
                let is_set = |part: &Option<String>| part.as_ref().is_some_and(|part| !part.is_empty());
                let refused = [
                    ("dropout", model.dropout.is_some_and(|chance| chance > 0.0)),
                    ("ignore_merges", model.ignore_merges),
                    ("continuing_subword_prefix", is_set(&model.continuing_subword_prefix)),
                    ("end_of_word_suffix", is_set(&model.end_of_word_suffix)),
                ];
                if let Some((name, _)) = refused.iter().find(|(_, is_set)| *is_set) {
                    return Err(format!("`model.{name}` is set, which memctx does not read in a BPE tokenizer"));
                }
                Kind::Llama(Llama::new(model, limit, space_of(&file.normalizer)?)?)
            }
            kind => {
                let kind = kind.unwrap_or("(none)");
                return Err(format!("a tokenizer of the kind {kind}; memctx reads WordPiece (BERT) and BPE (Llama)"));
            }
        };
        Ok(Self { marks: Marks::new(&file.added_tokens, limit)?, kind })
    }

    /// Return the numbers of a text's pieces, at most so many.
    pub(super) fn ids(&self, text: &str, most: usize) -> Vec<u32> {
        let mut ids = Vec::with_capacity(most.min(text.len() / 3 + 1));
        let _ = self.marks.for_each(text, |part| {
            match (part, &self.kind) {
                (Part::Mark(id), _) => ids.push(id),
                (Part::Text(text), Kind::WordPiece(kind)) => kind.split(text, most, &mut ids),
                (Part::Text(text), Kind::Llama(kind)) => kind.split(text, most, &mut ids),
            }
            if ids.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        ids.truncate(most);
        ids
    }

    /// Return whether it knows hardly a piece of Chinese, Japanese or Korean.
    pub(super) fn is_latin_only(&self) -> bool {
        match &self.kind {
            Kind::WordPiece(pieces) => pieces.is_latin_only(),
            Kind::Llama(pieces) => pieces.is_latin_only(),
        }
    }

    /// Return the number that stands for what is no piece.
    pub(super) fn unknown(&self) -> Option<u32> {
        match &self.kind {
            Kind::WordPiece(kind) => kind.unknown(),
            Kind::Llama(kind) => kind.unknown(),
        }
    }
}

/// Check the kind of a part of the file.
fn expect(what: &str, part: &Value, kind: &str) -> Result<(), String> {
    let found = kind_of(part);
    if found == kind {
        return Ok(());
    }
    Err(format!("`{what}` must be {kind} here, not {found}: memctx reads the tokenizers of BERT and of Llama only"))
}

fn kind_of(part: &Value) -> &str {
    match part {
        Value::Null => "null",
        part => part["type"].as_str().unwrap_or("without a type"),
    }
}

/// Return the replacement for spaces, and the prefix of a text, of a Llama tokenizer.
fn space_of(normalizer: &Value) -> Result<char, String> {
    let steps = normalizer["normalizers"].as_array().map(Vec::as_slice).unwrap_or_default();
    if let [first, second] = steps
        && (kind_of(first), kind_of(second)) == ("Prepend", "Replace")
        && second["pattern"]["String"] == " "
        && second["content"] == first["prepend"]
        && let Some(space) = first["prepend"].as_str().and_then(|text| text.parse().ok())
    {
        return Ok(space);
    }
    let steps: Vec<&str> = steps.iter().map(kind_of).collect();
    let found = if steps.is_empty() { kind_of(normalizer).to_owned() } else { steps.join(", ") };
    Err(format!("`normalizer` must prepend one character and replace spaces by it, as that of Llama does, not {found}"))
}
