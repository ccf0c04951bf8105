//! The file of an encoder: its tensors by name.

use std::collections::HashMap;

use safetensors::{Dtype, SafeTensors};

use super::layer::{Layer, Norm, SUMS};
use super::matrix::Matrix;

/// Value of `format` in the header of a file.
const FORMAT: &str = "memctx-encoder 1";

/// The tensors and the header of a file.
pub(super) struct File<'a> {
    tensors: SafeTensors<'a>,
    header: HashMap<String, String>,
}

impl<'a> File<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, String> {
        let fault = |fault| format!("not a safetensors file: {fault}");
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(fault)?;
        let header = metadata.metadata().clone().unwrap_or_default();
        let file = Self { tensors: SafeTensors::deserialize(bytes).map_err(fault)?, header };
        match file.text("format")? {
            FORMAT => Ok(file),
            found => Err(format!("`format` in its header is {found:?}; expected {FORMAT:?}")),
        }
    }

    /// Return a text of the header.
    pub(super) fn text(&self, name: &str) -> Result<&str, String> {
        self.header.get(name).map(String::as_str).ok_or_else(|| format!("its header has no `{name}`"))
    }

    /// Return a number of the header that is not 0.
    pub(super) fn number(&self, name: &str) -> Result<usize, String> {
        let text = self.text(name)?;
        let number = text.parse().ok().filter(|&number| number > 0);
        number.ok_or_else(|| format!("`{name}` in its header is {text:?}; expected a number above 0"))
    }

    /// Return the number of layers, which may be 0: a table of pieces alone.
    pub(super) fn layers(&self) -> Result<usize, String> {
        let text = self.text("layers")?;
        text.parse().map_err(|_| format!("`layers` in its header is {text:?}; expected a number"))
    }

    /// Return a number above 0 of the header that may have decimals.
    pub(super) fn decimal(&self, name: &str) -> Result<f32, String> {
        let text = self.text(name)?;
        let number = text.parse().ok().filter(|&number: &f32| number > 0.0 && number.is_finite());
        number.ok_or_else(|| format!("`{name}` in its header is {text:?}; expected a number above 0"))
    }

    /// Return the bytes of a tensor of UTF-8 text.
    pub(super) fn string(&self, name: &str) -> Result<&'a str, String> {
        let (bytes, _) = self.bytes(name, Dtype::U8)?;
        std::str::from_utf8(bytes).map_err(|fault| format!("the tensor `{name}` is no UTF-8: {fault}"))
    }

    /// Return the numbers of a tensor with one dimension of a length.
    pub(super) fn floats(&self, name: &str, length: usize) -> Result<Vec<f32>, String> {
        let (bytes, shape) = self.bytes(name, Dtype::F32)?;
        if shape != [length] {
            return Err(format!("the tensor `{name}` must have {length} values; its shape is {shape:?}"));
        }
        let values: Vec<f32> = bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        match values.iter().position(|value| !value.is_finite()) {
            Some(at) => Err(format!("value {at} of the tensor `{name}` is {}", values[at])),
            None => Ok(values),
        }
    }

    /// Return the 8-bit rows of a tensor, with the number of its rows and columns.
    pub(super) fn rows(&self, name: &str) -> Result<(&'a [i8], usize, usize), String> {
        let (bytes, shape) = self.bytes(name, Dtype::I8)?;
        match shape[..] {
            [rows, columns] if rows > 0 && columns > 0 && columns.is_multiple_of(SUMS) => {
                Ok((bytemuck::cast_slice(bytes), rows, columns))
            }
            _ => Err(format!(
                "the tensor `{name}` must have rows of a multiple of {SUMS} columns; its shape is {shape:?}"
            )),
        }
    }

    /// Return the weights of a layer.
    pub(super) fn layer(&self, number: usize, dim: usize, heads: usize) -> Result<Layer, String> {
        let name = |part: &str| format!("layers.{number}.{part}");
        let (_, wide, _) = self.rows(&name("feed.weight"))?;
        if !wide.is_multiple_of(SUMS) {
            return Err(format!("`{}` must have a multiple of {SUMS} rows, not {wide}", name("feed.weight")));
        }
        Ok(Layer {
            before_attention: self.norm(&name("before_attention"), dim)?,
            attention: self.matrix(&name("attention"), 3 * dim, dim)?,
            attended: self.matrix(&name("attended"), dim, dim)?,
            before_feed: self.norm(&name("before_feed"), dim)?,
            feed: self.matrix(&name("feed"), wide, dim)?,
            fed: self.matrix(&name("fed"), dim, wide)?,
            heads,
        })
    }

    /// Return the weights of a norm.
    pub(super) fn norm(&self, name: &str, dim: usize) -> Result<Norm, String> {
        let of = |part: &str| self.floats(&format!("{name}.{part}"), dim);
        Ok(Norm { weight: of("weight")?, bias: of("bias")? })
    }

    fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix, String> {
        let weight = format!("{name}.weight");
        let (values, found_rows, found_columns) = self.rows(&weight)?;
        if (found_rows, found_columns) != (rows, columns) {
            return Err(format!(
                "the tensor `{weight}` must be {rows} x {columns}, not {found_rows} x {found_columns}"
            ));
        }
        let of = |part: &str| self.floats(&format!("{name}.{part}"), rows);
        Ok(Matrix::new(values, columns, of("scale")?, of("bias")?))
    }

    fn bytes(&self, name: &str, dtype: Dtype) -> Result<(&'a [u8], Vec<usize>), String> {
        let tensor = self.tensors.tensor(name).map_err(|_| format!("it has no tensor `{name}`"))?;
        if tensor.dtype() != dtype {
            return Err(format!("the tensor `{name}` must hold {dtype:?}, not {:?}", tensor.dtype()));
        }
        Ok((tensor.data(), tensor.shape().to_vec()))
    }
}
