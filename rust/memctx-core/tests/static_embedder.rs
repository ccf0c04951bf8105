//! Vectors from tables of word pieces: against golden values, and broken files.
// The numbers in golden tables are small.
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod golden;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use memctx_core::embed::{Choices, StaticEmbedder};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

static GOLDEN: LazyLock<Value> = LazyLock::new(|| golden::load("static.json"));
const KINDS: [&str; 3] = ["bert", "llama", "crossing"];

/// Every piece counts.
const ENDLESS: Choices<'static> = Choices { tokenizer: None, name: None, dim: None, max_tokens: 1 << 20 };

fn size(kind: &str, what: &str) -> usize {
    GOLDEN[kind][what].as_u64().expect("a number") as usize
}

/// Return the number in a row and column of the golden tables, times 64.
fn cell(i: usize, j: usize) -> i32 {
    ((31 * i * i + 7 * i + 53 * j * j + 17 * i * j) % 201) as i32 - 100
}

/// Values of a golden table in one of the ways to store them.
fn stored(dtype: &str, rows: usize, dim: usize) -> Vec<u8> {
    let cells = (0..rows * dim).map(|at| cell(at / dim, at % dim));
    let floats = cells.clone().map(|cell| cell as f32 / 64.0);
    match dtype {
        "F32" => floats.flat_map(f32::to_le_bytes).collect(),
        "BF16" => floats.flat_map(|value| ((value.to_bits() >> 16) as u16).to_le_bytes()).collect(),
        "F16" => floats.flat_map(|value| half(value).to_le_bytes()).collect(),
        "I8" => cells.map(|cell| cell as u8).collect(),
        other => unreachable!("{other}"),
    }
}

/// Return a float that a half can hold, as that half.
fn half(value: f32) -> u16 {
    if value == 0.0 {
        return 0;
    }
    let bits = value.to_bits();
    (bits >> 16 & 0x8000) as u16 | (((bits >> 23 & 0xFF) - 112) << 10) as u16 | (bits >> 13 & 0x3FF) as u16
}

/// Return a safetensors file with these tensors: name, type, shape, bytes.
fn tensors(tensors: &[(&str, &str, &[usize], Vec<u8>)]) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    let mut data = Vec::new();
    for (name, dtype, shape, bytes) in tensors {
        let start = data.len();
        data.extend(bytes);
        header.insert((*name).to_owned(), json!({"dtype": dtype, "shape": shape, "data_offsets": [start, data.len()]}));
    }
    let header = serde_json::to_vec(&header).expect("JSON");
    [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
}

fn folder(table: &[u8], tokenizer: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("model.safetensors"), table).expect("written");
    fs::write(folder.path().join("tokenizer.json"), tokenizer).expect("written");
    folder
}

fn golden_table(kind: &str, dtype: &str) -> Vec<u8> {
    let (rows, dim) = (size(kind, "rows"), size(kind, "dim"));
    let name = if kind == "bert" { "embeddings" } else { "embedding.weight" };
    tensors(&[(name, dtype, &[rows, dim], stored(dtype, rows, dim))])
}

fn golden_folder(kind: &str, dtype: &str) -> TempDir {
    folder(&golden_table(kind, dtype), &GOLDEN[kind]["tokenizer"].to_string())
}

fn golden_embedder(kind: &str, choices: Choices<'_>) -> StaticEmbedder {
    StaticEmbedder::load(golden_folder(kind, "F32").path(), choices).expect("the golden model loads")
}

fn vector(embedder: &StaticEmbedder, text: &str) -> Vec<f32> {
    let mut vector = vec![f32::NAN; embedder.dim()];
    let counts = embedder.embed(text, &mut vector);
    assert_eq!(counts, vector.iter().any(|&value| value != 0.0), "{text:?}");
    vector
}

#[test]
fn golden_pieces_and_vectors() {
    for kind in KINDS {
        for dtype in ["F32", "F16", "BF16", "I8"] {
            let embedder = StaticEmbedder::load(golden_folder(kind, dtype).path(), ENDLESS).expect("loads");
            for case in GOLDEN[kind]["cases"].as_array().expect("cases") {
                let text = case["text"].as_str().expect("text");
                assert_eq!(json!(embedder.tokens(text)), case["ids"], "{kind} {text:?}");
                let expected = case["vector"].as_array().expect("values");
                for (found, expected) in vector(&embedder, text).iter().zip(expected) {
                    let expected = expected.as_f64().expect("a number");
                    assert!((f64::from(*found) - expected).abs() < 1e-5, "{kind} {dtype} {text:?}");
                }
            }
        }
    }
}

/// Return words that are pieces, words that are not, marks, and characters that the rules treat apart.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "(the|parcel|newest|unpacked|room|from|sent|PARCEL|Zürich|followed)",
        2 => "[a-z]{1,6}",
        3 => " {1,5}",
        1 => "(<s>|</s>|<unk>|\\[MASK\\]|\\[UNK\\]|\\[CLS|<0x0A>|##s|▁{1,9})",
        1 => "[A-Zäöüéßİıſ ΣςσÅǄﬁ]{1,3}",
        1 => "[\t\n\r\u{b}\u{0}\u{7}\u{85}\u{a0}\u{200b}\u{200d}\u{ad}\u{feff}\u{fffd}\u{2028}\u{3000}]{1,2}",
        1 => "[\u{301}\u{307}\u{327}\u{323}\u{3099}\u{20dd}]{1,3}",
        1 => "[飞书消息漢字豈𠀀か가각힣ᄒ]{1,3}",
        1 => "[!-/:-@\\[-`{-~‘’“”…—¡¿、。·]{1,3}",
        1 => "[0-9①½²]{1,4}",
        1 => "[😀🚀\u{fe0f}\u{e000}]{1,2}",
        1 => "a{95,105}",
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_limit_keeps_the_first_pieces(text in texts(), most in 1_usize..40) {
        for kind in ["bert", "llama"] {
            static ALL: LazyLock<[StaticEmbedder; 2]> =
                LazyLock::new(|| ["bert", "llama"].map(|kind| golden_embedder(kind, ENDLESS)));
            let all = ALL[usize::from(kind == "llama")].tokens(&text);
            let limited = golden_embedder(kind, Choices { max_tokens: most, ..ENDLESS });
            prop_assert_eq!(&limited.tokens(&text), &all[..all.len().min(most)]);
        }
    }
}

/// Return a tokenizer whose pieces are the letters from a on, and a table with weights and a mapping.
fn letters(count: u8) -> String {
    let mut vocab: serde_json::Map<String, Value> =
        (0..count).map(|id| (char::from(b'a' + id).to_string(), json!(id))).collect();
    vocab.insert("[UNK]".to_owned(), json!(count));
    json!({
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocab},
    })
    .to_string()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn numbers(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn vectors_are_weighted_means_at_length_one(
        (dim, kept) in (1_usize..40).prop_flat_map(|dim| (Just(dim), 1..=dim)),
        values in prop::collection::vec(-4.0_f32..4.0, 160),
        weights in prop::option::of(prop::collection::vec(-2.0_f32..2.0, 7)),
        mapping in prop::option::of(prop::collection::vec(0_i64..4, 7)),
        word in "[a-f ]{0,30}",
    ) {
        let rows = if mapping.is_some() { 4 } else { 7 };
        let values: Vec<f32> = (0..rows * dim).map(|at| values[at % values.len()]).collect();
        let mut parts: Vec<(&str, &str, &[usize], Vec<u8>)> = Vec::new();
        let shape = [rows, dim];
        parts.push(("embeddings", "F32", &shape, floats(&values)));
        if let Some(weights) = &weights {
            parts.push(("weights", "F32", &[7], floats(weights)));
        }
        if let Some(mapping) = &mapping {
            parts.push(("mapping", "I64", &[7], numbers(mapping)));
        }
        let folder = folder(&tensors(&parts), &letters(6));
        let embedder = StaticEmbedder::load(folder.path(), Choices { dim: Some(kept), ..ENDLESS }).expect("loads");
        let text: String = word.chars().flat_map(|c| [c, ' ']).collect();
        let mut sums = vec![0.0_f64; kept];
        for letter in word.bytes().filter(|byte| *byte != b' ').map(|byte| usize::from(byte - b'a')) {
            let row = mapping.as_ref().map_or(letter, |mapping| mapping[letter] as usize);
            let weight = weights.as_ref().map_or(1.0, |weights| f64::from(weights[letter]));
            for (sum, value) in sums.iter_mut().zip(&values[row * dim..]) {
                *sum += weight * f64::from(*value);
            }
        }
        let norm = sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt();
        // Rows that cancel out nearly leave only rounding.
        prop_assume!(norm == 0.0 || norm > 1e-2);
        for (found, sum) in vector(&embedder, &text).iter().zip(&sums) {
            let expected = if norm > 0.0 { sum / norm } else { 0.0 };
            prop_assert!((f64::from(*found) - expected).abs() < 1e-5);
        }
    }
}

#[test]
fn texts_without_known_pieces_have_no_vector() {
    for kind in KINDS {
        let embedder = golden_embedder(kind, ENDLESS);
        for text in ["", " ", " \t\n\u{3000}"] {
            assert!(!embedder.embed(text, &mut vec![f32::NAN; embedder.dim()]), "{kind} {text:?}");
        }
    }
    let bert = golden_embedder("bert", ENDLESS);
    for text in ["[UNK]", "ж 😀 ж", "\u{0}\u{200b}"] {
        assert_eq!(vector(&bert, text), vec![0.0; bert.dim()], "{text:?}");
    }
}

#[test]
fn rows_that_cancel_out_or_run_over_have_no_vector() {
    let table = floats(&[1.0, -2.0, -1.0, 2.0, f32::MAX, 0.0, 0.0, 0.0]);
    let folder = folder(&tensors(&[("embeddings", "F32", &[4, 2], table)]), &letters(3));
    let embedder = StaticEmbedder::load(folder.path(), ENDLESS).expect("loads");
    for text in ["a b", "c c"] {
        assert_eq!(vector(&embedder, text), [0.0, 0.0], "{text:?}");
    }
}

#[test]
fn endless_texts_end_soon() {
    for kind in KINDS {
        let embedder = golden_embedder(kind, Choices::default());
        for unit in ["a", "the parcel ", " ", "飞", "\u{301}", "<"] {
            let text = unit.repeat((50 << 20) / unit.len());
            let start = std::time::Instant::now();
            vector(&embedder, &text);
            // Enough for a busy machine and an unoptimised build; work that grows with the square would take hours.
            assert!(start.elapsed().as_secs() < 20, "{kind} {unit:?}");
        }
    }
}

#[test]
fn names_come_from_the_folder_or_the_file() {
    let folder = golden_folder("bert", "F32");
    let model = folder.path().join("potion");
    fs::create_dir(&model).expect("made");
    for file in ["model.safetensors", "tokenizer.json"] {
        fs::copy(folder.path().join(file), model.join(file)).expect("copied");
    }
    let load = |path: &Path, choices| StaticEmbedder::load(path, choices).expect("loads");
    assert_eq!(load(&model, ENDLESS).name(), "potion");
    assert_eq!(load(&model.join("model.safetensors"), ENDLESS).name(), "potion");
    assert_eq!(load(&model, Choices { name: Some("mine"), ..ENDLESS }).name(), "mine");
    let table = model.join("l2_supercat_256.safetensors");
    fs::rename(model.join("model.safetensors"), &table).expect("renamed");
    let tokenizer = folder.path().join("tokenizer.json");
    let named = load(&table, Choices { tokenizer: Some(&tokenizer), ..ENDLESS });
    assert_eq!((named.name(), named.dim()), ("l2_supercat_256", 6));
    let inner = folder.path().join("nested");
    fs::create_dir(&inner).expect("made");
    fs::rename(&model, inner.join("0_StaticEmbedding")).expect("moved");
    fs::rename(
        inner.join("0_StaticEmbedding/l2_supercat_256.safetensors"),
        inner.join("0_StaticEmbedding/model.safetensors"),
    )
    .expect("renamed");
    assert_eq!(load(&inner, ENDLESS).name(), "nested");
}

#[test]
fn revisions_change_with_what_changes_vectors() {
    let revision = |table: &[u8], tokenizer: &str, choices: Choices<'_>| {
        let embedder = StaticEmbedder::load(folder(table, tokenizer).path(), choices).expect("loads");
        embedder.revision().to_owned()
    };
    let table = golden_table("bert", "F32");
    let tokenizer = GOLDEN["bert"]["tokenizer"].to_string();
    let first = revision(&table, &tokenizer, ENDLESS);
    assert_eq!(first.len(), 16);
    assert_eq!(first, revision(&table, &tokenizer, Choices { name: Some("other"), ..ENDLESS }));
    let mut other_table = table.clone();
    *other_table.last_mut().expect("bytes") ^= 1;
    let rows = size("bert", "rows");
    let weighted = |weight: f32| {
        let shape = [rows, 6];
        let table = ("embeddings", "F32", &shape[..], stored("F32", rows, 6));
        tensors(&[table, ("weights", "F32", &[rows], floats(&vec![weight; rows]))])
    };
    let others = [
        revision(&other_table, &tokenizer, ENDLESS),
        revision(&golden_table("bert", "F16"), &tokenizer, ENDLESS),
        revision(&golden_table("bert", "BF16"), &tokenizer, ENDLESS),
        revision(&table, &tokenizer.replace("\"lowercase\":true", "\"lowercase\":false"), ENDLESS),
        revision(&table, &tokenizer, Choices::default()),
        revision(&table, &tokenizer, Choices { dim: Some(3), ..ENDLESS }),
        revision(&weighted(1.0), &tokenizer, ENDLESS),
        revision(&weighted(2.0), &tokenizer, ENDLESS),
    ];
    let mut all: Vec<&String> = others.iter().chain([&first]).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), others.len() + 1);
}

/// Return the error of a model that cannot be loaded.
fn fault(table: &[u8], tokenizer: &str) -> String {
    let folder = folder(table, tokenizer);
    let fault = StaticEmbedder::load(folder.path(), ENDLESS).expect_err("refused").to_string();
    let path = folder.path().canonicalize().expect("a path");
    fault.strip_prefix(path.to_str().expect("UTF-8")).map_or(fault.clone(), |rest| rest[1..].to_owned())
}

#[test]
fn broken_tables_are_named() {
    let ones = |count: usize| floats(&vec![1.0; count]);
    let table = ("embeddings", "F32", &[7_usize, 2][..], ones(14));
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (Vec::new(), "model.safetensors: not a safetensors file"),
        (b"no tensors at all".to_vec(), "model.safetensors: not a safetensors file"),
        (tensors(std::slice::from_ref(&table))[..40].to_vec(), "model.safetensors: not a safetensors file"),
        (
            tensors(&[("rows", "F32", &[2], ones(2)), ("more", "F32", &[1], ones(1))]),
            "a tensor `embeddings` or `embedding.weight` is expected; the file has [\"more\", \"rows\"]",
        ),
        (tensors(&[("embeddings", "F32", &[14], ones(14))]), "must have rows and columns; its shape is [14]"),
        (tensors(&[("embeddings", "F32", &[7, 0], ones(0))]), "must have rows and columns; its shape is [7, 0]"),
        (tensors(&[("embeddings", "F64", &[7, 1], ones(14))]), "must hold F32, F16, BF16 or I8, not F64"),
        (
            tensors(&[("embeddings", "F32", &[7, 2], floats(&[[1.0; 9].as_slice(), &[f32::NAN; 5]].concat()))]),
            "column 1 of row 4 of the tensor `embeddings` is not a finite number",
        ),
        (
            tensors(&[("embeddings", "F16", &[7, 1], [[0_u8, 0x7C]; 7].concat())]),
            "column 0 of row 0 of the tensor `embeddings` is not a finite number",
        ),
        (
            tensors(&[table.clone(), ("weights", "F32", &[6], ones(6))]),
            "the tensor `weights` must have 7 values, not 6",
        ),
        (tensors(&[table.clone(), ("weights", "F32", &[7, 1], ones(7))]), "`weights` must have one dimension"),
        (
            tensors(&[table.clone(), ("weights", "F32", &[7], floats(&[f32::INFINITY; 7]))]),
            "weight 0 is inf; every weight must be a finite number",
        ),
        (
            tensors(&[table.clone(), ("weights", "I64", &[7], numbers(&[1; 7]))]),
            "the tensor `weights` must hold F32 or F64, not I64",
        ),
        (
            tensors(&[table.clone(), ("mapping", "I64", &[7], numbers(&[0, 1, 2, 3, 4, 5, 7]))]),
            "the tensor `mapping` points to row 7, but the table has 7 rows",
        ),
        (
            tensors(&[table.clone(), ("mapping", "I64", &[7], numbers(&[0, -1, 2, 3, 4, 5, 6]))]),
            "the tensor `mapping` gives the row -1 to the piece 1",
        ),
        (
            tensors(&[table.clone(), ("mapping", "F32", &[7], ones(7))]),
            "the tensor `mapping` must hold I32, U32 or I64, not F32",
        ),
        (tensors(&[table, ("mapping", "I64", &[3], numbers(&[0, 1, 2]))]), "but the table has rows for 3 pieces only"),
        (
            tensors(&[("embeddings", "F32", &[6, 2], ones(12))]),
            "\"[UNK]\" has the number 6, but the table has rows for 6 pieces only",
        ),
    ];
    for (table, expected) in cases {
        let found = fault(&table, &letters(6));
        assert!(found.contains(expected), "{found:?} where {expected:?} was expected");
    }
}

#[test]
fn other_tokenizers_are_named() {
    let table = tensors(&[("embeddings", "F32", &[400, 1], floats(&[1.0; 400]))]);
    let changed = |kind: &str, pointer: &str, value: Value| {
        let mut tokenizer = GOLDEN[kind]["tokenizer"].clone();
        *tokenizer.pointer_mut(pointer).expect("part of the tokenizer") = value;
        tokenizer.to_string()
    };
    let cases = [
        ("{".to_owned(), "tokenizer.json: not the tokenizer.json of a model: EOF"),
        ("[]".to_owned(), "not the tokenizer.json of a model"),
        ("{\"model\": {}}".to_owned(), "missing field `vocab`"),
        (changed("bert", "/model/type", json!("Unigram")), "a tokenizer of the kind Unigram; memctx reads WordPiece"),
        (changed("bert", "/model/type", Value::Null), "a tokenizer of the kind (none)"),
        (changed("bert", "/normalizer", json!({"type": "NFC"})), "`normalizer` must be BertNormalizer here, not NFC"),
        (changed("bert", "/normalizer", json!({"type": "BertNormalizer"})), "missing field `clean_text`"),
        (changed("bert", "/pre_tokenizer", Value::Null), "`pre_tokenizer` must be BertPreTokenizer here, not null"),
        (changed("bert", "/model/vocab", json!(["a", "b"])), "`model.vocab` must give a number to each piece"),
        (changed("bert", "/model/vocab", json!({"a": -1})), "`model.vocab` must give a number to each piece"),
        (changed("bert", "/model/vocab", json!({"a": u32::MAX})), "\"a\" has the number 4294967295, but the table has"),
        (
            changed("bert", "/added_tokens/0/id", json!(400)),
            "\"[PAD]\" has the number 400, but the table has rows for 400",
        ),
        (changed("bert", "/added_tokens/0/normalized", json!(true)), "the added token \"[PAD]\" is `normalized`"),
        (changed("bert", "/added_tokens/0/single_word", json!(true)), "the added token \"[PAD]\" is `single_word`"),
        (
            changed("llama", "/pre_tokenizer", json!({"type": "ByteLevel"})),
            "`pre_tokenizer` must be null here, not ByteLevel",
        ),
        (changed("llama", "/normalizer", json!({"type": "NFC"})), "as that of Llama does, not NFC"),
        (changed("llama", "/normalizer/normalizers/0/prepend", json!("_")), "not Prepend, Replace"),
        (changed("llama", "/model/dropout", json!(0.1)), "`model.dropout` is set"),
        (changed("llama", "/model/ignore_merges", json!(true)), "`model.ignore_merges` is set"),
        (changed("llama", "/model/end_of_word_suffix", json!("</w>")), "`model.end_of_word_suffix` is set"),
        (changed("llama", "/model/merges", json!(["a b c"])), "two pieces with a space between, not \"a b c\""),
        (changed("llama", "/model/merges", json!([1])), "`model.merges` must be pairs"),
        (changed("llama", "/model/merges", json!(["a Z"])), "needs \"aZ\", which is not in the vocabulary"),
    ];
    for (tokenizer, expected) in cases {
        let found = fault(&table, &tokenizer);
        assert!(found.contains(expected), "{found:?} where {expected:?} was expected");
    }
}

#[test]
fn impossible_choices_are_refused() {
    let folder = golden_folder("bert", "F32");
    let refused = |path: &Path, choices| StaticEmbedder::load(path, choices).expect_err("refused").to_string();
    let path = folder.path();
    assert_eq!(refused(path, Choices { max_tokens: 0, ..ENDLESS }), "max_tokens must be 1 or more, not 0");
    assert_eq!(
        refused(path, Choices { name: Some(""), ..ENDLESS }),
        "name must be at least one character long, not \"\""
    );
    for dim in [0, 7] {
        let found = refused(path, Choices { dim: Some(dim), ..ENDLESS });
        assert!(found.starts_with("dim must be between 1 and the number of the table's columns, not"), "{found}");
        assert!(found.ends_with("has 6"), "{found}");
    }
    let nowhere = path.join("nowhere");
    assert!(refused(&nowhere, ENDLESS).contains("nowhere: No such file"));
    assert!(refused(path, Choices { tokenizer: Some(&nowhere), ..ENDLESS }).contains("needs a tokenizer here"));
    fs::remove_file(path.join("tokenizer.json")).expect("removed");
    assert!(refused(path, ENDLESS).contains("tokenizer.json: the table"));
    fs::remove_file(path.join("model.safetensors")).expect("removed");
    assert!(refused(path, ENDLESS).contains("model.safetensors is expected in this folder, or in 0_StaticEmbedding"));
}
