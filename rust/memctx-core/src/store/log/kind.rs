//! The two logs of a store.

use super::SEGMENTS;
use super::fact::Fact;
use super::fact_log::KNOWLEDGE;
use super::lines::LONGEST;
use super::segment::Segment;
use crate::{Error, Result};

/// One of the logs of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogKind {
    /// `segments.jsonl`: archived messages.
    #[default]
    Segments,
    /// `knowledge.jsonl`: states of facts.
    Facts,
}

impl LogKind {
    /// Return the log of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "segments" => Ok(Self::Segments),
            "facts" => Ok(Self::Facts),
            _ => Err(Error::argument("log", "\"segments\" or \"facts\"", format!("{name:?}"))),
        }
    }

    /// Return the name of its file.
    pub(crate) const fn file(self) -> &'static str {
        match self {
            Self::Segments => SEGMENTS,
            Self::Facts => KNOWLEDGE,
        }
    }

    /// Check that a line, without its end, is one that readers of the log accept; the error says nothing of what is in
    /// it.
    pub(crate) fn check(self, line: &[u8]) -> std::result::Result<(), String> {
        if line.len() > LONGEST {
            return Err("longer than 256 MiB".to_owned());
        }
        match self {
            Self::Segments => Segment::from_line(line).map(drop),
            Self::Facts => Fact::from_line(line).map(drop),
        }
    }
}
