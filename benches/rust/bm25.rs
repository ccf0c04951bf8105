//! The text index: building, searching, changing.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::{Corpus, Query, Segment};
use memctx_core::Filter;
use memctx_core::bm25::Bm25Index;
use memctx_core::text::Mode;

const SEGMENTS: u64 = 20_000;
const QUERIES: u64 = 200;
const LATER: u64 = 400;

fn indexed(segments: &[Segment]) -> Bm25Index {
    let mut index = Bm25Index::new(Mode::Memctx);
    for segment in segments {
        add(&mut index, segment);
    }
    index
}

fn add(index: &mut Bm25Index, segment: &Segment) {
    index.add(&segment.id, &segment.text, "").expect("the index has room");
}

fn build(criterion: &mut Criterion, segments: &[Segment]) {
    let mut group = criterion.benchmark_group("bm25/build");
    group.sample_size(10);
    for count in [2_000, segments.len()] {
        let segments = &segments[..count];
        let bytes: usize = segments.iter().map(|segment| segment.text.len()).sum();
        group.throughput(Throughput::ElementsAndBytes { elements: count as u64, bytes: bytes as u64 });
        group.bench_with_input(BenchmarkId::from_parameter(count), segments, |bencher, segments| {
            bencher.iter_with_large_drop(|| indexed(segments));
        });
    }
    group.finish();
}

fn search(criterion: &mut Criterion, index: &Bm25Index, queries: &[Query]) {
    let mut group = criterion.benchmark_group("bm25/search");
    group.throughput(Throughput::Elements(queries.len() as u64));
    let short: Vec<&str> = queries.iter().map(|query| query.short.as_str()).collect();
    let long: Vec<&str> = queries.iter().map(|query| query.long.as_str()).collect();
    for (name, texts) in [("short", short), ("long", long)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for text in &texts {
                    black_box(index.search(text, 10, Filter::default()));
                }
            });
        });
    }
    group.finish();
}

fn change(criterion: &mut Criterion, index: &mut Bm25Index, queries: &[Query], later: &[Segment]) {
    let mut group = criterion.benchmark_group("bm25/change");
    let mut supply = later.iter().zip(queries.iter().cycle()).cycle();
    let mut next = || supply.next().expect("the supply goes round");
    group.bench_function("add, then search", |bencher| {
        bencher.iter(|| {
            let (segment, query) = next();
            add(index, segment);
            index.search(&query.short, 10, Filter::default())
        });
    });
    group.bench_function("remove", |bencher| {
        bencher.iter_custom(|times| {
            (0..times).fold(Duration::ZERO, |spent, _| {
                let (segment, _) = next();
                add(index, segment);
                let start = Instant::now();
                black_box(index.remove(&segment.id));
                spent + start.elapsed()
            })
        });
    });
    group.finish();
}

fn bm25(criterion: &mut Criterion) {
    let corpus = Corpus::new(7);
    let mut segments = corpus.segments(SEGMENTS + LATER);
    let later = segments.split_off(SEGMENTS as usize);
    let queries: Vec<Query> = (0..QUERIES).map(|index| corpus.query(index, SEGMENTS)).collect();
    build(criterion, &segments);
    let mut index = indexed(&segments);
    search(criterion, &index, &queries);
    change(criterion, &mut index, &queries, &later);
}

criterion_group!(benches, bm25);
criterion_main!(benches);
