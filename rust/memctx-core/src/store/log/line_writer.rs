//! Replication: lines that another store wrote, appended as they are.

use std::path::Path;
use std::time::{Duration, Instant};

use super::append_only::Log;
use super::directory::Directory;
use super::kind::LogKind;
use super::lock::{Format, Lock};
use super::reader::LogReader;
use crate::store::settings::Durability;
use crate::{Error, Result};

/// Appends lines of other stores to the logs of a store. Open stores follow it as they follow other processes.
///
/// ```
/// use std::time::Duration;
/// use memctx_core::store::{LineWriter, LogKind, LogReader, Record, Settings, Store};
///
/// let folder = tempfile::tempdir()?;
/// let (here, there) = (folder.path().join("here"), folder.path().join("there"));
/// let said = Record { role: "user", content: "The webhook listens on port 8443", timestamp: None, metadata: None };
/// Store::open(&here, Settings::new("s1"))?.add(&[said])?;
/// let (lines, _) = LogReader::open(&here)?.read_lines(0, LogKind::Segments, 100)?;
/// let texts: Vec<&str> = lines.iter().map(|(_, text)| &**text).collect();
/// LineWriter::open(&there, Duration::from_secs(5))?.append(&texts, LogKind::Segments)?;
/// assert_eq!(Store::open(&there, Settings::new("s1"))?.len()?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LineWriter {
    directory: Directory,
    lock: Lock,
}

impl LineWriter {
    /// Open the store of a directory, created if missing.
    pub fn open(path: &Path, lock_timeout: Duration) -> Result<Self> {
        let directory = Directory::open(path)?;
        Format::check_writable(&directory)?;
        Ok(Self { lock: Lock::new(directory.clone(), lock_timeout), directory })
    }

    /// Append lines without their ends in one write, and return the offset behind them once they are on disk. If one of
    /// them is no line of the log, nothing is written.
    pub fn append(&self, lines: &[&str], log: LogKind) -> Result<u64> {
        let mut bytes = Vec::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
        for (index, line) in lines.iter().enumerate() {
            check(line, log).map_err(|fault| Error::Line { index, fault })?;
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
        if bytes.is_empty() {
            return LogReader::of(self.directory.clone()).end(log);
        }
        let held = self.lock.acquire(Instant::now())?;
        let file = Log::create(&self.directory, log.file(), Durability::Fsync)?;
        let place = file.append(bytes)?;
        drop(held);
        file.sync(place.end)?;
        Ok(place.end)
    }
}

/// Check that a line is one of the log, and that it reads back as it is.
fn check(line: &str, log: LogKind) -> std::result::Result<(), String> {
    if line.contains('\n') || line.ends_with('\r') {
        return Err("it holds a line end".to_owned());
    }
    log.check(line.as_bytes())
}
