//! From two rankings to one: the numbers behind a blend, and why they are what they are.

mod blend;
mod mmr;

pub use blend::{Blend, DECAY, Weights, calibrate, decay_factor, merge, normalize};
pub use mmr::{BALANCE, Pick, Trigrams, mmr};
