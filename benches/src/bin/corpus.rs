//! Write the benchmark corpus as JSON lines, segments first, then queries.
//!
//! `corpus --segments 20000 --queries 200 --seed 7 --out FILE`; without `--out` to standard output.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use memctx_benches::Corpus;
use serde_json::json;

struct Options {
    segments: u64,
    queries: u64,
    seed: u64,
    out: Option<PathBuf>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mut options = Self { segments: 20_000, queries: 200, seed: 7, out: None };
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            match name.as_str() {
                "--segments" => options.segments = value.parse()?,
                "--queries" => options.queries = value.parse()?,
                "--seed" => options.seed = value.parse()?,
                "--out" => options.out = Some(value.into()),
                _ => return Err(format!("unknown option {name}").into()),
            }
        }
        Ok(options)
    }
}

fn write(options: &Options, mut out: impl Write) -> io::Result<()> {
    let corpus = Corpus::new(options.seed);
    for index in 0..options.segments {
        let segment = corpus.segment(index);
        writeln!(out, "{}", json!({"kind": "segment", "id": segment.id, "text": segment.text}))?;
    }
    for index in 0..options.queries {
        let query = corpus.query(index, options.segments);
        writeln!(out, "{}", json!({"kind": "query", "short": query.short, "long": query.long}))?;
    }
    out.flush()
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse(std::env::args().skip(1))?;
    match &options.out {
        Some(path) => write(&options, BufWriter::new(File::create(path)?))?,
        None => write(&options, BufWriter::new(io::stdout().lock()))?,
    }
    Ok(())
}
