//! Benchmarks of the steps that a text takes before it is stored.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::{Corpus, Kind};
use memctx_core::ingest::{Topics, entities, is_noise, strip_channel_prefix};

const TEXTS: u64 = 500;

type Rule<'a> = &'a dyn Fn(&str) -> usize;

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

fn ingest(criterion: &mut Criterion) {
    let texts = texts();
    let topics = Topics::default();
    let strip = |text: &str| strip_channel_prefix(text).len();
    let noise = |text: &str| usize::from(is_noise(text));
    let topics = |text: &str| topics.of(text).len();
    let entities = |text: &str| entities(text).len();
    let all = |text: &str| {
        let text = strip_channel_prefix(text);
        noise(&text) + topics(&text) + entities(&text)
    };
    let rules: [(&str, Rule<'_>); 5] =
        [("strip", &strip), ("noise", &noise), ("topics", &topics), ("entities", &entities), ("all", &all)];
    for (name, rule) in rules {
        let mut group = criterion.benchmark_group(format!("ingest/{name}"));
        for (kind, texts) in &texts {
            group.throughput(Throughput::Bytes(texts.iter().map(String::len).sum::<usize>() as u64));
            group.bench_with_input(BenchmarkId::from_parameter(kind), texts, |bencher, texts| {
                bencher.iter(|| texts.iter().map(|text| rule(black_box(text))).sum::<usize>());
            });
        }
        group.finish();
    }
}

criterion_group!(benches, ingest);
criterion_main!(benches);
