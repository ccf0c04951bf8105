//! Low-priority threads.

use std::thread;

/// Run something in a thread that takes nothing from others; false if there is no such thread available. A panic ends
/// that thread and nothing else.
pub(crate) fn spawn_low_priority(name: &str, work: impl FnOnce() + Send + 'static) -> bool {
    let low_priority = move || {
        yield_to_others();
        work();
    };
    thread::Builder::new().name(name.to_owned()).spawn(low_priority).is_ok()
}

/// Let every other thread go first. Threads that this one starts inherit it.
#[cfg(target_os = "linux")]
fn yield_to_others() {
    use rustix::process::{getpid, setpriority_process};
    use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};

    /// On the scale of `nice`.
    const NICENESS: i32 = 10;

    // Where any of this is not allowed the work is done all the same.
    let _ = setpriority_process(Some(gettid()), NICENESS);
    // Even the nicest thread is given the processor for one tick of the clock now and then, and a turn would wait for
    // its end, as long as it takes itself. So there is one processor where only others run: the first of the process,
    // not of this thread, whose starter may have a low priority, too. Where it may not run already it still may not.
    if let (Ok(all), Ok(mut own)) = (sched_getaffinity(Some(getpid())), sched_getaffinity(None))
        && own.count() > 1
        && let Some(first) = (0..CpuSet::MAX_CPU).find(|&number| all.is_set(number))
    {
        own.unset(first);
        let _ = sched_setaffinity(None, &own);
    }
}

#[cfg(not(target_os = "linux"))]
fn yield_to_others() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc::channel;

    use rustix::process::getpriority_process;
    use rustix::thread::{gettid, sched_getaffinity};

    use super::*;

    #[test]
    fn low_priority_threads_leave_one_processor_free() {
        let (answer, answers) = channel();
        let own = || (sched_getaffinity(None).expect("known"), getpriority_process(Some(gettid())).expect("known"));
        let tell = answer.clone();
        let is_there = spawn_low_priority("low priority", move || {
            tell.send(own()).expect("someone waits");
            spawn_low_priority("low priority, too", move || answer.send(own()).expect("someone waits"));
        });
        assert!(is_there);
        let all = sched_getaffinity(Some(rustix::process::getpid())).expect("known");
        for (processors, niceness) in answers {
            assert_eq!(processors.count(), (all.count() - 1).max(1));
            assert!(niceness >= 10, "{niceness}");
        }
    }
}
