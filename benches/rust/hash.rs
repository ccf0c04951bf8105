//! Embedding by hashed trigrams.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::Corpus;
use memctx_core::embed::HashEmbedder;

const DIM: usize = 384;
const TEXTS: u64 = 500;

fn hash(criterion: &mut Criterion) {
    let segments = Corpus::new(7).segments(TEXTS);
    let bytes: usize = segments.iter().map(|segment| segment.text.len()).sum();
    let embedder = HashEmbedder::new(DIM).expect("the dimension is allowed");
    let mut vector = vec![0.0; DIM];
    let mut group = criterion.benchmark_group("hash");
    group.sample_size(20);
    group.throughput(Throughput::ElementsAndBytes { elements: TEXTS, bytes: bytes as u64 });
    group.bench_function("embed", |bencher| {
        bencher.iter(|| {
            for segment in &segments {
                embedder.embed(black_box(&segment.text), &mut vector);
            }
        });
    });
    group.finish();
}

criterion_group!(benches, hash);
criterion_main!(benches);
