//! The disk index of a directory, shared by the stores of a process: indexing and access.

use std::fmt;
use std::fs::File;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::indexer::Indexer;
use super::manifest::Manifest;
use super::opened::Opened;
use super::status::{IndexStatus, State};
use super::view::View;
use super::{background, generation};
use crate::file::Identity;
use crate::store::{Directory, Lease, Model};
use crate::{Error, Result};

/// Folder of the disk index, under the folder of derived files.
const HOME: &str = "cold";
/// Held by the one process that fills the disk index.
const FILLING: &str = "LOCK";
/// Validity of a check for new commits.
const FRESH: Duration = Duration::from_millis(50);
/// Time that the indexing thread stays ready for more, since starting takes longer the larger the index is.
const LINGER: Duration = Duration::from_secs(2);
/// Longest time that a closing store waits for indexing to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Hears how many bytes of the log, of how many, are taken in; and may end it there.
pub(crate) type Progress<'a> = &'a mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// The disk index of a directory. All stores of a process share one.
pub(crate) struct DiskIndex {
    directory: Directory,
    model: Model,
    opened: Mutex<Option<Opened>>,
    site: Mutex<Option<Site>>,
    /// State of the indexing thread.
    filler: Mutex<Filler>,
    changed: Condvar,
    is_filling: AtomicBool,
    is_renewing: AtomicBool,
    is_stopped: AtomicBool,
    /// Stores that are open.
    users: AtomicUsize,
    /// Return the offset up to which the log was indexed when last checked.
    indexed: AtomicU64,
    /// Indexing beyond this offset of the log can wait.
    horizon: AtomicU64,
    fault: Mutex<Option<String>>,
    broken: Mutex<Option<Broken>>,
}

/// A generation whose files are damaged. The next to fill the disk index begins another.
#[derive(Debug)]
struct Broken {
    folder: PathBuf,
    fault: String,
}

#[derive(Clone, Copy, Debug, Default)]
struct Filler {
    is_there: bool,
    has_more: bool,
    /// Time of the last failure. There is no retry for a while.
    failed: Option<Instant>,
}

/// Open indexer, kept for a while.
struct Site {
    indexer: Indexer,
    folder: PathBuf,
    log: Identity,
    _lease: Lease,
}

impl fmt::Debug for DiskIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskIndex").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl DiskIndex {
    /// Create the disk index of a directory whose vectors a model makes. Nothing is read yet.
    pub(crate) fn new(directory: Directory, model: Model) -> Self {
        Self {
            directory,
            model,
            opened: Mutex::default(),
            site: Mutex::default(),
            filler: Mutex::default(),
            changed: Condvar::new(),
            is_filling: AtomicBool::new(false),
            is_renewing: AtomicBool::new(false),
            is_stopped: AtomicBool::new(false),
            users: AtomicUsize::new(0),
            indexed: AtomicU64::new(0),
            horizon: AtomicU64::new(0),
            fault: Mutex::default(),
            broken: Mutex::default(),
        }
    }

    /// Return the offset up to which the log was indexed when last checked.
    pub(crate) fn indexed(&self) -> u64 {
        let known = self.indexed.load(Ordering::Relaxed);
        if known > 0 {
            return known;
        }
        let peeked = self.current().and_then(|folder| Manifest::peek(&folder, &self.model.words()));
        let offset = peeked.map_or(0, |manifest| manifest.offset);
        self.indexed.store(offset, Ordering::Relaxed);
        offset
    }

    /// Fill the disk index in another thread, at least up to an offset in the log.
    pub(crate) fn wake(self: &Arc<Self>, horizon: u64) {
        self.horizon.fetch_max(horizon, Ordering::Relaxed);
        let mut filler = lock(&self.filler);
        if filler.failed.is_some_and(|failed| failed.elapsed() < LINGER) {
            return;
        }
        filler.has_more = true;
        self.changed.notify_all();
        if filler.is_there || self.is_stopped.load(Ordering::SeqCst) {
            return;
        }
        let index = Arc::clone(self);
        filler.is_there = background::spawn_low_priority("memctx-index", move || index.fill_for_a_while());
    }

    fn fill_for_a_while(self: Arc<Self>) {
        loop {
            self.fill_while_more_comes();
            // Its lock is not held while parts are merged, which may take long: a store that closes takes it.
            let site = lock(&self.site).take();
            if let Some(site) = site
                && !self.is_stopped.load(Ordering::SeqCst)
                && let Err(fault) = site.indexer.finish()
            {
                self.note(fault.to_string());
            }
            let mut filler = lock(&self.filler);
            filler.is_there = filler.has_more && !self.is_stopped.load(Ordering::SeqCst);
            if !filler.is_there {
                return;
            }
        }
    }

    fn fill_while_more_comes(&self) {
        let mut is_on = true;
        while is_on {
            lock(&self.filler).has_more = false;
            let horizon = self.horizon.load(Ordering::Relaxed);
            let fill = AssertUnwindSafe(|| self.fill(false, horizon, &mut |_, _| ControlFlow::Continue(())));
            let outcome = catch_unwind(fill);
            let failed = (!matches!(outcome, Ok(Ok(_)))).then(Instant::now);
            match outcome {
                Ok(Ok(_)) => {}
                Ok(Err(fault)) => self.note(fault.to_string()),
                Err(_) => self.note("internal error while indexing; please report it".to_owned()),
            }
            let mut filler = lock(&self.filler);
            filler.failed = failed;
            let start = Instant::now();
            while !filler.has_more && !self.is_stopped.load(Ordering::SeqCst) && start.elapsed() < LINGER {
                let rest = LINGER.saturating_sub(start.elapsed());
                filler = self.changed.wait_timeout(filler, rest).unwrap_or_else(PoisonError::into_inner).0;
            }
            is_on = filler.has_more && !self.is_stopped.load(Ordering::SeqCst);
        }
    }

    /// Take in everything that is in the log by now, waiting for another process that does so; `rebuild` from the
    /// beginning.
    pub(crate) fn catch_up(self: &Arc<Self>, rebuild: bool, progress: Progress<'_>) -> Result<()> {
        let wanted = self.log()?.and_then(|log| log.metadata().ok()).map_or(0, |found| found.len());
        loop {
            let is_done = !rebuild && self.view().is_some_and(|view| view.end() >= wanted);
            if is_done {
                return Ok(());
            }
            if self.fill(rebuild, u64::MAX, progress)? {
                // Someone has to give the right to fill the disk index back when nothing more comes.
                self.wake(0);
                return Ok(());
            }
            // Another process is at it, and what it takes in is seen here.
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// [`DiskIndex::catch_up`], and put in order what is on disk.
    pub(crate) fn complete(self: &Arc<Self>, rebuild: bool, progress: Progress<'_>) -> Result<()> {
        self.catch_up(rebuild, progress)?;
        lock(&self.site).as_mut().map_or(Ok(()), |site| site.indexer.merge())
    }

    /// Rebuild the disk index in another thread if vectors have come that it lacks.
    pub(crate) fn renew(self: &Arc<Self>) {
        /// Of so many passages one may be without a vector.
        const ALL_BUT: u64 = 200;
        let lacks = |view: Arc<View>| view.lacking() * ALL_BUT > view.passages();
        if self.is_stopped.load(Ordering::SeqCst) || !self.view().is_some_and(lacks) {
            return;
        }
        // A caller that asks again meanwhile must not have it made twice.
        if self.is_renewing.swap(true, Ordering::SeqCst) {
            return;
        }
        let index = Arc::clone(self);
        let is_spawned = background::spawn_low_priority("memctx-renew", move || {
            let fill = AssertUnwindSafe(|| index.fill(true, u64::MAX, &mut |_, _| ControlFlow::Continue(())));
            let filled = catch_unwind(fill);
            index.is_renewing.store(false, Ordering::SeqCst);
            match filled {
                Ok(Ok(_)) => index.wake(0),
                Ok(Err(fault)) => index.note(fault.to_string()),
                Err(_) => index.note("internal error while indexing; please report it".to_owned()),
            }
        });
        if !is_spawned {
            self.is_renewing.store(false, Ordering::SeqCst);
        }
    }

    /// Fill the disk index up to an offset in the log; false if another process is at it.
    fn fill(&self, rebuild: bool, horizon: u64, progress: Progress<'_>) -> Result<bool> {
        let mut site = lock(&self.site);
        let Some(log) = self.log()?.map(Arc::new) else { return Ok(true) };
        let home = self.home()?;
        let identity = Identity::of(&log.metadata().map_err(Error::io(&home))?);
        let current = generation::current(&home).filter(|folder| !self.is_broken(folder));
        let kept =
            site.take().filter(|site| !rebuild && Some(&site.folder) == current.as_ref() && site.log == identity);
        let found = match kept {
            Some(site) => Some(site),
            None => self.begin(&home, &log, identity, current.filter(|_| !rebuild), rebuild)?,
        };
        let Some(mut found) = found else { return Ok(false) };
        let length = log.metadata().map_or(0, |found| found.len());
        self.is_filling.store(found.indexer.end() < length.min(horizon), Ordering::SeqCst);
        let filled = found.indexer.catch_up(horizon, &self.is_stopped, &mut |manifest| {
            self.indexed.store(manifest.offset, Ordering::Relaxed);
            progress(manifest.offset, log.metadata().map_or(0, |found| found.len()))
        });
        self.is_filling.store(false, Ordering::SeqCst);
        filled?;
        if let Some(opened) = lock(&self.opened).as_mut() {
            opened.expire();
        }
        if rebuild {
            generation::switch(&home, &found.folder)?;
        }
        if !self.is_stopped.load(Ordering::SeqCst) {
            *site = Some(found);
        }
        Ok(true)
    }

    /// Become the one who fills the disk index, and go on where the last one stopped; none if another process is at it.
    fn begin(
        &self,
        home: &Path,
        log: &Arc<File>,
        identity: Identity,
        current: Option<PathBuf>,
        rebuild: bool,
    ) -> Result<Option<Site>> {
        let Some(lease) = Lease::acquire(&home.join(FILLING))? else { return Ok(None) };
        generation::sweep(home);
        if let Some(folder) = current {
            match Indexer::open(&folder, &self.directory, log, &self.model) {
                Ok(indexer) => return Ok(Some(Site { indexer, folder, log: identity, _lease: lease })),
                Err(fault) => self.note(format!("{fault}; rebuilt")),
            }
        }
        let folder = generation::begin(home)?;
        let indexer = Indexer::create(&folder, &self.directory, log, &self.model)?;
        if !rebuild {
            // What is there so far counts, so that nothing is done twice after a crash.
            generation::switch(home, &folder)?;
        }
        Ok(Some(Site { indexer, folder, log: identity, _lease: lease }))
    }

    /// Note that a store uses it.
    pub(crate) fn enter(&self) {
        self.users.fetch_add(1, Ordering::SeqCst);
        self.is_stopped.store(false, Ordering::SeqCst);
    }

    /// Note that a store is done with it; the last one stops the filling.
    pub(crate) fn leave(&self) {
        if self.users.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.stop();
        }
    }

    /// Stop filling, and wait briefly for the thread; what is committed stays.
    fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.changed.notify_all();
        let start = Instant::now();
        while lock(&self.filler).is_there && start.elapsed() < STOP_TIMEOUT {
            thread::sleep(Duration::from_millis(1));
        }
        lock(&self.site).take();
    }

    /// Return the newest committed view; none if there is nothing yet, or nothing usable.
    pub(crate) fn view(self: &Arc<Self>) -> Option<Arc<View>> {
        let mut opened = lock(&self.opened);
        let identity = self.directory.log_identity();
        if let Some(found) = opened.as_ref().filter(|found| found.is_fresh(FRESH) && Some(found.log()) == identity) {
            return Some(found.view());
        }
        let log = self.log().ok().flatten()?;
        let Some(folder) = self.current() else {
            // Deleted, or cut short: the next reader that misses it has it rebuilt.
            self.indexed.store(0, Ordering::Relaxed);
            return None;
        };
        if self.is_broken(&folder) {
            return None;
        }
        let renewed = Opened::renew(opened.take(), folder.clone(), log, &self.directory, &self.model);
        match renewed {
            Ok(found) => {
                let view = found.view();
                self.indexed.store(view.end(), Ordering::Relaxed);
                *lock(&self.broken) = None;
                *opened = Some(found);
                Some(view)
            }
            Err(fault) => {
                drop(opened);
                self.give_up(&folder, &fault);
                None
            }
        }
    }

    /// Note that a search of a view failed. If its files are damaged, do without them until they have been rebuilt.
    pub(crate) fn fail(self: &Arc<Self>, view: &View, fault: &Error) {
        self.give_up(&view.folder, fault);
        if self.is_broken(&view.folder) {
            lock(&self.opened).take();
        }
    }

    fn give_up(self: &Arc<Self>, folder: &Path, fault: &Error) {
        self.note(fault.to_string());
        // What another process replaced meanwhile is gone, not damaged.
        if !fault.is_damage() || self.current().as_deref() != Some(folder) {
            return;
        }
        *lock(&self.broken) = Some(Broken { folder: folder.to_owned(), fault: fault.to_string() });
        self.indexed.store(0, Ordering::Relaxed);
        self.wake(u64::MAX);
    }

    fn is_broken(&self, folder: &Path) -> bool {
        lock(&self.broken).as_ref().is_some_and(|broken| broken.folder == folder)
    }

    /// Return the reason why searches skip the disk index; none if they do not.
    pub(crate) fn unavailable(&self) -> Option<String> {
        lock(&self.broken).as_ref().map(|broken| broken.fault.clone())
    }

    /// Return the progress of the disk index.
    pub(crate) fn status(self: &Arc<Self>) -> IndexStatus {
        let view = self.view();
        let log_bytes = self.log().ok().flatten().and_then(|log| log.metadata().ok()).map_or(0, |found| found.len());
        let state = match &view {
            _ if self.is_filling.load(Ordering::SeqCst) => State::Indexing,
            None if self.unavailable().is_some() => State::Unavailable,
            Some(view) if view.end() > 0 || log_bytes == 0 => State::Ready,
            _ => State::Absent,
        };
        let known = IndexStatus {
            state,
            log_bytes,
            disk_bytes: self.path().map_or(0, |home| generation::bytes(&home)),
            fault: lock(&self.fault).clone(),
            ..IndexStatus::default()
        };
        view.map_or(known.clone(), |view| view.status(known))
    }

    /// Note a fault. The disk index is derived: on any damage the next process that fills it starts over.
    pub(crate) fn note(&self, fault: String) {
        *lock(&self.fault) = Some(fault);
    }

    fn log(&self) -> Result<Option<File>> {
        self.directory.log()
    }

    /// Return the folder of the disk index, which need not exist; none if it is reached through a link.
    fn path(&self) -> Option<PathBuf> {
        let home = self.directory.derived().ok()?.join(HOME);
        (!home.is_symlink()).then_some(home)
    }

    fn current(&self) -> Option<PathBuf> {
        generation::current(&self.path()?)
    }

    /// Return the folder of the disk index, created if it is missing.
    fn home(&self) -> Result<PathBuf> {
        let home = self.directory.index()?.join(HOME);
        if home.is_symlink() {
            return Err(Error::Refused {
                path: home,
                why: "it is a symbolic link; replace it by a directory, or delete it",
            });
        }
        generation::private_folder(&home).map_err(Error::io(&home))?;
        Ok(home)
    }
}

/// Lock; what is locked here is whole after every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
