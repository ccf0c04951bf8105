//! Files of a model.

use std::path::{Path, PathBuf};

use crate::{Error, Result};

const TABLE: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
/// Folder where Sentence Transformers may keep both.
const INNER: &str = "0_StaticEmbedding";

/// The files of a model, and what to call it.
pub(super) struct Files {
    pub(super) table: PathBuf,
    pub(super) tokenizer: PathBuf,
    pub(super) name: String,
}

impl Files {
    /// Find the files of a folder that holds both, or from the table's file with a tokenizer beside it or named apart.
    pub(super) fn find(path: &Path, tokenizer: Option<&Path>) -> Result<Self> {
        let path = &std::fs::canonicalize(path).map_err(Error::io(path))?;
        let table = if path.is_dir() { table_in(path)? } else { path.clone() };
        let tokenizer = tokenizer.map_or_else(|| table.with_file_name(TOKENIZER), Path::to_owned);
        if !tokenizer.is_file() {
            let fault = format!("the table {} needs a tokenizer here, or one named by `tokenizer`", table.display());
            return Err(Error::model(&tokenizer, fault));
        }
        // Many tables are called the same; their folders are not.
        let source = match path.file_name() {
            Some(name) if path.is_dir() => Some(name),
            Some(name) if name == TABLE => path.parent().and_then(Path::file_name),
            _ => path.file_stem(),
        };
        let name = source.map_or_else(|| "static".to_owned(), |name| name.to_string_lossy().into_owned());
        Ok(Self { table, tokenizer, name })
    }
}

fn table_in(folder: &Path) -> Result<PathBuf> {
    let found = [folder.join(TABLE), folder.join(INNER).join(TABLE)].into_iter().find(|file| file.is_file());
    found.ok_or_else(|| Error::model(folder, format!("{TABLE} is expected in this folder, or in {INNER} within it")))
}
