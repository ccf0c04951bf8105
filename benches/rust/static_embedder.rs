//! Embedding from tables of word pieces: one made up here, and `WordLlama`'s where `MEMCTX_WORDLLAMA` names its
//! package.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::Corpus;
use memctx_core::embed::{Choices, StaticEmbedder};

const DIM: usize = 256;
const TEXTS: u64 = 500;

fn bench(criterion: &mut Criterion, name: &str, embedder: &StaticEmbedder) {
    let segments = Corpus::new(7).segments(TEXTS);
    let bytes: usize = segments.iter().map(|segment| segment.text.len()).sum();
    let mut vector = vec![0.0; embedder.dim()];
    let mut group = criterion.benchmark_group("static");
    group.sample_size(20);
    group.throughput(Throughput::ElementsAndBytes { elements: TEXTS, bytes: bytes as u64 });
    group.bench_function(format!("{name}/tokens"), |bencher| {
        bencher.iter(|| segments.iter().map(|segment| embedder.tokens(black_box(&segment.text)).len()).sum::<usize>());
    });
    group.bench_function(format!("{name}/embed"), |bencher| {
        bencher.iter(|| {
            for segment in &segments {
                embedder.embed(black_box(&segment.text), &mut vector);
            }
        });
    });
    group.finish();
}

/// Return a table in half precision whose pieces are the words of the corpus and single characters.
fn made_up(folder: &Path) -> StaticEmbedder {
    let mut pieces: Vec<String> = vec!["[UNK]".to_owned()];
    pieces.extend((b'!'..=b'~').flat_map(|c| [char::from(c).to_string(), format!("##{}", char::from(c))]));
    for segment in Corpus::new(7).segments(TEXTS / 4) {
        pieces.extend(segment.text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase));
    }
    pieces.sort_unstable();
    pieces.dedup();
    let mut vocab = String::new();
    for (id, piece) in pieces.iter().enumerate() {
        let comma = if id == 0 { "" } else { "," };
        write!(vocab, "{comma}{}:{id}", serde_json::to_string(piece).expect("a string")).expect("strings grow");
    }
    let tokenizer = format!(
        r###"{{"normalizer":{{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"lowercase":true}},
        "pre_tokenizer":{{"type":"BertPreTokenizer"}},
        "model":{{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","vocab":{{{vocab}}}}}}}"###
    );
    let size = 2 * DIM * pieces.len();
    let header =
        format!(r#"{{"embeddings":{{"dtype":"F16","shape":[{},{DIM}],"data_offsets":[0,{size}]}}}}"#, pieces.len());
    let mut table = (header.len() as u64).to_le_bytes().to_vec();
    table.extend(header.as_bytes());
    table.extend((0..size).map(|at| (at * at / 7 % 0x3C) as u8));
    std::fs::write(folder.join("model.safetensors"), table).expect("written");
    std::fs::write(folder.join("tokenizer.json"), tokenizer).expect("written");
    StaticEmbedder::load(folder, Choices::default()).expect("loads")
}

fn static_embedder(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    bench(criterion, "made-up", &made_up(folder.path()));
    let Some(package) = std::env::var_os("MEMCTX_WORDLLAMA").map(PathBuf::from) else { return };
    let table = package.join("weights/l2_supercat_256.safetensors");
    let tokenizer = package.join("tokenizers/l2_supercat_tokenizer_config.json");
    let choices = Choices { tokenizer: Some(&tokenizer), ..Choices::default() };
    bench(criterion, "wordllama", &StaticEmbedder::load(&table, choices).expect("loads"));
    criterion.bench_function("static/wordllama/load", |bencher| {
        bencher.iter(|| StaticEmbedder::load(&table, choices).expect("loads"));
    });
}

criterion_group!(benches, static_embedder);
criterion_main!(benches);
