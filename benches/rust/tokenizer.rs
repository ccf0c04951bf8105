//! Cutting text into terms, by rules and by kind of text.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::{Corpus, Kind};
use memctx_core::text::{Mode, for_each_token};

const TEXTS: u64 = 500;

fn texts() -> Vec<(&'static str, Vec<String>)> {
    let corpus = Corpus::new(7);
    let of = |kind| (0..TEXTS).map(|index| corpus.text(kind, index)).collect();
    vec![
        ("english", of(Kind::English)),
        ("chinese", of(Kind::Chinese)),
        ("code", of(Kind::Code)),
        ("mixed", corpus.segments(TEXTS).into_iter().map(|segment| segment.text).collect()),
    ]
}

fn count(texts: &[String], mode: Mode) -> usize {
    let mut bytes = 0;
    for text in texts {
        for_each_token(text, mode, |token| bytes += token.len());
    }
    bytes
}

fn tokenizer(criterion: &mut Criterion) {
    let texts = texts();
    for mode in [Mode::Memctx, Mode::OpenClaw] {
        let mut group = criterion.benchmark_group(format!("tokenizer/{}", mode.name()));
        for (kind, texts) in &texts {
            group.throughput(Throughput::Bytes(texts.iter().map(String::len).sum::<usize>() as u64));
            group.bench_with_input(BenchmarkId::from_parameter(kind), texts, |bencher, texts| {
                bencher.iter(|| count(black_box(texts), mode));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, tokenizer);
criterion_main!(benches);
