//! What was skipped, healed or done without.

use std::collections::VecDeque;

/// A line that holds no segment. It stays where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Which line, from 1.
    pub line: u64,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// What is wrong with it.
    pub fault: String,
}

/// How a store is. Nothing here stops it from working.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// The lines that were skipped, the first of them only where there are many.
    pub skipped: Vec<Skipped>,
    /// How many lines were skipped.
    pub skipped_lines: u64,
    /// How many unfinished lines were closed so that the next record is whole.
    pub healed: u64,
    /// Segments that were found damaged when they were to be read.
    pub damaged: u64,
    /// Whether memory holds what no disk does: a write failed and was not made good yet, or the log was deleted.
    pub is_degraded: bool,
    /// What went wrong lately, the newest last.
    pub faults: VecDeque<String>,
    /// What became of the snapshot when the store was opened.
    pub snapshot: String,
    /// What became of the vectors when the store was opened.
    pub vectors: String,
    /// Whether nothing can be written.
    pub is_read_only: bool,
    /// What the file system is called if it is one that other machines may write to as well.
    pub network: Option<&'static str>,
}

/// Entries that are kept of what may go on for ever.
const SKIPPED: usize = 100;
const FAULTS: usize = 16;

impl Health {
    /// Whether every line could be read and, whatever went wrong before, everything works now.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.skipped_lines == 0 && self.damaged == 0 && !self.is_degraded && !self.is_read_only
    }

    pub(super) fn skip(&mut self, line: u64, offset: u64, fault: impl Into<String>) {
        self.skipped_lines += 1;
        if self.skipped.len() < SKIPPED {
            self.skipped.push(Skipped { line, offset, fault: fault.into() });
        }
    }

    pub(super) fn note(&mut self, fault: impl Into<String>) {
        if self.faults.len() == FAULTS {
            self.faults.pop_front();
        }
        self.faults.push_back(fault.into());
    }
}
