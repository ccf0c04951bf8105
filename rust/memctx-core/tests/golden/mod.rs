//! Reads the golden files that the Rust and the Python tests share.

use std::path::PathBuf;

/// Return the folder of the golden files.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// Return one of them, parsed.
pub(crate) fn load(name: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(folder().join(name)).expect("the golden file is part of the repository");
    serde_json::from_str(&text).expect("the golden file is JSON")
}
