//! Health reports: lines skipped, lines completed, and reduced operation.

use std::collections::VecDeque;

use crate::Error;

/// A line that holds no segment. It stays where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The line number, from 1.
    pub line: u64,
    /// The offset of the line, in bytes.
    pub offset: u64,
    /// The fault.
    pub fault: String,
}

/// The health of a store. Nothing here stops it from working.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// The lines that were skipped, the first of them only where there are many.
    pub skipped: Vec<Skipped>,
    /// The number of lines skipped.
    pub skipped_lines: u64,
    /// The number of unfinished lines closed so that the next record is whole.
    pub repaired: u64,
    /// Segments that were found damaged when they were to be read.
    pub damaged: u64,
    /// Reasons why the store is degraded, as long as it is: the last write failed, the log was deleted while memory
    /// still holds its segments, or the disk index is unavailable.
    pub reasons: Vec<String>,
    /// The error of the last write; `None` once one succeeds.
    pub(super) unwritten: Option<String>,
    /// Recent faults, the newest last.
    pub faults: VecDeque<String>,
    /// The state of the snapshot when the store was opened.
    pub snapshot: String,
    /// The state of the vectors when the store was opened.
    pub vectors: String,
    /// True if nothing can be written.
    pub is_read_only: bool,
    /// The name of the file system if other machines may write to it too.
    pub network: Option<&'static str>,
}

/// Entries that are kept of what may go on for ever.
const SKIPPED: usize = 100;
const FAULTS: usize = 16;

impl Health {
    /// Return whether every line could be read and, whatever went wrong before, everything works now.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.skipped_lines == 0 && self.damaged == 0 && !self.is_degraded() && !self.is_read_only
    }

    /// Return whether the store does less than it should.
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        !self.reasons.is_empty()
    }

    /// Remember what a write failed with, or that one succeeded.
    pub(super) fn note_write(&mut self, fault: Option<&Error>) {
        // Errors that are not the disk's, or are reported otherwise.
        if !matches!(fault, Some(Error::Argument { .. } | Error::Refused { .. } | Error::Full { .. })) {
            self.unwritten = fault.map(ToString::to_string);
        }
    }

    /// This report with the reasons for which a store over a log is degraded.
    pub(super) fn with_reasons(mut self, is_poisoned: bool, is_log_lost: bool) -> Self {
        let unwritten = self.unwritten.as_ref().map(|fault| format!("the last write failed: {fault}"));
        self.reasons.extend(unwritten);
        if is_poisoned {
            self.reasons.push("a write has not reached the disk; it is written again with the next one".to_owned());
        }
        if is_log_lost {
            self.reasons.push("the log was deleted; its segments are in memory only".to_owned());
        }
        self
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
