//! Searches of everything that took longer than their callers waited.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::captured::Digests;
use super::inner::now;
use super::searched::Searched;
use super::warm::search::{Found, OwnedRequest, Request};
use super::warm::tier::digest;

/// Time for which a search that was late serves the same query.
const LATE: Duration = Duration::from_secs(60);
/// Searches that are kept: one by a tool must not displace that of a turn.
const MOST: usize = 4;

/// Late searches, oldest first.
#[derive(Debug, Default)]
pub(super) struct LateSearches {
    all: Mutex<VecDeque<Pending>>,
}

impl LateSearches {
    /// Take the search for the same, unless it failed or was never begun.
    pub(super) fn take(&self, request: &Request<'_>) -> Option<Pending> {
        let mut all = self.all();
        all.retain(|pending| pending.began.elapsed() < LATE);
        let at = all.iter().position(|pending| pending.serves(request))?;
        let mut found = all.remove(at)?;
        (!matches!(found.wait(Duration::ZERO), Err(RecvTimeoutError::Disconnected))).then_some(found)
    }

    /// Keep a search for later.
    pub(super) fn keep(&self, pending: Pending) {
        let mut all = self.all();
        all.push_back(pending);
        if all.len() > MOST {
            all.pop_front();
        }
    }

    /// Whole after every step.
    fn all(&self) -> MutexGuard<'_, VecDeque<Pending>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A search of everything, which may be going on.
#[derive(Debug)]
pub(super) struct Pending {
    request: OwnedRequest,
    limit: usize,
    /// Segments that it leaves out.
    except: Option<Digests>,
    /// When the question was put, in milliseconds since 1970.
    asked: f64,
    began: Instant,
    answer: Receiver<Searched>,
    came: Option<Searched>,
}

impl Pending {
    /// Note a search that begins now.
    pub(super) fn new(request: &Request<'_>, answer: Receiver<Searched>) -> Self {
        Self {
            request: OwnedRequest::new(request),
            limit: request.limit,
            except: request.except.cloned(),
            asked: now(),
            began: Instant::now(),
            answer,
            came: None,
        }
    }

    /// Return whether the answer serves a request: it is for the same, and for as many results.
    fn serves(&self, request: &Request<'_>) -> bool {
        // The neighbors of further results could not be told from those of the first.
        let is_enough = request.limit == self.limit || request.limit < self.limit && request.window == 0;
        is_enough && self.request == OwnedRequest::new(&Request { limit: self.limit, ..request.clone() })
    }

    /// Wait for the answer. A search that failed, or was never begun, is disconnected.
    pub(super) fn wait(&mut self, time: Duration) -> Result<Searched, RecvTimeoutError> {
        if let Some(came) = &self.came {
            return Ok(came.clone());
        }
        let came = self.answer.recv_timeout(time)?;
        self.came = Some(came.clone());
        Ok(came)
    }

    /// Add to a late answer the results from memory that it could not have.
    pub(super) fn join(&self, late: Searched, newest: Vec<Found>, request: &Request<'_>) -> Searched {
        let was_left_out = |it: &Found| self.except.as_ref().is_some_and(|all| all.has(digest(&it.segment.content)));
        let is_news = |it: &Found| it.segment.timestamp >= self.asked || was_left_out(it);
        let is_known = |it: &Found| late.found.iter().any(|other| other.segment.id == it.segment.id);
        let news: Vec<Found> = newest.into_iter().filter(|it| is_news(it) && !is_known(it)).collect();
        let mut found = late.found;
        found.extend(news);
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        if request.window == 0 {
            found.truncate(request.limit);
        }
        Searched { found, ..late }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    fn request(query: &str, limit: usize) -> Request<'_> {
        Request { query, limit, ..Request::default() }
    }

    /// Keep a search that goes on for as long as its sender is there.
    fn keep(late: &LateSearches, query: &str) -> Sender<Searched> {
        let (answer, receiver) = channel();
        late.keep(Pending::new(&request(query, 5), receiver));
        answer
    }

    #[test]
    fn a_late_search_serves_the_same_query_and_as_many_results() {
        let late = LateSearches::default();
        let _answer = keep(&late, "port");
        assert!(late.take(&request("host", 5)).is_none());
        assert!(late.take(&request("port", 6)).is_none());
        assert!(late.take(&Request { window: 1, ..request("port", 4) }).is_none());
        assert!(late.take(&request("port", 4)).is_some());
    }

    #[test]
    fn a_search_that_failed_is_not_waited_for() {
        let late = LateSearches::default();
        drop(keep(&late, "port"));
        assert!(late.take(&request("port", 5)).is_none());
    }

    #[test]
    fn the_oldest_late_search_makes_way() {
        let late = LateSearches::default();
        let names: Vec<String> = (0..=MOST).map(|number| number.to_string()).collect();
        let _answers: Vec<_> = names.iter().map(|name| keep(&late, name)).collect();
        let are_kept: Vec<bool> = names.iter().map(|name| late.take(&request(name, 5)).is_some()).collect();
        assert_eq!(are_kept, [false, true, true, true, true]);
    }
}
