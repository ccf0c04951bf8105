//! Estimating what text costs a model.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::Corpus;
use memctx_core::text::Estimator;

const TEXTS: u64 = 2_000;

fn tokens(criterion: &mut Criterion) {
    let segments = Corpus::new(7).segments(TEXTS);
    let bytes: usize = segments.iter().map(|segment| segment.text.len()).sum();
    let mut group = criterion.benchmark_group("tokens");
    group.throughput(Throughput::Bytes(bytes as u64));
    for (name, estimator) in [("utf16", Estimator::Utf16), ("script", Estimator::Script)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| segments.iter().map(|segment| estimator.estimate(black_box(&segment.text))).sum::<usize>());
        });
    }
    group.finish();
}

criterion_group!(benches, tokens);
criterion_main!(benches);
