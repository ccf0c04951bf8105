//! Static embedder: the mean of the rows of a text's pieces.

use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::files::Files;
use super::tensors::Tensors;
use super::{Cells, Tokenizer};
use crate::{Error, Result};

/// Part of the revision: to be changed whenever the same files come to give other vectors.
const POOLING: &[u8] = b"mean, length 1; 1";

/// Options for loading a model.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'a> {
    /// Its `tokenizer.json`, if that is not beside the table.
    pub tokenizer: Option<&'a Path>,
    /// Name of the model; by default that of its folder or file.
    pub name: Option<&'a str>,
    /// Number of the table's columns to use, from the first; all if none.
    pub dim: Option<usize>,
    /// Number of pieces of a text that count, from the first.
    pub max_tokens: usize,
}

impl Default for Choices<'_> {
    fn default() -> Self {
        Self { tokenizer: None, name: None, dim: None, max_tokens: 512 }
    }
}

/// Vectors from a table of word pieces, such as those of model2vec and `WordLlama`.
///
/// The table stays in memory as it is stored, half precision included, and threads share it.
///
/// ```no_run
/// use memctx_core::embed::{Choices, StaticEmbedder};
///
/// let embedder = StaticEmbedder::load("potion-base-8M".as_ref(), Choices::default())?;
/// let mut vector = vec![0.0; embedder.dim()];
/// assert!(embedder.embed("where is the parcel?", &mut vector));
/// # Ok::<(), memctx_core::Error>(())
/// ```
#[derive(Debug)]
pub struct StaticEmbedder {
    name: String,
    revision: String,
    tokenizer: Tokenizer,
    cells: Cells,
    /// By piece.
    weights: Option<Vec<f32>>,
    /// The row of each piece, where several share one.
    mapping: Option<Vec<u32>>,
    dim: usize,
    max_tokens: usize,
}

impl StaticEmbedder {
    /// Load a model from a folder, or from the `.safetensors` file of its table.
    pub fn load(path: &Path, choices: Choices<'_>) -> Result<Self> {
        let Choices { tokenizer, name, dim, max_tokens } = choices;
        if name.is_some_and(str::is_empty) {
            return Err(Error::argument("name", "at least one character long", "\"\""));
        }
        if max_tokens == 0 {
            return Err(Error::argument("max_tokens", "1 or more", "0"));
        }
        let files = Files::find(path, tokenizer)?;
        let bytes = std::fs::read(&files.table).map_err(Error::io(&files.table))?;
        let in_table = |fault: String| Error::model(&files.table, fault);
        let tensors = Tensors::new(bytes).map_err(in_table)?;
        let (_, _, [rows, columns]) = tensors.shape().map_err(in_table)?;
        let dim = dim.unwrap_or(columns);
        if dim == 0 || dim > columns {
            let found = format!("{dim}: {} has {columns}", files.table.display());
            return Err(Error::argument("dim", "between 1 and the number of the table's columns", found));
        }
        let mapping = tensors.mapping().map_err(in_table)?;
        if let Some(row) = mapping.iter().flatten().find(|&&row| row as usize >= rows) {
            return Err(in_table(format!("the tensor `mapping` points to row {row}, but the table has {rows} rows")));
        }
        let pieces = mapping.as_ref().map_or(rows, Vec::len);
        let weights = tensors.weights().map_err(in_table)?;
        if let Some(weights) = weights.as_ref().filter(|weights| weights.len() != pieces) {
            return Err(in_table(format!("the tensor `weights` must have {pieces} values, not {}", weights.len())));
        }
        let cells = tensors.into_cells(dim).map_err(in_table)?;
        let json = std::fs::read(&files.tokenizer).map_err(Error::io(&files.tokenizer))?;
        let tokenizer = Tokenizer::new(&json, pieces).map_err(|fault| Error::model(&files.tokenizer, fault))?;
        let revision = revision_of(&cells, weights.as_deref(), mapping.as_deref(), &json, max_tokens);
        let name = name.map_or(files.name, str::to_owned);
        Ok(Self { name, revision, tokenizer, cells, weights, mapping, dim, max_tokens })
    }

    /// Return whether it knows hardly a piece of Chinese, Japanese or Korean, so that its vectors tell little of them.
    #[must_use]
    pub fn is_latin_only(&self) -> bool {
        self.tokenizer.is_latin_only()
    }

    /// Return the name stored beside vectors made with it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Changes with everything else that changes its vectors: table, tokenizer, limit, and the way they are put to use.
    #[must_use]
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// Return the length of its vectors.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Return the number of pieces of a text that count.
    #[must_use]
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Write the vector of a text: length 1, or all zeros, and false, if nothing in the text counts.
    ///
    /// # Panics
    /// If `into` has another length than [`StaticEmbedder::dim`].
    pub fn embed(&self, text: &str, into: &mut [f32]) -> bool {
        assert_eq!(into.len(), self.dim, "room for one vector");
        let unknown = self.tokenizer.unknown();
        // Llama has pieces for white space, but a text of nothing else says nothing.
        let ids = if text.trim_start().is_empty() { Vec::new() } else { self.tokens(text) };
        let rows: Vec<(u32, f32)> =
            ids.into_iter().filter(|&id| Some(id) != unknown).map(|id| self.row_of(id)).collect();
        self.cells.sum(&rows, into);
        // The mean has the same direction.
        let norm = into.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        let counts = norm > 0.0 && norm.is_finite();
        for value in into {
            *value = if counts { (f64::from(*value) / norm) as f32 } else { 0.0 };
        }
        counts
    }

    /// Return the numbers of the pieces that a text is cut into, unknown ones among them.
    #[must_use]
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        self.tokenizer.ids(text, self.max_tokens)
    }

    fn row_of(&self, id: u32) -> (u32, f32) {
        let row = self.mapping.as_ref().map_or(id, |mapping| mapping[id as usize]);
        (row, self.weights.as_ref().map_or(1.0, |weights| weights[id as usize]))
    }
}

fn revision_of(
    cells: &Cells,
    weights: Option<&[f32]>,
    mapping: Option<&[u32]>,
    tokenizer: &[u8],
    max_tokens: usize,
) -> String {
    let mut hash = Xxh3::new();
    hash.update(POOLING);
    hash.update(&(max_tokens as u64).to_le_bytes());
    // Each part after its length, so that no two sets of parts run together to the same bytes.
    for part in [format!("{:?}", cells.number()).as_bytes(), cells.bytes(), tokenizer] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    for weight in weights.into_iter().flatten() {
        hash.update(&weight.to_le_bytes());
    }
    hash.update(&(mapping.map_or(0, <[_]>::len) as u64).to_le_bytes());
    for row in mapping.into_iter().flatten() {
        hash.update(&row.to_le_bytes());
    }
    format!("{:016x}", hash.digest())
}
