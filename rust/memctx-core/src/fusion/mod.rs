//! Fusion of two rankings.

mod blend;
mod mmr;

pub use blend::{Blend, DECAY, Weights, calibrate, decay_factor, merge, normalize};
pub use mmr::{BALANCE, Pick, Trigrams, mmr};
