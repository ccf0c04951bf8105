//! The model that makes the vectors of a store.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::log::metadata::Stamp;
use super::warm::vector_weight::VectorWeight;
use crate::embed::{Encoder, HashEmbedder, PieceQuestion, StaticEmbedder};
use crate::vmem::MAX_DIM;
use crate::{Error, Result};

/// Characters of a query that its vector is made of.
const QUERY: usize = 2000;

/// Makes the vector of a text in the thread that asks for it.
pub trait Maker: fmt::Debug + Send + Sync {
    /// Write the vector of a text: length 1, or zeros if nothing in the text counts. Return how much the text says, from
    /// 0 to 1, or 1 if that is unknown.
    fn embed(&self, text: &str, vector: &mut [f32]) -> f32;

    /// Do the same for a query, of which only so much counts that it takes little time.
    fn embed_query(&self, text: &str, vector: &mut [f32]) -> f32 {
        let end = text.char_indices().nth(QUERY).map_or(text.len(), |(end, _)| end);
        self.embed(&text[..end], vector)
    }

    /// Return a query to compare texts with piece by piece; none if its pieces have no meaning of their own.
    fn question(&self, _text: &str) -> Option<PieceQuestion<'_>> {
        None
    }
}

impl Maker for HashEmbedder {
    fn embed(&self, text: &str, vector: &mut [f32]) -> f32 {
        HashEmbedder::embed(self, text, vector);
        1.0
    }
}

impl Maker for Encoder {
    fn embed(&self, text: &str, vector: &mut [f32]) -> f32 {
        Encoder::embed(self, text, vector)
    }

    fn embed_query(&self, text: &str, vector: &mut [f32]) -> f32 {
        Encoder::embed_query(self, text, vector)
    }

    fn question(&self, text: &str) -> Option<PieceQuestion<'_>> {
        Some(Encoder::question(self, text))
    }
}

impl Maker for StaticEmbedder {
    fn embed(&self, text: &str, vector: &mut [f32]) -> f32 {
        // It writes zeros where nothing counts, which is all that matters here.
        StaticEmbedder::embed(self, text, vector);
        1.0
    }
}

/// A model that makes vectors: with each text, in a thread of the core, or outside of the core.
///
/// ```
/// use memctx_core::store::Model;
///
/// assert_eq!(Model::hash().dim(), 384);
/// let supplied = Model::supplied("all-MiniLM-L6-v2", "1", 384)?;
/// assert!(!supplied.is_instant() && !supplied.is_local());
/// assert!(Model::supplied("nothing", "1", 0).is_err());
/// # Ok::<(), memctx_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    stamp: Stamp,
    /// None if the vectors come from outside, later.
    maker: Option<Arc<dyn Maker>>,
    is_instant: bool,
    worth: VectorWeight,
}

/// Length of the vectors that need no model.
const HASH_DIM: usize = 384;

impl Model {
    /// The one that is always there: it knows spelling, not meaning.
    #[allow(clippy::missing_panics_doc)] // the length is a constant
    #[must_use]
    pub fn hash() -> Self {
        // One for the process: it remembers what it has seen.
        static EMBEDDER: OnceLock<Arc<HashEmbedder>> = OnceLock::new();
        let made = || Arc::new(HashEmbedder::new(HASH_DIM).expect("a length that is allowed"));
        let maker: Arc<dyn Maker> = EMBEDDER.get_or_init(made).clone();
        let stamp = Stamp { model: HashEmbedder::NAME.to_owned(), revision: "1".to_owned(), dim: HASH_DIM };
        Self { stamp, maker: Some(maker), is_instant: true, worth: VectorWeight::SPELLING }
    }

    /// One that takes microseconds, so that every text is stored with its vector.
    pub fn instant(name: &str, revision: &str, dim: usize, maker: Arc<dyn Maker>) -> Result<Self> {
        Ok(Self { is_instant: true, ..Self::background(name, revision, dim, maker)? })
    }

    /// One that takes about a millisecond: queries have their vectors at once, stored texts theirs from a thread of the
    /// store.
    pub fn background(name: &str, revision: &str, dim: usize, maker: Arc<dyn Maker>) -> Result<Self> {
        Ok(Self { maker: Some(maker), ..Self::supplied(name, revision, dim)? })
    }

    /// One that runs elsewhere: its vectors are supplied when they are there.
    pub fn supplied(name: &str, revision: &str, dim: usize) -> Result<Self> {
        if name.is_empty() {
            return Err(Error::argument("model", "a name", "an empty one"));
        }
        if dim == 0 || dim > MAX_DIM {
            return Err(Error::argument("dim", "between 1 and 65536", dim.to_string()));
        }
        let stamp = Stamp { model: name.to_owned(), revision: revision.to_owned(), dim };
        Ok(Self { stamp, maker: None, is_instant: false, worth: VectorWeight::MEANING })
    }

    /// An encoder.
    pub fn encoder(encoder: &Arc<Encoder>) -> Result<Self> {
        let maker: Arc<dyn Maker> = encoder.clone();
        Ok(Self::background(encoder.name(), encoder.revision(), encoder.dim(), maker)?.worth(VectorWeight::ENCODER))
    }

    /// A table of word pieces.
    pub fn table(table: &Arc<StaticEmbedder>) -> Result<Self> {
        let maker: Arc<dyn Maker> = table.clone();
        let worth = if table.is_latin_only() { VectorWeight::LATIN_TABLE } else { VectorWeight::MEANING };
        Ok(Self::instant(table.name(), table.revision(), table.dim(), maker)?.worth(worth))
    }

    /// The same, with vectors that are worth this much beside words.
    #[must_use]
    pub fn worth(self, worth: VectorWeight) -> Self {
        Self { worth, ..self }
    }

    /// Return the weight of its vectors beside words.
    pub(super) fn own_weight(&self) -> VectorWeight {
        self.worth
    }

    /// Return its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.stamp.model
    }

    /// Return its revision.
    #[must_use]
    pub fn revision(&self) -> &str {
        &self.stamp.revision
    }

    /// Length of its vectors.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.stamp.dim
    }

    /// Return whether a text has its vector as soon as it is stored.
    #[must_use]
    pub fn is_instant(&self) -> bool {
        self.is_instant
    }

    /// Return whether the core makes the vectors.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.maker.is_some()
    }

    /// Return the metadata written beside its vectors.
    pub(crate) fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// Return a line that identifies it.
    pub(crate) fn words(&self) -> String {
        format!("{} {} {}", self.stamp.model, self.stamp.revision, self.stamp.dim)
    }

    /// Write the vector of a text that is being stored; one that comes later is left as it is.
    pub(super) fn embed(&self, text: &str, vector: &mut [f32]) {
        if let Some(maker) = self.maker.as_ref().filter(|_| self.is_instant) {
            maker.embed(text, vector);
        }
    }

    /// The vector of a text where one is missing; none if it comes later.
    pub(crate) fn instant_vector(&self, text: &str) -> Option<Vec<f32>> {
        if self.is_instant { self.vector(text) } else { None }
    }

    /// The vector of a text; none if it is made elsewhere.
    pub(crate) fn vector(&self, text: &str) -> Option<Vec<f32>> {
        let mut vector = vec![0.0; self.dim()];
        self.maker.as_ref()?.embed(text, &mut vector);
        Some(vector)
    }

    /// The vector of a query; none if it is made elsewhere.
    pub(crate) fn query_vector(&self, text: &str) -> Option<Vec<f32>> {
        let mut vector = vec![0.0; self.dim()];
        self.maker.as_ref()?.embed_query(text, &mut vector);
        Some(vector)
    }

    /// A query to compare texts with piece by piece, if the model can.
    pub(crate) fn question(&self, text: &str) -> Option<PieceQuestion<'_>> {
        self.maker.as_ref()?.question(text)
    }
}
