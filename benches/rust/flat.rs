//! Exact vector search: one query, a batch, adding.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::unit_vectors;
use memctx_core::Filter;
use memctx_core::vector::FlatIndex;

const DIM: usize = 384;
const ROWS: usize = 20_000;
const QUERIES: usize = 100;

fn indexed(ids: &[&str], rows: &[f32]) -> FlatIndex {
    let mut index = FlatIndex::new(DIM).expect("the dimension is allowed");
    index.add_many(ids, rows, "").expect("rows are finite");
    index
}

fn flat(criterion: &mut Criterion) {
    let vectors = unit_vectors(7, (ROWS + QUERIES) as u64, DIM);
    let (rows, queries) = vectors.split_at(ROWS * DIM);
    let names: Vec<String> = (0..ROWS).map(|number| number.to_string()).collect();
    let ids: Vec<&str> = names.iter().map(String::as_str).collect();
    for count in [2_000, ROWS] {
        search(criterion, &indexed(&ids[..count], &rows[..count * DIM]), queries);
    }
    add(criterion, &ids, rows);
}

fn search(criterion: &mut Criterion, index: &FlatIndex, queries: &[f32]) {
    let count = index.id_map().len();
    let mut group = criterion.benchmark_group("flat/search");
    group.throughput(Throughput::Elements(QUERIES as u64));
    group.bench_function(BenchmarkId::new("one by one", count), |bencher| {
        bencher.iter(|| {
            for query in queries.chunks(DIM) {
                black_box(index.search(query, 10, Filter::default()).expect("queries are finite"));
            }
        });
    });
    group.bench_function(BenchmarkId::new("batch", count), |bencher| {
        bencher.iter(|| index.search_many(black_box(queries), 10, Filter::default()));
    });
    group.finish();
}

fn add(criterion: &mut Criterion, ids: &[&str], rows: &[f32]) {
    let mut group = criterion.benchmark_group("flat/add");
    group.sample_size(10);
    group.throughput(Throughput::Elements(ids.len() as u64));
    group.bench_function("many", |bencher| bencher.iter_with_large_drop(|| indexed(ids, rows)));
    group.finish();
}

criterion_group!(benches, flat);
criterion_main!(benches);
