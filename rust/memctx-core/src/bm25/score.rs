//! The BM25 formula.

use super::term_query::Asked;
use crate::Explanation;

/// Saturation of term frequency.
pub const K1: f64 = 1.2;
/// Strength of length normalization.
pub const B: f64 = 0.75;

/// Collection statistics of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// Documents in the index.
    pub documents: usize,
    /// Their mean length in tokens.
    pub average_length: f64,
}

impl Statistics {
    /// Return the inverse document frequency of a term that occurs in `documents_with` of the documents.
    #[must_use]
    pub fn idf(&self, documents_with: usize) -> f64 {
        let (all, with) = (self.documents as f64, documents_with as f64);
        ((all - with + 0.5) / (with + 0.5) + 1.0).ln()
    }

    /// Return the part of the formula that depends on the document's length, as `base + slope * length`.
    pub(crate) fn norm(&self) -> Norm {
        Norm { base: K1 * (1.0 - B), slope: K1 * B / self.average_length }
    }

    /// Explain the contribution of one term to a document's score.
    pub(super) fn explain(
        &self,
        token: &str,
        asked: &Asked,
        documents_with: usize,
        tf: u32,
        length: f64,
    ) -> Explanation {
        let idf = self.idf(documents_with);
        let saturation = (K1 + 1.0) * self.norm().saturate(f64::from(tf), length);
        let value = weight(idf, asked.repeats) * asked.share * self.norm().saturate(f64::from(tf), length);
        let mut parts = vec![
            Explanation::leaf(format!("idf, in {documents_with} of {} documents", self.documents), idf),
            Explanation::leaf(format!("tf {tf} in {length} tokens, {:.2} on average", self.average_length), saturation),
            Explanation::leaf("times in the query", f64::from(asked.repeats)),
        ];
        if asked.form.is_some() {
            parts.push(Explanation::leaf("another form of a word", asked.share));
        }
        Explanation::of(format!("term {token:?}"), value, parts)
    }
}

/// Return the weight of a query term, independent of any document. A term given twice counts twice.
pub(crate) fn weight(idf: f64, repeats: u32) -> f64 {
    idf * (K1 + 1.0) * f64::from(repeats)
}

/// Length normalization of term frequency.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm {
    pub(super) base: f64,
    pub(super) slope: f64,
}

impl Norm {
    /// Between 0 and 1, rising with the term frequency and falling with the length.
    #[inline]
    pub(crate) fn saturate(self, tf: f64, length: f64) -> f64 {
        tf / (tf + (self.base + self.slope * length))
    }
}
