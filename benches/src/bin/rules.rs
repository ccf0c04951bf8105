//! Writes the redactor's patterns, one JSON pair of kind and pattern to a line, for peers that run the same rules.

use std::io::{self, BufWriter, Write as _};

fn main() -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for (kind, pattern) in memctx_core::redact::patterns() {
        writeln!(out, "{}", serde_json::json!([kind, pattern]))?;
    }
    out.flush()
}
