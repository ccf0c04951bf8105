//! What is brought back: how much fits, how it is written into a message, and how that is told apart from what a person
//! wrote.

mod block;
mod budget;
mod escape;
mod excerpt;
mod lookalike;
mod stamp;
mod visible;

pub use block::{Detail, Fact, Parsed, is_block, parse, write};
pub use budget::{Block, DetailItem, EXCERPT, FACT_SHARE, FactItem, Request, build};
pub(crate) use visible::Stored;
pub use visible::Visible;
