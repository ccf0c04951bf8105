//! Search over segments evicted from memory, and how long it is waited for.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::background_searcher::{BackgroundSearcher, Search};
use super::inner::{Inner, now};
use super::settings::Settings;
use super::warm::search::{Found, OwnedRequest, Request};
use crate::Result;
use crate::disk_index::{DiskIndex, IndexStatus, Progress, View, shared_index};
use crate::store::{Directory, Model};

/// Searches of everything that may go on at a time; who comes while they do is answered from memory.
const AT_ONCE: usize = 2;
/// Time for which a late result is used for the same query.
const LATE: Duration = Duration::from_secs(60);

/// The name of the threads that search everything.
const NAME: &str = "memctx-older";

/// The time a search waits for evicted segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// This long, counted from its beginning. With zero, it is searched afterwards, for the next equal query.
    For(Duration),
    /// Until everything is indexed and searched.
    Forever,
}

/// The way to what left memory.
#[derive(Debug)]
pub(super) struct Older {
    tier: Arc<DiskIndex>,
    is_left: AtomicBool,
    searching: AtomicUsize,
    searcher: BackgroundSearcher,
    late: Mutex<Option<Late>>,
}

/// A result that came too late for its query.
#[derive(Debug)]
struct Late {
    request: OwnedRequest,
    found: Vec<Found>,
    /// When the question was put, in milliseconds since 1970.
    asked: f64,
    came: Instant,
}

/// One of the searches that go on, until it goes, however that comes about.
struct Turn(Arc<Inner>);

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(older) = &self.0.older {
            older.searching.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Older {
    pub(super) fn new(directory: &Directory, model: &Model) -> Self {
        let tier = shared_index(directory, model);
        tier.enter();
        Self {
            tier,
            is_left: AtomicBool::new(false),
            searching: AtomicUsize::new(0),
            searcher: BackgroundSearcher::default(),
            late: Mutex::default(),
        }
    }

    /// Return the current view of the disk index.
    pub(super) fn view(&self) -> Option<Arc<View>> {
        self.tier.view()
    }

    fn leave(&self) {
        if !self.is_left.swap(true, Ordering::SeqCst) {
            self.tier.leave();
        }
    }

    fn late(&self) -> MutexGuard<'_, Option<Late>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Older {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Inner {
    /// The best segments, best first: those in memory, and those that left it as far as they are waited for.
    pub(super) fn search_tiers(self: &Arc<Self>, request: &Request<'_>, wait: Wait) -> Result<Vec<Found>> {
        self.wait();
        if wait == Wait::Forever || self.has_pending.load(Ordering::SeqCst) {
            // What was acknowledged is found, and may have sent something else away.
            self.catch_up(&mut self.gate().tail)?;
        }
        self.wake_older();
        let Settings { cross_session, session, .. } = &self.settings;
        let is_foreign = !cross_session && request.filter.session.as_ref().is_some_and(|wanted| wanted != session);
        let older = self.older.as_ref().filter(|_| !is_foreign && request.limit > 0);
        let Some(older) = older else { return self.search(request) };
        if !self.has_older() {
            let found = self.search(request)?;
            // Others may have written meanwhile, and sent away what was here a moment ago.
            if !self.has_older() {
                return Ok(found);
            }
        }
        let Wait::For(deadline) = wait else {
            return self.search_all(older, request);
        };
        let start = Instant::now();
        if deadline.is_zero() {
            let found = self.search(request)?;
            return Ok(older.with_late(request, found).unwrap_or_else(|found| {
                // No caller waits, so it may take its time: it serves the next query for the same.
                older.searcher.ask(NAME, self.search_of_everything(request, None).0);
                found
            }));
        }
        let answer = self.ask_older(older, request);
        let found = self.search(request)?;
        let rest = deadline.saturating_sub(start.elapsed());
        match answer.and_then(|answer| answer.recv_timeout(rest).ok()) {
            Some(joined) => Ok(joined),
            None => Ok(older.with_late(request, found).unwrap_or_else(|found| found)),
        }
    }

    /// Search everything, however long it takes. A disk index that turns out to be damaged is rebuilt, once.
    fn search_all(&self, older: &Older, request: &Request<'_>) -> Result<Vec<Found>> {
        for _ in 0..2 {
            let Some(view) = self.complete_view(older) else { break };
            match self.search_both(request, &view) {
                Err(fault) if fault.is_damage() => older.tier.fail(&view, &fault),
                done => return done,
            }
        }
        self.search(request)
    }

    /// Return the view of the disk index once it has everything that memory lacks; `None` if it is unavailable.
    fn complete_view(&self, older: &Older) -> Option<Arc<View>> {
        const ATTEMPTS: usize = 8;
        let mut view = None;
        for _ in 0..ATTEMPTS {
            if let Err(fault) = older.tier.catch_up(false, &mut |_, _| ControlFlow::Continue(())) {
                older.tier.note(fault.to_string());
            }
            view = older.tier.view();
            // While it was filled, more may have come and gone.
            if view.as_ref().is_some_and(|view| self.index().oldest_line() <= view.end()) {
                break;
            }
        }
        view
    }

    /// Let another thread search everything; none if too many do.
    fn ask_older(self: &Arc<Self>, older: &Older, request: &Request<'_>) -> Option<Receiver<Vec<Found>>> {
        let is_free = older.searching.fetch_add(1, Ordering::SeqCst) < AT_ONCE;
        let (search, answer) = self.search_of_everything(request, Some(Turn(Arc::clone(self))));
        (is_free && thread::Builder::new().name(NAME.to_owned()).spawn(search).is_ok()).then_some(answer)
    }

    /// A search of everything, and where it answers. If no caller listens there, the result is kept.
    fn search_of_everything(
        self: &Arc<Self>,
        request: &Request<'_>,
        turn: Option<Turn>,
    ) -> (Search, Receiver<Vec<Found>>) {
        let (answer, receiver) = channel();
        let (inner, request, asked) = (Arc::clone(self), OwnedRequest::new(request), now());
        let search = move || {
            let Some(older) = &inner.older else { return };
            let found = older.tier.view().and_then(|view| match inner.search_both(&request.request(), &view) {
                Ok(found) => Some(found),
                Err(fault) => {
                    older.tier.fail(&view, &fault);
                    None
                }
            });
            // The receiver of the result may send the next query at once.
            drop(turn);
            if let Some(Err(unheard)) = found.map(|found| answer.send(found)) {
                *older.late() = Some(Late { request, found: unheard.0, asked, came: Instant::now() });
            }
        };
        (Box::new(search), receiver)
    }

    /// Return whether something that may be searched is only on disk.
    fn has_older(&self) -> bool {
        self.index().evicted > 0
    }

    /// Let the disk index be filled before memory evicts what it lacks.
    pub(super) fn wake_older(&self) {
        let Some(older) = &self.older else { return };
        let index = self.index();
        let is_filling_up = index.evicted > 0 || index.len() * 2 >= self.settings.max_segments;
        if !is_filling_up || self.health().is_read_only {
            return;
        }
        let (oldest, end) = (index.oldest_line(), index.cursor.offset);
        drop(index);
        let half = oldest + (end - oldest) / 2;
        // What is in memory can wait for its vectors.
        let embedded = self.embedded.load(Ordering::Relaxed).max(oldest);
        let horizon = if self.model().is_instant() { u64::MAX } else { embedded };
        if older.tier.indexed() < half.min(horizon) {
            older.tier.wake(horizon);
        }
    }

    /// Index everything on disk now.
    pub(super) fn catch_up_older(&self, rebuild: bool, progress: Progress<'_>) -> Result<Option<IndexStatus>> {
        let Some(older) = &self.older else { return Ok(None) };
        older.tier.complete(rebuild, progress)?;
        Ok(Some(older.tier.status()))
    }

    /// Return the progress of the disk index; `None` if it is switched off.
    pub(super) fn older_status(&self) -> Option<IndexStatus> {
        self.older.as_ref().map(|older| older.tier.status())
    }

    /// The reason why the disk index is not searched, though it should be.
    pub(super) fn older_unavailable(&self) -> Option<String> {
        self.older.as_ref()?.tier.unavailable()
    }

    /// Pass new vectors to the disk index.
    pub(super) fn renew_older(&self) {
        if let Some(older) = &self.older {
            older.tier.renew();
        }
    }

    /// Release the disk index, which is filled on only if another store of this process needs it.
    pub(super) fn close_older(&self) {
        if let Some(older) = &self.older {
            older.leave();
        }
    }
}

impl Older {
    /// Return results from memory merged with late results of the same query.
    fn with_late(&self, request: &Request<'_>, found: Vec<Found>) -> std::result::Result<Vec<Found>, Vec<Found>> {
        let late = self.late();
        let Some(late) =
            late.as_ref().filter(|it| it.came.elapsed() < LATE && it.request == OwnedRequest::new(request))
        else {
            return Err(found);
        };
        let is_news = |it: &Found| {
            it.segment.timestamp >= late.asked && late.found.iter().all(|other| other.segment.id != it.segment.id)
        };
        let mut both = late.found.clone();
        both.extend(found.into_iter().filter(is_news));
        both.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(both)
    }
}
