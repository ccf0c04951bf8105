//! Search over segments evicted from memory, and how long it is waited for.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::background_searcher::BackgroundSearcher;
use super::inner::Inner;
use super::late::{LateSearches, Pending};
use super::searched::{Searched, Unsearched};
use super::settings::Settings;
use super::warm::search::{OwnedRequest, Request};
use crate::disk_index::{DiskIndex, IndexStatus, Progress, View, shared_index};
use crate::store::{Directory, Model};
use crate::{Error, Result};

/// Searches of everything that may go on at a time; a further one is done afterwards, in the background.
const AT_ONCE: usize = 2;

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
    late: LateSearches,
}

/// One of the searches that go on, until it goes, however that comes about.
struct Turn(Arc<Inner>);

impl Turn {
    /// Take a turn; none if too many search.
    fn take(inner: &Arc<Inner>, older: &Older) -> Option<Self> {
        let turn = Self(Arc::clone(inner));
        (older.searching.fetch_add(1, Ordering::SeqCst) < AT_ONCE).then_some(turn)
    }
}

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
            late: LateSearches::default(),
        }
    }

    /// Return the current view of the disk index.
    pub(super) fn view(&self) -> Option<Arc<View>> {
        self.tier.view()
    }

    /// Stop using a view whose files are damaged, and have them made again.
    pub(super) fn fail(&self, view: &View, fault: &Error) {
        self.tier.fail(view, fault);
    }

    fn leave(&self) {
        if !self.is_left.swap(true, Ordering::SeqCst) {
            self.tier.leave();
        }
    }
}

impl Drop for Older {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Inner {
    /// The best segments, best first: those in memory, and those that left it as far as they are waited for.
    pub(super) fn search_tiers(self: &Arc<Self>, request: &Request<'_>, wait: Wait) -> Result<Searched> {
        self.wait();
        if wait == Wait::Forever || self.has_pending.load(Ordering::SeqCst) {
            // What was acknowledged is found, and may have sent something else away.
            self.catch_up(&mut self.gate().tail)?;
        }
        self.wake_older();
        let unembedded = if request.embedding.is_zero() { 0 } else { self.embed_for(request)? };
        Ok(Searched { unembedded, ..self.search_both_tiers(request, wait)? })
    }

    fn search_both_tiers(self: &Arc<Self>, request: &Request<'_>, wait: Wait) -> Result<Searched> {
        let Settings { cross_session, session, .. } = &self.settings;
        let is_foreign = !cross_session && request.filter.session.as_ref().is_some_and(|wanted| wanted != session);
        let older = self.older.as_ref().filter(|_| !is_foreign && request.limit > 0);
        let Some(older) = older else { return self.search(request).map(Searched::whole) };
        if !self.has_older() {
            let found = self.search(request)?;
            // Others may have written meanwhile, and sent away what was here a moment ago.
            if !self.has_older() {
                return Ok(Searched::whole(found));
            }
        }
        let Wait::For(deadline) = wait else {
            return self.search_all(older, request);
        };
        let start = Instant::now();
        let late = older.late.take(request);
        let is_repeated = late.is_some();
        let begin = || self.begin_search(older, request, deadline);
        let (mut pending, newest) = if deadline.is_zero() {
            // No caller waits for it: it must not slow down the search in memory.
            let newest = self.search(request)?;
            (late.unwrap_or_else(begin), newest)
        } else {
            (late.unwrap_or_else(begin), self.search(request)?)
        };
        match pending.wait(deadline.saturating_sub(start.elapsed())) {
            Ok(answer) if is_repeated => {
                let joined = pending.join(answer, newest, request);
                older.late.keep(pending);
                Ok(joined)
            }
            Ok(answer) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => {
                older.late.keep(pending);
                Ok(Searched::without(Unsearched::Late, newest))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(Searched::without(Unsearched::Unavailable, newest)),
        }
    }

    /// Search everything, however long it takes. A disk index that turns out to be damaged is rebuilt, once.
    fn search_all(&self, older: &Older, request: &Request<'_>) -> Result<Searched> {
        for _ in 0..2 {
            let Some(view) = self.complete_view(older) else { break };
            match self.search_view(request, &view) {
                Err(fault) if fault.is_damage() => older.tier.fail(&view, &fault),
                done => return done,
            }
        }
        self.search(request).map(|found| Searched::without(Unsearched::Unavailable, found))
    }

    /// Search memory and a view of the disk index.
    fn search_view(&self, request: &Request<'_>, view: &View) -> Result<Searched> {
        let is_whole = self.is_complete(view);
        let found = self.search_both(request, view)?;
        Ok(if is_whole { Searched::whole(found) } else { Searched::without(Unsearched::Unindexed, found) })
    }

    /// Return whether a view has everything that memory lacks.
    fn is_complete(&self, view: &View) -> bool {
        self.index().oldest_line() <= view.end()
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
            if view.as_ref().is_some_and(|view| self.is_complete(view)) {
                break;
            }
        }
        view
    }

    /// Let another thread search everything: at once if it is waited for and not too many do, else when it has time.
    fn begin_search(self: &Arc<Self>, older: &Older, request: &Request<'_>, deadline: Duration) -> Pending {
        let (answer, receiver) = channel();
        let (inner, owned, except) = (Arc::clone(self), OwnedRequest::new(request), request.except.cloned());
        let pending = Pending::new(request, receiver);
        let turn = if deadline.is_zero() { None } else { Turn::take(self, older) };
        let is_at_once = turn.is_some();
        let search = move || {
            let Some(older) = &inner.older else { return };
            let Some(view) = older.tier.view() else { return };
            let searched = inner.search_view(&Request { except: except.as_ref(), ..owned.request() }, &view);
            // The receiver of the result may send the next query at once.
            drop(turn);
            match searched {
                // One that no one will ask for again has no receiver.
                Ok(searched) => drop(answer.send(searched)),
                Err(fault) => older.tier.fail(&view, &fault),
            }
        };
        if is_at_once {
            // Without a thread the search is over, which the receiver finds out.
            drop(thread::Builder::new().name(NAME.to_owned()).spawn(search));
        } else {
            older.searcher.ask(NAME, Box::new(search));
        }
        pending
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
