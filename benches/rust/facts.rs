//! Facts: stating one, asking for some, finding what is near to a text, reading the log.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::Corpus;
use memctx_core::facts::{Change, FactStore, Kind, Request, Settings, Statement};
use memctx_core::store::Durability;

const FACTS: u64 = 10_000;
const QUERIES: u64 = 200;
/// About as long as a fact is.
const LONGEST: usize = 120;

fn opened(path: &Path) -> FactStore {
    let settings = Settings { durability: Durability::Os, ..Settings::new("s") };
    FactStore::open(path, settings).expect("the folder is ours")
}

fn new(content: &str) -> Change<'_> {
    Change::Add { id: None, kind: Kind::Config, statement: Statement { content, ..Statement::default() } }
}

/// Return the beginnings of the corpus's texts, each with a number that sets it apart.
fn statements(corpus: &Corpus, count: u64) -> Vec<String> {
    let segments = corpus.segments(count);
    let start = |text: &str| text.chars().take(LONGEST).collect::<String>();
    segments.iter().zip(0_u64..).map(|(segment, number)| format!("{number}: {}", start(&segment.text))).collect()
}

fn ask(criterion: &mut Criterion, store: &FactStore, queries: &[String], name: &str) {
    let mut group = criterion.benchmark_group(format!("facts/{name}"));
    group.throughput(Throughput::Elements(queries.len() as u64));
    group.bench_function("search", |bencher| {
        bencher.iter(|| {
            for query in queries {
                let request = Request { query, limit: 10, ..Request::default() };
                black_box(store.search(&request).expect("searched"));
            }
        });
    });
    group.bench_function("nearest", |bencher| {
        bencher.iter(|| {
            for query in queries {
                black_box(store.nearest(query, 20, None).expect("searched"));
            }
        });
    });
    group.finish();
}

fn facts(criterion: &mut Criterion) {
    let corpus = Corpus::new(7);
    let contents = statements(&corpus, FACTS);
    let queries: Vec<String> = (0..QUERIES).map(|index| corpus.query(index, FACTS).short).collect();
    let folder = tempfile::tempdir().expect("room");
    let path = folder.path().join("memory");
    let store = opened(&path);
    let changes: Vec<Change<'_>> = contents.iter().map(|content| new(content)).collect();
    store.apply(&changes).expect("stored");
    ask(criterion, &store, &queries, "10000");
    let mut group = criterion.benchmark_group("facts");
    group.sample_size(20);
    group.bench_function(BenchmarkId::new("open", FACTS), |bencher| {
        bencher.iter(|| opened(&path).len().expect("read"));
    });
    let mut number = FACTS;
    group.bench_function(BenchmarkId::new("add", FACTS), |bencher| {
        bencher.iter(|| {
            number += 1;
            store.change(&new(&format!("{number}: the gateway listens on port {number}"))).expect("stored")
        });
    });
    group.finish();
}

criterion_group!(benches, facts);
criterion_main!(benches);
