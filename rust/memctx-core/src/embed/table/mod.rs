//! Vectors from a table of word pieces, as model2vec and `WordLlama` keep them: no runtime, microseconds for a text.
//!
//! A text is cut into pieces ([`Tokenizer`]), each piece has a row of numbers ([`Cells`]), and the mean of the rows,
//! brought to length 1, is the vector ([`StaticEmbedder`]).

mod cells;
mod description;
mod embedder;
mod files;
mod llama;
mod marks;
mod sum;
mod tensors;
mod tokenizer;
mod vocabulary;
mod word_piece;
mod words;

use cells::Cells;
pub use embedder::{Choices, StaticEmbedder};
use tokenizer::Tokenizer;
