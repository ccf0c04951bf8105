//! A thread that searches when nobody waits for the answer.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::cold::spawn_politely;

/// How long the thread stays when there is nothing to do: a thread that has just begun is not polite yet, and would run
/// before the turn that it was begun for.
const LINGER: Duration = Duration::from_secs(120);

pub(super) type Search = Box<dyn FnOnce() + Send>;

/// Does one search after the other. One that was not begun when the next comes is forgotten.
#[derive(Debug, Default)]
pub(super) struct Seeker {
    desk: Arc<Desk>,
}

#[derive(Debug, Default)]
struct Desk {
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

impl Seeker {
    /// Have this done next, unless there is no thread to be had.
    pub(super) fn ask(&self, name: &str, search: Search) {
        let mut order = self.desk.order();
        if !order.is_served {
            let desk = Arc::clone(&self.desk);
            order.is_served = spawn_politely(name, move || desk.serve());
        }
        // What nobody takes would keep alive what it searches, and so its own place here.
        order.search = order.is_served.then_some(search);
        self.desk.changed.notify_one();
    }
}

impl Drop for Seeker {
    fn drop(&mut self) {
        self.desk.order().is_over = true;
        self.desk.changed.notify_one();
    }
}

impl Desk {
    fn serve(&self) {
        while let Some(search) = self.next() {
            // Whoever comes next must find the thread still there.
            let _ = catch_unwind(AssertUnwindSafe(search));
        }
    }

    /// What to do next; none, and nobody serves any more, if nothing came for long.
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

    const NAME: &str = "seeker";
    const HEARD: &str = "someone waits";
    const SEARCHED: &str = "a search that was begun";

    #[test]
    fn searches_one_after_the_other_in_one_thread_whatever_becomes_of_them() {
        let (answer, answers) = channel();
        let seeker = Seeker::default();
        let ask = |is_fatal: bool| {
            let answer = answer.clone();
            seeker.ask(
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
    fn forgets_what_was_not_begun_when_the_next_came() {
        let (answer, answers) = channel();
        let (begin, at_work) = channel::<()>();
        let (go, gone) = channel::<()>();
        let seeker = Seeker::default();
        seeker.ask(
            NAME,
            Box::new(move || {
                begin.send(()).expect(HEARD);
                let _ = gone.recv();
            }),
        );
        at_work.recv().expect(SEARCHED);
        for number in 0..3 {
            let answer = answer.clone();
            seeker.ask(NAME, Box::new(move || answer.send(number).expect(HEARD)));
        }
        drop((go, answer));
        assert_eq!(answers.iter().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn goes_with_its_owner() {
        let seeker = Seeker::default();
        let (answer, answers) = channel();
        seeker.ask(NAME, Box::new(move || answer.send(()).expect(HEARD)));
        answers.recv().expect(SEARCHED);
        let desk = Arc::downgrade(&seeker.desk);
        drop(seeker);
        while desk.upgrade().is_some() {
            std::thread::yield_now();
        }
    }
}
