//! The state that the parts of a store share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};
use std::time::{SystemTime, UNIX_EPOCH};

use super::embed;
use super::embedding::{Pass, Signal};
use super::health::Health;
use super::intake::Intake;
use super::log::append_only::Log;
use super::log::directory::Directory;
use super::log::lock::Lock;
use super::model::Model;
use super::settings::Settings;
use super::warm::entry::Standing;
use super::warm::search::{Found, Request};
use super::warm::snapshot::Terms;
use super::warm::tier::{Draft, Warm};
use super::write::Written;
use crate::redact::Redactor;
use crate::vmem::Follower;
use crate::{Error, Result};

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) settings: Settings,
    pub(super) directory: Directory,
    pub(super) intake: Intake,
    pub(super) terms: Terms,
    /// A writer takes the gate first, and locks the index only for the change itself.
    index: RwLock<Warm>,
    gate: Mutex<Gate>,
    /// The progress of embedding.
    pub(super) pass: Mutex<Pass>,
    /// Everything before this place in the log has its vectors.
    pub(super) embedded: AtomicU64,
    /// Held while some texts are embedded.
    pub(super) embedding: Mutex<()>,
    /// Turns that keep new vectors out of memory. Locked after the progress of embedding and before the index.
    pub(super) vector_holds: Mutex<usize>,
    /// Set when something is stored.
    pub(super) stored: Arc<Signal>,
    health: Mutex<Health>,
    is_ready: Mutex<bool>,
    became_ready: Condvar,
    /// None if what left memory is not searched.
    #[cfg(feature = "disk-index")]
    pub(super) older: Option<super::evicted::Older>,
    /// True if something is written and not indexed yet.
    pub(super) has_pending: AtomicBool,
    /// True if a thread is indexing.
    pub(super) is_settling: AtomicBool,
    is_closed: AtomicBool,
    /// The time of the last batch, in milliseconds.
    stamped: Mutex<f64>,
}

/// The state that one thread at a time may use.
#[derive(Debug)]
pub(super) struct Gate {
    pub(super) lock: Lock,
    pub(super) tail: Tail,
}

/// The end of the log, where reading goes on.
#[derive(Debug, Default)]
pub(super) struct Tail {
    pub(super) log: Option<Arc<Log>>,
    /// The file of vectors as far as it is known which of them are of passages in memory.
    pub(super) vectors: Option<Follower>,
    /// Records written and not indexed yet, in order.
    pub(super) pending: Vec<Written>,
    /// Passages that `vectors.bin` lacks.
    pub(super) unsaved: usize,
    /// Segments that the snapshot lacks.
    pub(super) unsnapped: usize,
    /// True if all of `vectors.bin` has been read since the store was opened.
    pub(super) is_checked: bool,
    /// True if `vectors.bin` may have what counts as unsaved here: vectors of this model took the place of others.
    pub(super) is_unsure: bool,
}

impl Inner {
    /// Create the state of a store before it is loaded.
    pub(super) fn new(directory: Directory, settings: Settings, health: Health) -> Result<Self> {
        let scope = if settings.cross_session { "all".to_owned() } else { format!("one\n{}", settings.session) };
        let bounds = format!("{} {}", settings.max_segments, settings.eviction_days);
        Ok(Self {
            intake: Intake::new(Redactor::new(settings.redaction, settings.pii, &settings.patterns)?),
            terms: Terms { scope, model: settings.model.words(), bounds },
            index: RwLock::new(Warm::new(settings.model.dim(), settings.model.own_weight())?),
            pass: Mutex::default(),
            embedded: AtomicU64::new(0),
            embedding: Mutex::default(),
            vector_holds: Mutex::default(),
            stored: Arc::default(),
            gate: Mutex::new(Gate { lock: Lock::new(directory.clone(), settings.lock_timeout), tail: Tail::default() }),
            health: Mutex::new(health),
            is_ready: Mutex::new(false),
            became_ready: Condvar::new(),
            has_pending: AtomicBool::new(false),
            is_settling: AtomicBool::new(false),
            stamped: Mutex::new(0.0),
            is_closed: AtomicBool::new(false),
            #[cfg(feature = "disk-index")]
            older: settings.disk_index.then(|| super::evicted::Older::new(&directory, &settings.model)),
            settings,
            directory,
        })
    }

    /// Return a time for the records of one batch, later than that of the batch before: what was stored first is older.
    pub(super) fn stamp(&self) -> f64 {
        let mut stamped = self.stamped.lock().unwrap_or_else(PoisonError::into_inner);
        *stamped = now().max(*stamped + 1.0);
        *stamped
    }

    /// The best segments of those in memory.
    pub(super) fn search(&self, request: &Request<'_>) -> Result<Vec<Found>> {
        let Settings { cross_session, session, .. } = &self.settings;
        let is_foreign = !cross_session && request.filter.session.as_ref().is_some_and(|wanted| wanted != session);
        let index = self.current()?;
        // Of a session that still fits its window, all segments are visible.
        let is_all_seen = request.except.is_some_and(|except| except.are(index.len(), index.digest_sum));
        if is_foreign || request.limit == 0 || is_all_seen {
            return Ok(Vec::new());
        }
        let vector = embed::query(request, self.model())?.filter(|_| index.has_vectors(request.except));
        index.search(request, vector.as_ref(), now(), |fault| self.note_damage(&fault))
    }

    /// Count a segment that could not be read, which is left out and stops nothing.
    pub(super) fn note_damage(&self, fault: &Error) {
        let mut health = self.health();
        health.damaged += 1;
        health.note(fault.to_string());
    }

    /// The index, with what others have written unless someone is at it already.
    pub(super) fn current(&self) -> Result<RwLockReadGuard<'_, Warm>> {
        self.check_open()?;
        self.wait();
        // Records acknowledged here are found here; records of other processes are not waited for.
        let free = if self.has_pending.load(Ordering::SeqCst) { Some(self.gate()) } else { self.free_gate() };
        if let Some(Err(fault)) = free.map(|mut gate| self.catch_up(&mut gate.tail)) {
            self.health().note(fault.to_string());
        }
        Ok(self.index())
    }

    /// Return the gate if it is free.
    fn free_gate(&self) -> Option<MutexGuard<'_, Gate>> {
        match self.gate.try_lock() {
            Ok(gate) => Some(gate),
            Err(TryLockError::Poisoned(gate)) => Some(gate.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Let those go on who wait until the store is loaded.
    pub(super) fn be_ready(&self) {
        *lock(&self.is_ready) = true;
        self.became_ready.notify_all();
    }

    /// Wait until the store is loaded.
    pub(super) fn wait(&self) {
        let mut is_ready = lock(&self.is_ready);
        while !*is_ready {
            is_ready = self.became_ready.wait(is_ready).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn check_open(&self) -> Result<()> {
        if self.is_closed() {
            return Err(Error::Refused {
                path: self.directory.path().to_owned(),
                why: "this store is closed; open it again",
            });
        }
        Ok(())
    }

    /// The model that makes the vectors.
    pub(super) fn model(&self) -> &Model {
        &self.settings.model
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Refuse every further call; false if that was so before.
    pub(super) fn begin_closing(&self) -> bool {
        !self.is_closed.swap(true, Ordering::SeqCst)
    }

    pub(super) fn index(&self) -> RwLockReadGuard<'_, Warm> {
        self.index.read().expect(UNUSABLE)
    }

    pub(super) fn index_mut(&self) -> RwLockWriteGuard<'_, Warm> {
        self.index.write().expect(UNUSABLE)
    }

    pub(super) fn gate(&self) -> MutexGuard<'_, Gate> {
        lock(&self.gate)
    }

    pub(super) fn health(&self) -> MutexGuard<'_, Health> {
        lock(&self.health)
    }
}

const UNUSABLE: &str = "the store is unusable after an earlier internal error; open it again";

impl Tail {
    /// Count what neither `vectors.bin` nor the snapshot has.
    pub(super) fn note(&mut self, drafts: &[Draft]) {
        self.unsnapped += drafts.len();
        self.unsaved += drafts.iter().filter(|draft| draft.standing == Standing::UNSAVED).count();
    }
}

/// Lock; what is locked here is whole after every step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Milliseconds since 1970; before that, 0.
pub(crate) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |age| age.as_secs_f64() * 1000.0).floor()
}
