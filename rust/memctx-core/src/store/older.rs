//! What left memory, and how long a search waits for it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::inner::{Inner, now};
use super::search::{Found, OwnedRequest, Request};
use super::seeker::{Search, Seeker};
use super::settings::Settings;
use crate::Result;
use crate::cold::{ColdStatus, ColdTier, Told, View, tier_of};
use crate::store::{Directory, Model};

/// Searches of everything that may go on at a time; who comes while they do is answered from memory.
const AT_ONCE: usize = 2;
/// How long an answer that came too late is good for the same question.
const LATE: Duration = Duration::from_secs(60);

/// What the threads are called that search everything.
const NAME: &str = "memctx-older";

/// How long a search waits for what left memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// So long, counted from its beginning. Not at all, and it is looked for afterwards, for the next who asks the same.
    For(Duration),
    /// Until everything is indexed and searched.
    Forever,
}

/// The way to what left memory.
#[derive(Debug)]
pub(super) struct Older {
    tier: Arc<ColdTier>,
    is_left: AtomicBool,
    searching: AtomicUsize,
    seeker: Seeker,
    late: Mutex<Option<Late>>,
}

/// An answer that came when nobody waited for it any more.
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
        let tier = tier_of(directory, model);
        tier.enter();
        Self {
            tier,
            is_left: AtomicBool::new(false),
            searching: AtomicUsize::new(0),
            seeker: Seeker::default(),
            late: Mutex::default(),
        }
    }

    /// What the cold tier holds by now.
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
        let is_foreign = !cross_session && request.session.is_some_and(|wanted| wanted != session);
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
            return match self.complete_view(older) {
                Some(view) => self.search_both(request, &view),
                None => self.search(request),
            };
        };
        let start = Instant::now();
        if deadline.is_zero() {
            let found = self.search(request)?;
            return Ok(older.with_late(request, found).unwrap_or_else(|found| {
                // Nobody waits, so it may take its time: it is for the next one who asks the same.
                older.seeker.ask(NAME, self.search_of_everything(request, None).0);
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

    /// What the cold tier holds once it has everything that memory lacks; none if it cannot be had.
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

    /// A search of everything, and where it answers. If nobody listens there, the answer is kept.
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
                    older.tier.note(fault.to_string());
                    None
                }
            });
            // Whoever hears the answer may ask the next thing at once.
            drop(turn);
            if let Some(Err(unheard)) = found.map(|found| answer.send(found)) {
                *older.late() = Some(Late { request, found: unheard.0, asked, came: Instant::now() });
            }
        };
        (Box::new(search), receiver)
    }

    /// Whether something that may be searched is only on disk.
    fn has_older(&self) -> bool {
        self.index().evicted > 0
    }

    /// Let the cold tier be filled before memory forgets what it lacks.
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

    /// Take everything into the cold tier now.
    pub(super) fn catch_up_older(&self, anew: bool, told: Told<'_>) -> Result<Option<ColdStatus>> {
        let Some(older) = &self.older else { return Ok(None) };
        older.tier.complete(anew, told)?;
        Ok(Some(older.tier.status()))
    }

    /// How far the cold tier is; none if it is switched off.
    pub(super) fn older_status(&self) -> Option<ColdStatus> {
        self.older.as_ref().map(|older| older.tier.status())
    }

    /// Let the cold tier have vectors that have come.
    pub(super) fn renew_older(&self) {
        if let Some(older) = &self.older {
            older.tier.renew();
        }
    }

    /// Be done with the cold tier, which is filled on only if another store of this process needs it.
    pub(super) fn close_older(&self) {
        if let Some(older) = &self.older {
            older.leave();
        }
    }
}

impl Older {
    /// What was found in memory, with what was found too late when the same was asked before; itself if nothing was.
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
