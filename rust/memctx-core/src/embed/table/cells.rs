//! Rows of an embedding table, in the number format of the file.

use std::fmt;

use super::sum::sum;

/// Number format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    F32,
    F16,
    Bf16,
    I8,
}

impl Number {
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::I8 => 1,
        }
    }
}

/// Rows of equal length, one after the other.
pub(super) struct Cells {
    bytes: Vec<u8>,
    number: Number,
    dim: usize,
}

impl fmt::Debug for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, dim, .. } = self;
        f.debug_struct("Cells").field("number", number).field("dim", dim).field("rows", &self.rows()).finish()
    }
}

impl Cells {
    /// Create cells from little-endian bytes, of which each row keeps the first `kept` of its `dim` numbers.
    pub(super) fn new(mut bytes: Vec<u8>, number: Number, dim: usize, kept: usize) -> Self {
        if kept < dim {
            let (stride, kept) = (dim * number.bytes(), kept * number.bytes());
            for row in 0..bytes.len() / stride {
                bytes.copy_within(row * stride..row * stride + kept, row * kept);
            }
            bytes.truncate(bytes.len() / stride * kept);
            bytes.shrink_to_fit();
        }
        Self { bytes, number, dim: kept }
    }

    pub(super) fn rows(&self) -> usize {
        self.bytes.len() / self.stride()
    }

    pub(super) fn number(&self) -> Number {
        self.number
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Return the row and column of the first number that is none.
    pub(super) fn find_not_finite(&self) -> Option<(usize, usize)> {
        let all_ones = |high: u8, low: u8, mask: u16| u16::from_be_bytes([high, low]) & mask == mask;
        let at = match self.number {
            Number::F32 => self.bytes.as_chunks().0.iter().position(|[_, _, c, d]| all_ones(*d, *c, 0x7F80)),
            Number::Bf16 => self.bytes.as_chunks().0.iter().position(|[a, b]| all_ones(*b, *a, 0x7F80)),
            Number::F16 => self.bytes.as_chunks().0.iter().position(|[a, b]| all_ones(*b, *a, 0x7C00)),
            Number::I8 => None,
        }?;
        Some((at / self.dim, at % self.dim))
    }

    /// Write the sum of some rows, each times its weight. The rows must exist.
    pub(super) fn sum(&self, rows: &[(u32, f32)], into: &mut [f32]) {
        let stride = self.stride();
        let rows = rows.iter().map(|&(row, weight)| (&self.bytes[row as usize * stride..][..stride], weight));
        sum(self.number, rows, into);
    }

    fn stride(&self) -> usize {
        self.dim * self.number.bytes()
    }
}
