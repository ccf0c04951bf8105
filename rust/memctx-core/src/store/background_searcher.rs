//! Background searcher for the disk index.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::disk_index::spawn_low_priority;

/// The time an idle thread stays: a thread that has just begun has no low priority yet, and would run
/// before the turn that it was begun for.
const LINGER: Duration = Duration::from_secs(120);

pub(super) type Search = Box<dyn FnOnce() + Send>;

/// Does one search after the other. One that was not begun when the next comes is forgotten.
#[derive(Debug, Default)]
pub(super) struct BackgroundSearcher {
    mailbox: Arc<Mailbox>,
}

#[derive(Debug, Default)]
struct Mailbox {
    order: Mutex<Order>,
    changed: Condvar,
}

#[derive(Default)]
struct Order {
    search: Option<Search>,
    is_served: bool,
    is_over: bool,
}

impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Order").field("is_served", &self.is_served).finish_non_exhaustive()
    }
}

impl BackgroundSearcher {
    /// Have this done next, unless there is no thread to be had.
    pub(super) fn ask(&self, name: &str, search: Search) {
        let mut order = self.mailbox.order();
        if !order.is_served {
            let mailbox = Arc::clone(&self.mailbox);
            order.is_served = spawn_low_priority(name, move || mailbox.serve());
        }
        // A task that is never taken would keep alive what it searches.
        order.search = order.is_served.then_some(search);
        self.mailbox.changed.notify_one();
    }
}

impl Drop for BackgroundSearcher {
    fn drop(&mut self) {
        self.mailbox.order().is_over = true;
        self.mailbox.changed.notify_one();
    }
}

impl Mailbox {
    fn serve(&self) {
        while let Some(search) = self.next() {
            // The next caller must find the thread still there.
            let _ = catch_unwind(AssertUnwindSafe(search));
        }
    }

    /// Return the next task; `None`, and the thread ends, if there was none for long.
    fn next(&self) -> Option<Search> {
        let is_idle = |order: &mut Order| order.search.is_none() && !order.is_over;
        let waited = self.changed.wait_timeout_while(self.order(), LINGER, is_idle);
        let mut order = waited.unwrap_or_else(PoisonError::into_inner).0;
        let search = order.search.take().filter(|_| !order.is_over);
        order.is_served = search.is_some();
        search
    }

    /// Whole after every step.
    fn order(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    const NAME: &str = "searcher";
    const HEARD: &str = "someone waits";
    const SEARCHED: &str = "a search that was begun";

    #[test]
    fn searches_run_in_order_in_one_thread() {
        let (answer, answers) = channel();
        let searcher = BackgroundSearcher::default();
        let ask = |is_fatal: bool| {
            let answer = answer.clone();
            searcher.ask(
                NAME,
                Box::new(move || {
                    answer.send(std::thread::current().id()).expect(HEARD);
                    assert!(!is_fatal, "as wanted");
                }),
            );
            answers.recv().expect(SEARCHED)
        };
        let first = ask(true);
        assert_eq!((ask(false), ask(false)), (first, first));
    }

    #[test]
    fn a_new_search_replaces_one_not_started() {
        let (answer, answers) = channel();
        let (begin, at_work) = channel::<()>();
        let (go, gone) = channel::<()>();
        let searcher = BackgroundSearcher::default();
        searcher.ask(
            NAME,
            Box::new(move || {
                begin.send(()).expect(HEARD);
                let _ = gone.recv();
            }),
        );
        at_work.recv().expect(SEARCHED);
        for number in 0..3 {
            let answer = answer.clone();
            searcher.ask(NAME, Box::new(move || answer.send(number).expect(HEARD)));
        }
        drop((go, answer));
        assert_eq!(answers.iter().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn the_thread_ends_with_its_searcher() {
        let searcher = BackgroundSearcher::default();
        let (answer, answers) = channel();
        searcher.ask(NAME, Box::new(move || answer.send(()).expect(HEARD)));
        answers.recv().expect(SEARCHED);
        let mailbox = Arc::downgrade(&searcher.mailbox);
        drop(searcher);
        while mailbox.upgrade().is_some() {
            std::thread::yield_now();
        }
    }
}
