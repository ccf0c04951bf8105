//! Threads that have time.

use std::thread;

/// What a thread may not take from others, on the scale of `nice`.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Run something in a thread that gets the processor when nobody else wants it; false if there is no such thread to be had.
/// A panic ends that thread and nothing else.
pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> bool {
    let polite = move || {
        yield_to_others();
        work();
    };
    thread::Builder::new().name(name.to_owned()).spawn(polite).is_ok()
}

/// Let every other thread go first. Threads that this one starts are as polite.
#[cfg(target_os = "linux")]
fn yield_to_others() {
    // Where it is not allowed the work is done all the same.
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS);
}

#[cfg(not(target_os = "linux"))]
fn yield_to_others() {}
