//! The recalled block: selection, format, and recognition in a message.

mod block;
mod budget;
mod companions;
mod cues;
mod escape;
mod excerpt;
mod lookalike;
mod selection;
mod timestamp;
mod visible;

pub use block::{Detail, Fact, Parsed, Since, is_block, parse, write};
pub use budget::{Block, DetailItem, EXCERPT, FACT_SHARE, FactItem, Request, build};
pub use companions::{COMPANION, CompanionItem};
pub use cues::Wish;
pub(crate) use cues::corrects;
pub use selection::{Passage, Replaced, Verdict, select};
pub use visible::Visible;
pub(crate) use visible::{Stored, last_shown};
