//! The tensors of a `.safetensors` file.

use std::ops::Range;

use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensors};

use super::cells::{Cells, Number};

/// Names of the table in the file: of model2vec, and of `WordLlama` and Sentence Transformers.
const TABLE_NAMES: [&str; 2] = ["embeddings", "embedding.weight"];

/// A file in memory, with what its header says.
pub(super) struct Tensors {
    bytes: Vec<u8>,
    /// Offset of the numbers.
    start: usize,
    metadata: Metadata,
}

impl Tensors {
    pub(super) fn new(bytes: Vec<u8>) -> Result<Self, String> {
        let (header, metadata) =
            SafeTensors::read_metadata(&bytes).map_err(|fault| format!("not a safetensors file: {fault}"))?;
        Ok(Self { bytes, start: header + 8, metadata })
    }

    /// Return the factor of each piece, if the file has any.
    pub(super) fn weights(&self) -> Result<Option<Vec<f32>>, String> {
        let Some(info) = self.metadata.info("weights") else { return Ok(None) };
        let bytes = self.list("weights", info)?;
        let weights: Vec<f32> = match info.dtype {
            Dtype::F32 => bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect(),
            Dtype::F64 => bytes.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes) as f32).collect(),
            found => return Err(format!("the tensor `weights` must hold F32 or F64, not {found:?}")),
        };
        match weights.iter().position(|weight| !weight.is_finite()) {
            Some(at) => Err(format!("weight {at} is {}; every weight must be a finite number", weights[at])),
            None => Ok(Some(weights)),
        }
    }

    /// Return the row of each piece, if the file has fewer rows than pieces.
    pub(super) fn mapping(&self) -> Result<Option<Vec<u32>>, String> {
        let Some(info) = self.metadata.info("mapping") else { return Ok(None) };
        let bytes = self.list("mapping", info)?;
        let rows: Vec<i64> = match info.dtype {
            Dtype::I32 => bytes.as_chunks().0.iter().map(|&bytes| i64::from(i32::from_le_bytes(bytes))).collect(),
            Dtype::U32 => bytes.as_chunks().0.iter().map(|&bytes| i64::from(u32::from_le_bytes(bytes))).collect(),
            Dtype::I64 => bytes.as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect(),
            found => return Err(format!("the tensor `mapping` must hold I32, U32 or I64, not {found:?}")),
        };
        let rows = rows.iter().enumerate().map(|(piece, &row)| {
            u32::try_from(row).map_err(|_| format!("the tensor `mapping` gives the row {row} to the piece {piece}"))
        });
        rows.collect::<Result<_, _>>().map(Some)
    }

    /// Return the name of the table, how its numbers are stored, and its rows and columns.
    pub(super) fn shape(&self) -> Result<(&'static str, Number, [usize; 2]), String> {
        let found = TABLE_NAMES.into_iter().find_map(|name| Some((name, self.metadata.info(name)?)));
        let Some((name, info)) = found else {
            let mut names: Vec<String> = self.metadata.tensors().into_keys().collect();
            names.sort_unstable();
            let [first, second] = TABLE_NAMES;
            return Err(format!("a tensor `{first}` or `{second}` is expected; the file has {names:?}"));
        };
        let number = match info.dtype {
            Dtype::F32 => Number::F32,
            Dtype::F16 => Number::F16,
            Dtype::BF16 => Number::Bf16,
            Dtype::I8 => Number::I8,
            found => return Err(format!("the tensor `{name}` must hold F32, F16, BF16 or I8, not {found:?}")),
        };
        match info.shape[..] {
            [rows, dim] if rows > 0 && dim > 0 && u32::try_from(rows).is_ok() => Ok((name, number, [rows, dim])),
            _ => Err(format!("the tensor `{name}` must have rows and columns; its shape is {:?}", info.shape)),
        }
    }

    /// Return the table itself, cut to its first `dim` columns.
    pub(super) fn into_cells(mut self, dim: usize) -> Result<Cells, String> {
        let (name, number, [_, columns]) = self.shape()?;
        let range = self.metadata.info(name).map(|info| self.range(info)).unwrap_or_default();
        self.bytes.truncate(range.end);
        self.bytes.drain(..range.start);
        let cells = Cells::new(self.bytes, number, columns, dim);
        match cells.find_not_finite() {
            Some((row, column)) => {
                Err(format!("column {column} of row {row} of the tensor `{name}` is not a finite number"))
            }
            None => Ok(cells),
        }
    }

    /// Return the bytes of a tensor with one dimension.
    fn list(&self, name: &str, info: &TensorInfo) -> Result<&[u8], String> {
        if info.shape.len() != 1 {
            return Err(format!("the tensor `{name}` must have one dimension; its shape is {:?}", info.shape));
        }
        Ok(&self.bytes[self.range(info)])
    }

    fn range(&self, info: &TensorInfo) -> Range<usize> {
        self.start + info.data_offsets.0..self.start + info.data_offsets.1
    }
}
