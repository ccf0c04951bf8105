//! Masking secrets: in texts without any, and in texts with one planted in every tenth.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::Corpus;
use memctx_core::redact::{Redaction, Redactor};

const TEXTS: u64 = 2_000;
const EVERY: usize = 10;

fn redact(criterion: &mut Criterion) {
    let clean: Vec<String> = Corpus::new(7).segments(TEXTS).into_iter().map(|segment| segment.text).collect();
    let mut planted = clean.clone();
    for text in planted.iter_mut().step_by(EVERY) {
        text.push_str("\nexport DB_PASSWORD=k3jf9slw-Qp0 GH_TOKEN=ghp_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9Jj0Kk1Ll");
    }
    let redactor = Redactor::new(Redaction::Mask, false, &[]).expect("the defaults are valid");
    let mut group = criterion.benchmark_group("redact");
    for (name, texts) in [("clean", clean), ("planted", planted)] {
        group.throughput(Throughput::Bytes(texts.iter().map(String::len).sum::<usize>() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| texts.iter().map(|text| redactor.mask(black_box(text)).kinds.len()).sum::<usize>());
        });
    }
    group.finish();
}

criterion_group!(benches, redact);
criterion_main!(benches);
