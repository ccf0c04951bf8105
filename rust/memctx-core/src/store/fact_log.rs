//! The log of facts: every change a line, the last line of an id counts.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Durability;
use super::directory::Directory;
use super::fact::Fact;
use super::health::Health;
use super::lines::Lines;
use super::lock::Lock;
use super::log::Log;
use super::warm::Cursor;
use crate::Result;

const KNOWLEDGE: &str = "knowledge.jsonl";

/// Facts on disk, shared with other processes as segments are.
///
/// ```
/// use std::time::Duration;
/// use memctx_core::store::{Durability, Fact, FactLog};
///
/// let folder = tempfile::tempdir()?;
/// let log = FactLog::open(&folder.path().join("memory"), Durability::Fsync, Duration::from_secs(5))?;
/// let line = br#"{"id":"f1","type":"config","content":"port 3000","timestamp":1770000003000}"#;
/// let fact = Fact::from_line(line)?;
/// log.append(&[fact.clone(), Fact { content: "port 8080".to_owned(), ..fact }])?;
/// assert_eq!(log.facts()?[0].content, "port 8080");
/// assert_eq!(log.history("f1")?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FactLog {
    directory: Directory,
    durability: Durability,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    lock: Lock,
    log: Option<Arc<Log>>,
    cursor: Cursor,
    /// Every line that was read, in order.
    lines: Vec<Fact>,
    health: Health,
}

impl FactLog {
    /// Open the log of a directory, which is made if it is missing.
    pub fn open(path: &Path, durability: Durability, lock_timeout: Duration) -> Result<Self> {
        let directory = Directory::open(path)?;
        let lock = Lock::new(directory.clone(), lock_timeout);
        let health = Health::default();
        let state = State { lock, log: None, cursor: Cursor::default(), lines: Vec::new(), health };
        Ok(Self { directory, durability, state: Mutex::new(state) })
    }

    /// Write new states of facts; they are acknowledged when this returns.
    pub fn append(&self, facts: &[Fact]) -> Result<()> {
        let mut lines = Vec::new();
        for fact in facts {
            lines.extend_from_slice(&fact.to_line());
            lines.push(b'\n');
        }
        let since = Instant::now();
        let mut state = self.state();
        let State { lock, log, health, .. } = &mut *state;
        let held = lock.acquire(since)?;
        let log = match log.as_ref().filter(|log| log.current_len().is_some()) {
            Some(log) => Arc::clone(log),
            None => Arc::clone(log.insert(Arc::new(Log::create(&self.directory, KNOWLEDGE, self.durability)?))),
        };
        let place = log.append(lines)?;
        drop(held);
        health.healed += u64::from(place.healed);
        drop(state);
        log.sync(place.end)
    }

    /// The facts as they are now, in the order they were first stated; those taken back are left out.
    pub fn facts(&self) -> Result<Vec<Fact>> {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut facts: Vec<&Fact> = Vec::new();
        let state = self.current()?;
        for fact in &state.lines {
            if let Some(&place) = places.get(fact.id.as_str()) {
                facts[place] = fact;
            } else {
                places.insert(&fact.id, facts.len());
                facts.push(fact);
            }
        }
        Ok(facts.into_iter().filter(|fact| !fact.is_deleted).cloned().collect())
    }

    /// All states of a fact, oldest first.
    pub fn history(&self, id: &str) -> Result<Vec<Fact>> {
        Ok(self.current()?.lines.iter().filter(|fact| fact.id == id).cloned().collect())
    }

    /// What was skipped or healed.
    pub fn health(&self) -> Result<Health> {
        Ok(self.current()?.health.clone())
    }

    /// With everything that others have written.
    fn current(&self) -> Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        if state.log.as_ref().is_none_or(|log| log.current_len().is_none()) {
            state.log = Log::open(&self.directory, KNOWLEDGE, self.durability)?.map(Arc::new);
            (state.cursor, state.lines) = (Cursor::default(), Vec::new());
        }
        let Some(log) = state.log.clone() else { return Ok(state) };
        if log.current_len().is_some_and(|length| length < state.cursor.offset) {
            (state.cursor, state.lines) = (Cursor::default(), Vec::new());
        }
        let mut lines = Lines::new(log.file(), state.cursor.offset, state.cursor.line);
        while let Some(line) = lines.next() {
            match line.bytes.map_err(str::to_owned).and_then(|bytes| {
                if bytes.trim_ascii().is_empty() { Ok(None) } else { Fact::from_line(bytes).map(Some) }
            }) {
                Ok(fact) => state.lines.extend(fact),
                Err(fault) => state.health.skip(line.number, line.offset, fault),
            }
        }
        state.cursor = Cursor { offset: lines.position(), line: lines.number() };
        Ok(state)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
