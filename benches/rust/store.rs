//! The store: adding a message, searching both indexes, opening with a snapshot. Nothing waits for the disk.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::{Corpus, Kind};
use memctx_core::store::{Durability, Record, Request, Settings, Store};
use tempfile::tempdir;

const SEGMENTS: u64 = 20_000;
const QUERIES: u64 = 200;
const BATCH: usize = 256;
const KILOBYTE: usize = 1024;

fn open(path: &Path) -> Store {
    let settings = Settings { max_segments: usize::MAX, durability: Durability::Os, ..Settings::new("bench") };
    Store::open(path, settings).expect("a store that can be opened")
}

fn record(content: &str) -> Record<'_> {
    Record { role: "user", content, timestamp: None, metadata: None }
}

fn fill(store: &Store, corpus: &Corpus) {
    let segments = corpus.segments(SEGMENTS);
    for batch in segments.chunks(BATCH) {
        let records: Vec<Record<'_>> = batch.iter().map(|segment| record(&segment.text)).collect();
        store.add(&records).expect("there is room for a batch");
    }
    assert!(store.snapshot().expect("an open store"), "the snapshot was written");
}

fn search(criterion: &mut Criterion, store: &Store, corpus: &Corpus) {
    let queries: Vec<_> = (0..QUERIES).map(|index| corpus.query(index, SEGMENTS)).collect();
    let short: Vec<&str> = queries.iter().map(|query| query.short.as_str()).collect();
    let long: Vec<&str> = queries.iter().map(|query| query.long.as_str()).collect();
    let mut group = criterion.benchmark_group("store/search");
    group.throughput(Throughput::Elements(QUERIES));
    for (name, queries) in [("short", short), ("long", long)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for query in &queries {
                    black_box(store.search(&Request { query, limit: 10, ..Request::default() }).expect("a search"));
                }
            });
        });
    }
    group.finish();
}

fn load(criterion: &mut Criterion, path: &Path) {
    let mut group = criterion.benchmark_group("store/open");
    group.sample_size(20);
    group.throughput(Throughput::Elements(SEGMENTS));
    group.bench_function("snapshot", |bencher| {
        bencher.iter_with_large_drop(|| {
            let store = open(path);
            assert_eq!(store.len().expect("an open store"), SEGMENTS as usize);
            store
        });
    });
    group.finish();
}

fn add(criterion: &mut Criterion, store: &Store, corpus: &Corpus) {
    let mut group = criterion.benchmark_group("store/add");
    group.throughput(Throughput::Bytes(KILOBYTE as u64));
    let mut later = (SEGMENTS..).map(|index| kilobyte(&corpus.text(Kind::English, index)));
    let mut next = || later.next().expect("the corpus is endless");
    group.bench_function("1 kB", |bencher| {
        bencher.iter_batched(
            &mut next,
            |text| store.add(&[record(&text)]).expect("there is room for a record"),
            criterion::BatchSize::LargeInput,
        );
    });
    group.finish();
}

/// Return a text of just this size, so that the figure is for one length.
fn kilobyte(text: &str) -> String {
    text.chars().filter(char::is_ascii).cycle().take(KILOBYTE).collect()
}

fn store(criterion: &mut Criterion) {
    let corpus = Corpus::new(7);
    let folder = tempdir().expect("there is room for a store");
    let path = folder.path().join("memory");
    let store = open(&path);
    fill(&store, &corpus);
    search(criterion, &store, &corpus);
    load(criterion, &path);
    add(criterion, &store, &corpus);
}

criterion_group!(benches, store);
criterion_main!(benches);
