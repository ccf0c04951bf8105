//! Blending two rankings of 48 and choosing among the result.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use memctx_benches::{Corpus, unit_vectors};
use memctx_core::fusion::{BALANCE, Trigrams, Weights, merge, mmr};

const DIM: usize = 384;
const HITS: u32 = 48;
const CHOSEN: usize = 10;

/// Hits with falling scores, numbered from `first` on.
fn ranking(first: u32) -> Vec<(u32, f64)> {
    (0..HITS).map(|index| (first + index, 1.0 / f64::from(index + 1))).collect()
}

fn blend(criterion: &mut Criterion) {
    let (vector, bm25) = (ranking(0), ranking(HITS / 2));
    criterion.bench_function("fusion/blend 48 + 48", |bencher| {
        bencher.iter(|| {
            let merged = merge(black_box(&vector), black_box(&bm25));
            let mut scores: Vec<f64> = merged.iter().map(|(_, sides)| sides.score(Weights::default())).collect();
            scores.sort_by(|a, b| b.total_cmp(a));
            scores
        });
    });
}

fn choose(criterion: &mut Criterion) {
    let scores: Vec<f64> = ranking(0).into_iter().map(|(_, score)| score).collect();
    let vectors = unit_vectors(7, u64::from(HITS), DIM);
    let row = |number: usize| &vectors[number * DIM..][..DIM];
    criterion.bench_function("fusion/mmr 48, vectors", |bencher| {
        let cosine = |a, b| row(a).iter().zip(row(b)).map(|(a, b)| f64::from(a * b)).sum();
        bencher.iter(|| mmr(black_box(&scores), CHOSEN, BALANCE, cosine));
    });
    let segments = Corpus::new(7).segments(u64::from(HITS));
    criterion.bench_function("fusion/mmr 48, texts", |bencher| {
        bencher.iter(|| {
            let grams: Vec<Trigrams> = segments.iter().map(|segment| Trigrams::new(&segment.text)).collect();
            mmr(black_box(&scores), CHOSEN, BALANCE, |a, b| grams[a].likeness(&grams[b]))
        });
    });
}

criterion_group!(benches, blend, choose);
criterion_main!(benches);
