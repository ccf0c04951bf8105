//! Trimming a conversation to 60 % of its tokens: the first time, and again with one new message.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use memctx_benches::Corpus;
use memctx_core::messages::{Conversation, Format, Kind, MessageView, Part, Role, Text};
use memctx_core::text::Estimator;
use memctx_core::trim::{Request, plan};

/// Messages, and about how many bytes each has.
const SIZES: [(u64, usize); 3] = [(200, 3000), (1000, 1500), (2000, 1500)];

/// Return texts of about so many bytes, none of them alike.
fn bodies(corpus: &Corpus, count: u64, bytes: usize) -> Vec<String> {
    let mut segments = (0..).map(|index| corpus.segment(index).text);
    let mut body = || -> String {
        let mut body = String::new();
        while body.len() < bytes {
            body.push_str(&segments.next().expect("there is no end of segments"));
            body.push('\n');
        }
        body.chars()
            .scan(0, |length, c| {
                *length += c.len_utf8();
                (*length <= bytes).then_some(c)
            })
            .collect()
    };
    (0..count).map(|_| body()).collect()
}

fn view(number: usize, body: &str) -> MessageView {
    let text = Arc::new(Text::new(body, Estimator::Script.estimate(body) as u32));
    let role = if number.is_multiple_of(2) { Role::User } else { Role::Assistant };
    MessageView::new(role, vec![Part::new(Kind::Text, Some(text))])
}

fn conversation(bodies: &[String]) -> Conversation {
    let views = bodies.iter().enumerate().map(|(number, body)| view(number, body)).collect();
    Conversation::new(Format::OpenAi, views)
}

fn trim(criterion: &mut Criterion) {
    let corpus = Corpus::new(7);
    let query = corpus.query(3, 1000);
    for (count, bytes) in SIZES {
        let bodies = bodies(&corpus, count, bytes);
        let talk = conversation(&bodies);
        let limit = talk.tokens() * 6 / 10;
        let mut group = criterion.benchmark_group("trim");
        group.throughput(Throughput::Bytes(bodies.iter().map(String::len).sum::<usize>() as u64));
        for (length, query) in [("short", &query.short), ("long", &query.long)] {
            let request = Request::new(query, limit);
            group.bench_function(BenchmarkId::new(format!("first turn, {length} query"), count), |bencher| {
                bencher.iter_batched_ref(
                    || conversation(&bodies),
                    |talk| black_box(plan(talk, &request)),
                    BatchSize::LargeInput,
                );
            });
            black_box(plan(&talk, &request));
            group.bench_function(BenchmarkId::new(format!("next turn, {length} query"), count), |bencher| {
                bencher.iter_batched_ref(
                    || {
                        let new = view(0, &bodies[0].chars().rev().take(600).collect::<String>());
                        Conversation::new(talk.format, talk.views.iter().cloned().chain([new]).collect())
                    },
                    |talk| black_box(plan(talk, &request)),
                    BatchSize::LargeInput,
                );
            });
        }
        group.finish();
    }
}

criterion_group!(benches, trim);
criterion_main!(benches);
