//! Embedding with the packaged encoder: questions, and texts as long as what is stored.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::Corpus;
use memctx_core::embed::Encoder;

const WEIGHTS: &str = "../packages/memctx-model/src/memctx_model/encoder.safetensors";

fn encoder(criterion: &mut Criterion) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(WEIGHTS);
    let encoder = Encoder::load(&path).expect("the weights of the repository");
    let text = Corpus::new(7).segments(4).iter().map(|segment| segment.text.as_str()).collect::<Vec<_>>().join(" ");
    let mut vector = vec![0.0; encoder.dim()];
    let mut group = criterion.benchmark_group("encoder");
    for characters in [60, 200, 600, 1_000] {
        let text: String = text.chars().take(characters).collect();
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("pieces/{characters}"), |bencher| {
            bencher.iter(|| encoder.tokens(black_box(&text)).len());
        });
        group.bench_function(format!("query/{characters}"), |bencher| {
            bencher.iter(|| encoder.embed_query(black_box(&text), &mut vector));
        });
        group.bench_function(format!("text/{characters}"), |bencher| {
            bencher.iter(|| encoder.embed(black_box(&text), &mut vector));
        });
    }
    group.finish();
}

criterion_group!(benches, encoder);
criterion_main!(benches);
