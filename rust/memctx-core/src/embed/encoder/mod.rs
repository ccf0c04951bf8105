//! A small transformer over word pieces, run in the core: meaning in many languages without a model runtime.
//!
//! A text is brought to one spelling ([`normalize`]), cut into pieces ([`Unigram`]), and each piece has a row of numbers.
//! A few layers of attention ([`layer`]) let the pieces change each other, a gate weighs them, and their sum, brought to
//! length 1, is the vector ([`Encoder`]). Weights are 8-bit integers, and so is what is multiplied with them.
#![allow(clippy::inline_always)] // only what is inlined is compiled for its caller's set of instructions

mod attention;
mod cover;
#[allow(clippy::module_inception)] // the file of the type of that name
mod encoder;
mod file;
mod kernel;
mod lanes;
mod layer;
mod matrix;
mod normalize;
mod unigram;

pub use cover::PieceQuestion;
pub use encoder::Encoder;
