//! Vectors on disk: reading, checking, rewriting, adding to a file. Writing includes the wait for the disk.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::{Corpus, unit_vectors};
use memctx_core::vmem;
use tempfile::tempdir;

const DIM: usize = 384;
const ROWS: u64 = 20_000;
const BYTES_PER_ENTRY: u64 = 2 + 36 + 4 * DIM as u64;

fn whole_file(criterion: &mut Criterion) {
    let folder = tempdir().expect("there is room for a file");
    let path = folder.path().join("vectors.bin");
    let values = unit_vectors(7, ROWS, DIM);
    let names = Corpus::new(7).ids(ROWS);
    let ids: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut group = criterion.benchmark_group("vmem");
    group.sample_size(20);
    group.throughput(Throughput::ElementsAndBytes { elements: ROWS, bytes: ROWS * BYTES_PER_ENTRY });
    group.bench_function("write", |bencher| bencher.iter(|| vmem::write(&path, &ids, &values, DIM, false)));
    group.bench_function("read", |bencher| bencher.iter_with_large_drop(|| vmem::read(&path)));
    group.bench_function("verify", |bencher| bencher.iter(|| vmem::verify(&path)));
    group.throughput(Throughput::Elements(1));
    group.bench_function("append", |bencher| bencher.iter(|| vmem::append(&path, &ids[..1], &values[..DIM], DIM)));
    group.finish();
}

criterion_group!(benches, whole_file);
criterion_main!(benches);
