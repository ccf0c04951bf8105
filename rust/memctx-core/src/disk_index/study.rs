//! Measures recall and cost of graphs over hash vectors. Run by hand: `MEMCTX_STUDY=250000 cargo test --release -p
//! memctx-core --lib disk_index::study -- --ignored --nocapture`.
// Shares and sizes are never negative.
#![allow(clippy::cast_sign_loss)]

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::graph::GraphParams;
use super::vectors::{Plan, VectorIndex, VectorSums, VectorWriter};
use crate::embed::HashEmbedder;
use crate::vector::cosine;

const DIM: usize = 384;
const QUERIES: usize = 300;

/// A generator of numbers that is the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below
    }

    /// Low numbers far more often than high ones.
    fn zipf(&mut self, below: usize) -> usize {
        let share = self.roll(1 << 30) as f64 / f64::from(1 << 30);
        ((below as f64 + 1.0).powf(share) - 1.0).abs() as usize
    }
}

fn word(number: usize) -> String {
    const ONSETS: [&str; 20] =
        ["b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "st", "tr", "pl", "ch", "w"];
    const CORES: [&str; 12] = ["a", "e", "i", "o", "u", "ea", "ou", "ai", "er", "on", "in", "al"];
    let mut dice = Dice(number as u64 * 7919 + 17);
    let syllables = 1 + usize::from(number > 60) + dice.roll(2) + usize::from(number > 4000);
    (0..syllables).map(|_| [ONSETS[dice.roll(20)], CORES[dice.roll(12)]].concat()).collect()
}

fn ideographs(dice: &mut Dice, topic: usize, count: usize) -> String {
    let pick = |dice: &mut Dice| {
        0x4e00 + if dice.roll(3) == 0 { dice.zipf(300) } else { 400 + topic * 13 % 3000 + dice.zipf(60) }
    };
    (0..count).filter_map(|_| char::from_u32(pick(dice) as u32)).collect()
}

/// Return the texts of many conversations: common words, words of the session's topic, identifiers, now and then
/// Chinese, now and then nearly what was said before.
fn texts(count: usize) -> Vec<String> {
    let mut dice = Dice(42);
    let vocabulary: Vec<String> = (0..20_000).map(word).collect();
    let mut texts: Vec<String> = Vec::with_capacity(count);
    let mut topic = 0;
    for number in 0..count {
        if number % 40 == 0 {
            topic = dice.roll(2500);
        }
        if number > 100 && dice.roll(12) == 0 {
            let mut again = texts[number - 1 - dice.zipf(number.min(5000) - 1)].clone();
            let _ = write!(again, " {}", vocabulary[dice.roll(20_000)]);
            texts.push(again);
            continue;
        }
        let is_chinese = dice.roll(10) == 0;
        let length = [40, 120, 300, 300, 600][dice.roll(5)];
        let mut text = String::new();
        while text.chars().count() < if is_chinese { length / 3 } else { length } {
            match dice.roll(20) {
                _ if is_chinese => text.push_str(&ideographs(&mut dice, topic, 6)),
                0 => {
                    let parts = (topic * 31 + dice.zipf(50), topic * 17 + dice.zipf(90));
                    let _ = write!(text, "{}_{}(", vocabulary[parts.0 % 20_000], vocabulary[parts.1 % 20_000]);
                }
                1 => {
                    let _ =
                        write!(text, "src/{}.rs:{} ", vocabulary[(topic * 7 + dice.zipf(40)) % 20_000], dice.roll(900));
                }
                2..=8 => text.push_str(&vocabulary[(topic * 101 + dice.zipf(200)) % 20_000]),
                _ => text.push_str(&vocabulary[dice.zipf(20_000)]),
            }
            text.push(if is_chinese { '，' } else { ' ' });
        }
        texts.push(text);
    }
    texts
}

/// Return some of a text's words and some others: a short question, or a long one.
fn question(dice: &mut Dice, text: &str, is_long: bool) -> String {
    if !text.is_ascii() {
        let characters: Vec<char> = text.chars().collect();
        let from = dice.roll(characters.len().saturating_sub(12).max(1));
        return characters[from..].iter().take(if is_long { 60 } else { 10 }).collect();
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let wanted = if is_long { 30 } else { 6 };
    let mut chosen = vec![if dice.roll(2) == 0 { "what about" } else { "why did the" }.to_owned()];
    for _ in 0..wanted {
        let own = words[dice.roll(words.len())].to_owned();
        chosen.push(if dice.roll(4) == 0 { word(dice.zipf(20_000)) } else { own });
    }
    chosen.join(" ")
}

/// Return the best ten in full precision of what was found in 8 bits.
fn rescored(found: &[crate::Scored], query: &[f32], embed: impl Fn(u32) -> Vec<f32>) -> Vec<u32> {
    let mut exact: Vec<(f64, u32)> =
        found.iter().map(|item| (cosine(query, &embed(item.number)), item.number)).collect();
    exact.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    exact.into_iter().take(10).map(|(_, number)| number).collect()
}

/// Seconds this thread has been running, which other work on the machine does not lengthen.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|text| text.parse::<f64>().ok()).unwrap_or_default() / 1e9
}

fn quantile(times: &mut [Duration], share: f64) -> f64 {
    times.sort();
    times[((times.len() - 1) as f64 * share).abs() as usize].as_secs_f64() * 1e3
}

#[test]
#[ignore = "takes minutes"]
#[allow(clippy::print_stdout)]
fn recall_and_cost_of_graphs() {
    let setting = |name: &str| std::env::var(name).ok();
    let count: usize = setting("MEMCTX_STUDY").and_then(|text| text.parse().ok()).unwrap_or(250_000);
    let texts = texts(count);
    let hasher = HashEmbedder::new(DIM).expect("a length");
    let embed = |text: &str| {
        let mut vector = vec![0.0; DIM];
        hasher.embed(text, &mut vector);
        vector
    };
    let folder = tempfile::tempdir().expect("a folder");
    let started = Instant::now();
    let mut writer = VectorWriter::open(folder.path(), DIM, &VectorSums::default()).expect("opens");
    for text in &texts {
        writer.push(&embed(text)).expect("takes it");
    }
    let sums = writer.sync().expect("syncs");
    println!("{count} rows embedded and written in {:.1?}", started.elapsed());
    let mut dice = Dice(7);
    let queries: Vec<Vec<f32>> = (0..QUERIES)
        .map(|number| embed(&question(&mut dice, &texts[(number * 7919 + 13) % count], number % 3 == 0)))
        .collect();
    let row = |number: u32| embed(&texts[number as usize]);
    let scanned = Plan { least: u32::MAX, ..Plan::default() };
    let index = VectorIndex::open_planned(folder.path(), DIM, &sums, scanned).expect("opens");
    let mut times = Vec::new();
    let mut answers = Vec::new();
    for query in &queries {
        let started = Instant::now();
        let found = index.nearest(query, 200, &|_| true).expect("found");
        times.push(started.elapsed());
        answers.push(rescored(&found, query, row));
    }
    let started = processor_time();
    for query in &queries {
        index.nearest(query, 40, &|_| true).expect("found");
    }
    let mean = (processor_time() - started) / queries.len() as f64 * 1e3;
    println!(
        "scan: mean {mean:.2} ms, p50 {:.2} ms, p99 {:.2} ms",
        quantile(&mut times, 0.5),
        quantile(&mut times, 0.99)
    );
    let plans = setting("MEMCTX_PLANS").unwrap_or_else(|| "131072,16,64".to_owned());
    for plan in plans.split(' ') {
        let numbers: Vec<usize> = plan.split(',').map(|text| text.parse().expect("a number")).collect();
        let params = GraphParams { connectivity: numbers[1], expansion_add: numbers[2], ..GraphParams::default() };
        let mut plan = Plan { least: 0, shard: numbers[0] as u32, params };
        for file in std::fs::read_dir(folder.path()).expect("a folder").flatten() {
            if file.file_name().to_string_lossy().starts_with("graph") {
                std::fs::remove_file(file.path()).expect("removed");
            }
        }
        let index = VectorIndex::open_planned(folder.path(), DIM, &sums, plan).expect("opens");
        let started = processor_time();
        while index.grow(&AtomicBool::new(false)).expect("builds") {}
        let built = processor_time() - started;
        let per = built / (index.graphs() as f64 / 1e5);
        println!("{numbers:?}: {} rows in graphs, {per:.1} s per 100k rows", index.graphs());
        for (expansion, step) in [(64, 64), (128, 64), (256, 64), (512, 64), (1024, 64), (2048, 64), (512, 16)] {
            plan.params = GraphParams { expansion_search: expansion, step, ..params };
            let index = VectorIndex::open_planned(folder.path(), DIM, &sums, plan).expect("opens");
            let (mut times, mut hits, mut short, mut shorts) = (Vec::new(), 0, 0, 0);
            let started = processor_time();
            for query in &queries {
                index.nearest(query, 40, &|_| true).expect("found");
            }
            let mean = (processor_time() - started) / queries.len() as f64 * 1e3;
            for (number, (query, answer)) in queries.iter().zip(&answers).enumerate() {
                let started = Instant::now();
                let found = index.nearest(query, 40, &|_| true).expect("found");
                times.push(started.elapsed());
                let own = rescored(&found, query, row);
                let good = own.iter().filter(|number| answer.contains(number)).count();
                hits += good;
                if number % 3 != 0 {
                    short += good;
                    shorts += 10;
                }
            }
            println!(
                "  expansion {expansion}, step {step}: recall {:.4} (short questions {:.4}), mean {mean:.2} ms, p50 {:.2} ms, p99 {:.2} ms",
                hits as f64 / (10 * queries.len()) as f64,
                f64::from(short as u32) / f64::from(shorts),
                quantile(&mut times, 0.5),
                quantile(&mut times, 0.99),
            );
        }
    }
}
