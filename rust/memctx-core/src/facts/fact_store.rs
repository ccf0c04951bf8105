//! Store of a session's facts: durable changes, and a search that sees them at once.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::time::Instant;

use super::batch::{Batch, Made, Said};
use super::change::{Change, Outcome, Statement};
use super::index::Index;
use super::kind::Kind;
use super::search::{Found, Request};
use super::settings::Settings;
use crate::redact::Redactor;
use crate::store::{Fact, FactLog, Health, now};
use crate::{Error, Result};

/// The facts of one session, or of all sessions of a directory.
///
/// ```
/// use memctx_core::facts::{Change, FactStore, Kind, Request, Settings, Statement};
///
/// let folder = tempfile::tempdir()?;
/// let facts = FactStore::open(&folder.path().join("memory"), Settings::new("s1"))?;
/// let said = |content| Statement { content, ..Statement::default() };
/// let add = Change::Add { id: None, kind: Kind::Config, statement: said("The webhook listens on port 3000") };
/// let old = facts.change(&add)?;
/// let statement = said("The webhook listens on port 8443");
/// let new = facts.change(&Change::Supersede { target: &old.id, id: None, kind: Kind::Config, statement })?;
/// let found = facts.search(&Request { query: "Which port has the webhook?", limit: 5, ..Request::default() })?;
/// assert_eq!(found[0].fact, new);
/// assert_eq!(facts.history(&old.id)?.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FactStore {
    settings: Settings,
    redactor: Redactor,
    /// Lock order: a change takes the log first, and locks the index only while it is applied.
    log: Mutex<FactLog>,
    index: RwLock<Index>,
    is_loaded: AtomicBool,
    is_closed: AtomicBool,
}

/// Size of the store.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// Facts that hold.
    pub active: usize,
    /// Facts that others took the place of.
    pub superseded: usize,
    /// Facts that were taken back.
    pub forgotten: usize,
    /// States of facts, those that hold and those that do not.
    pub states: usize,
    /// Bytes of the log that have been read.
    pub log_bytes: u64,
    /// Lines of the log that have been read.
    pub log_lines: u64,
}

impl FactStore {
    /// Open the facts of a directory, created if it is missing. They are read on first use.
    pub fn open(path: &Path, settings: Settings) -> Result<Self> {
        Ok(Self {
            redactor: Redactor::new(settings.redaction, settings.pii, &settings.patterns)?,
            log: Mutex::new(FactLog::open(path, settings.durability, settings.lock_timeout)?),
            index: RwLock::new(Index::new(&settings)),
            is_loaded: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            settings,
        })
    }

    /// Make one change; it is acknowledged when this returns. Gives the fact as it is then: the one that was there if
    /// the change says nothing new. It is an error if the fact to be changed does not hold.
    pub fn change(&self, change: &Change<'_>) -> Result<Fact> {
        let said = self.said(change)?;
        self.write(|batch| {
            if let Some(target) = change.target() {
                batch.check(target)?;
            }
            Ok(vec![batch.make(change, said)?])
        })?
        .pop()
        .and_then(|(_, fact)| fact)
        .ok_or_else(|| Error::argument("id", "that of an active fact of this session", "that of none"))
    }

    /// Make changes in one append, each of which sees what those before it did; they are acknowledged when this
    /// returns, and on an error none of them is made.
    pub fn apply(&self, changes: &[Change<'_>]) -> Result<Vec<Outcome>> {
        let said: Vec<Said> = changes.iter().map(|change| self.said(change)).collect::<Result<_>>()?;
        let made = self.write(|batch| {
            changes.iter().zip(said).map(|(change, said)| batch.make(change, said)).collect::<Result<_>>()
        })?;
        Ok(made.into_iter().map(|(outcome, _)| outcome).collect())
    }

    /// Return the fact of an id as it is now, superseded or not; none if it was taken back.
    pub fn get(&self, id: &str) -> Result<Option<Fact>> {
        let index = self.current()?;
        Ok(index.find(id).map(|number| index.fact(number)).filter(|fact| !fact.is_deleted).cloned())
    }

    /// Return all facts that hold, and on request those that others took the place of; newest first.
    pub fn facts(&self, kinds: Option<&[Kind]>, limit: usize, include_superseded: bool) -> Result<Vec<Fact>> {
        self.newest(limit, |fact| {
            let is_of = kinds.is_none_or(|kinds| kinds.iter().any(|kind| kind.name() == fact.kind));
            is_of && !fact.is_deleted && (include_superseded || fact.superseded_by.is_none())
        })
    }

    /// Return the facts that were taken back, newest first.
    pub fn forgotten(&self, limit: usize) -> Result<Vec<Fact>> {
        self.newest(limit, |fact| fact.is_deleted)
    }

    fn newest(&self, limit: usize, is_wanted: impl Fn(&Fact) -> bool) -> Result<Vec<Fact>> {
        let index = self.current()?;
        let mut numbers: Vec<u32> = index.numbers().filter(|&number| is_wanted(index.fact(number))).collect();
        numbers.sort_unstable_by_key(|&number| Reverse(index.age_of(number)));
        Ok(numbers.into_iter().take(limit).map(|number| index.fact(number).clone()).collect())
    }

    /// Return all states of a fact and of every fact it took the place of, oldest first: the same from each of their
    /// ids. Nothing if the id is not known.
    pub fn history(&self, id: &str) -> Result<Vec<Fact>> {
        Ok(self.current()?.history(id))
    }

    /// Return the facts that answer a question, best first, newer first among equals; none if the question is about
    /// something else.
    pub fn search(&self, request: &Request<'_>) -> Result<Vec<Found>> {
        Ok(self.current()?.search(request))
    }

    /// Return the facts that share most with a text, however little, closest first.
    pub fn nearest(&self, text: &str, limit: usize, kinds: Option<&[Kind]>) -> Result<Vec<Fact>> {
        Ok(self.current()?.nearest(text, limit, kinds))
    }

    /// Facts that hold.
    pub fn len(&self) -> Result<usize> {
        Ok(self.current()?.active())
    }

    /// Return whether no fact holds.
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Return the size of the store.
    pub fn statistics(&self) -> Result<Statistics> {
        let index = self.current()?;
        let forgotten = index.numbers().filter(|&number| index.fact(number).is_deleted).count();
        let (active, states) = (index.active(), index.span());
        let superseded = index.numbers().len() - active - forgotten;
        drop(index);
        let (log_bytes, log_lines) = self.log().read_so_far();
        Ok(Statistics { active, superseded, forgotten, states, log_bytes, log_lines })
    }

    /// Return what was skipped or repaired.
    pub fn health(&self) -> Result<Health> {
        self.check_open()?;
        let read = self.current().map(drop);
        let mut health = self.log().health();
        if let Err(fault) = read {
            health.reasons.push(format!("the log cannot be read: {fault}"));
        }
        Ok(health)
    }

    /// Refuse every further call.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// Return the content of a change, ready to be stored.
    fn said(&self, change: &Change<'_>) -> Result<Said> {
        let (Change::Add { statement, .. } | Change::Update { statement, .. } | Change::Supersede { statement, .. }) =
            change
        else {
            return Ok(Said::default());
        };
        let Statement { content, context, sources, timestamp } = *statement;
        let timestamp = timestamp.unwrap_or_else(now);
        if !timestamp.is_finite() {
            return Err(Error::argument("timestamp", "a finite number of milliseconds", timestamp.to_string()));
        }
        if content.trim().is_empty() {
            return Err(Error::argument("content", "a statement", format!("{content:?}")));
        }
        let masked = |text| self.redactor.mask(text).text.trim().to_owned();
        let context = context.map(masked).filter(|context| !context.is_empty());
        Ok(Said { content: masked(content), context, sources: sources.to_vec(), timestamp })
    }

    /// Make changes, and remember whether that failed.
    fn write(&self, plan: impl FnOnce(&mut Batch<'_>) -> Result<Vec<Made>>) -> Result<Vec<(Outcome, Option<Fact>)>> {
        self.check_open()?;
        self.try_write(plan).inspect_err(|fault| self.log().note_write(Some(fault)))
    }

    /// Make changes under the directory's lock. Memory changes after the log has.
    fn try_write(
        &self,
        plan: impl FnOnce(&mut Batch<'_>) -> Result<Vec<Made>>,
    ) -> Result<Vec<(Outcome, Option<Fact>)>> {
        // Waiting for other threads counts too.
        let since = Instant::now();
        let mut log = self.log();
        let held = log.acquire(since)?;
        self.follow(&mut log)?;
        if log.repair(&held)? {
            self.follow(&mut log)?;
        }
        let index = self.index();
        let mut batch = Batch::new(&index, &self.settings.session);
        let made = plan(&mut batch)?;
        let states = batch.states;
        drop(index);
        let is_written = !states.is_empty();
        if is_written {
            if log.append(&held, &states)? {
                let mut index = self.index_mut();
                states.into_iter().try_for_each(|fact| index.take(fact))?;
            } else {
                self.follow(&mut log)?;
            }
        }
        drop(held);
        let unsynced = log.unsynced();
        let index = self.index();
        let fact_of = |id: String| index.find(&id).map(|number| index.fact(number).clone());
        let made = made.into_iter().map(|made| (made.outcome, made.id.and_then(fact_of))).collect();
        drop(index);
        drop(log);
        // Also what others wrote and a duplicate stands for.
        unsynced.sync()?;
        if is_written {
            self.log().note_write(None);
        }
        Ok(made)
    }

    /// Take in the lines written since, by any process.
    fn follow(&self, log: &mut FactLog) -> Result<()> {
        if let Some(news) = log.news()? {
            let mut index = self.index_mut();
            if news.is_replaced {
                *index = Index::new(&self.settings);
            }
            news.facts.into_iter().try_for_each(|fact| index.take(fact))?;
        }
        self.is_loaded.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Return the index, with what others have written unless someone is at it already.
    fn current(&self) -> Result<RwLockReadGuard<'_, Index>> {
        self.check_open()?;
        if !self.is_loaded.load(Ordering::SeqCst) {
            self.follow(&mut self.log())?;
        } else if let Some(mut log) = self.free_log()
            && let Err(fault) = self.follow(&mut log)
        {
            log.note(fault.to_string());
        }
        Ok(self.index())
    }

    fn check_open(&self) -> Result<()> {
        if self.is_closed.load(Ordering::SeqCst) {
            let path = self.log().path().to_owned();
            return Err(Error::Refused { path, why: "this fact store is closed; open it again" });
        }
        Ok(())
    }

    fn log(&self) -> MutexGuard<'_, FactLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Return the log, if it is not locked.
    fn free_log(&self) -> Option<MutexGuard<'_, FactLog>> {
        match self.log.try_lock() {
            Ok(log) => Some(log),
            Err(TryLockError::Poisoned(log)) => Some(log.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().expect(UNUSABLE)
    }

    fn index_mut(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().expect(UNUSABLE)
    }
}

const UNUSABLE: &str = "the fact store is unusable after an earlier internal error; open it again";
