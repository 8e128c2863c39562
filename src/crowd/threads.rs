//! The threads that animate, and how they come to be awake when there is something to animate.
//!
//! Between two frames these threads sleep. The system takes up to a tenth of a millisecond to wake one, and in that time
//! one thread alone has the poses of a thousand characters ready: a second one, woken when the work is there, comes too
//! late. So a frame can be run beside *companions* ([`with_threads_awake`]). A companion is a job for another thread: it
//! waits for the same event as the frame (the GPU being done with a slot), which costs no processor time, and is then
//! awake and stays so, for a while, until the frame says that work begins ([`Work::begins`]). Its thread goes on to look
//! for jobs, as rayon's threads do before they sleep, and finds what [`Crowd::evaluate`](super::Crowd::evaluate) shares
//! out. Two threads then take half as long as one for 1,000 characters, where without they take as long
//! (`cargo bench --bench crowd`, where a pause stands in for the GPU).
//!
//! The threads need cores of their own: where a software driver draws the frame before on the same ones, a frame could not
//! end before each companion has been given one again. There the application has no two frames in flight.
//! Even so, within frames on lavapipe and two cores, a second thread gained 1.5 times at 1,000 foxes and nothing at 10,000;
//! why is not known yet.
//!
//! Invariants: a companion ends when work begins, when the frame is over, however it ends, or when its patience is;
//! nothing is allocated; the frame itself stays on the thread that called.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// A pool for [`Crowd::evaluate`](super::Crowd::evaluate); by default as many threads as the machine has.
///
/// The calling thread becomes one of the pool's, so that work started from it begins in place and allocates no queue
/// entry. A thread can belong to one pool only, for good: where it already belongs to another, all threads are new.
///
/// # Errors
/// Where the threads cannot be started.
pub fn thread_pool(threads: Option<usize>) -> Result<ThreadPool, ThreadPoolBuildError> {
    let builder = || ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
    builder().use_current_thread().build().or_else(|_| builder().build())
}

/// How long a companion stays awake for work. Work comes within microseconds of the event, unless the frame is held up
/// by something else: then the core is of better use to whatever that is.
const PATIENCE: Duration = Duration::from_micros(500);

/// Work that a frame is going to share out among a pool's threads.
#[derive(Debug, Default)]
pub struct Work {
    begun: AtomicBool,
}

impl Work {
    /// Lets the other threads look for jobs: right before there are some.
    pub fn begins(&self) {
        self.begun.store(true, Ordering::Release);
    }

    fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    /// What keeps one thread awake: until `event` it sleeps, from then on it does not.
    fn await_beside(&self, event: &(impl Fn() + Sync)) {
        if !self.has_begun() {
            event();
        }
        let awake_since = Instant::now();
        while !self.has_begun() && awake_since.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
    }

    /// As many companions as there are threads to wake: each half of them may be taken by another thread.
    fn accompany(&self, threads: usize, event: &(impl Fn() + Sync)) {
        if threads <= 1 {
            self.await_beside(event);
        } else {
            let half = threads / 2;
            rayon::join(|| self.accompany(half, event), || self.accompany(threads - half, event));
        }
    }
}

/// Ends companions even where a frame returns early or panics.
struct BegunAtTheEnd<'a>(&'a Work);

impl Drop for BegunAtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.begins();
    }
}

/// Runs `frame` on this thread while the pool's other threads wait for `event`, as the frame does, to be awake when it
/// calls [`Work::begins`]. `event` must return once what the frame waits for has happened.
///
/// At most `companions` threads are woken; none where this thread does not belong to the pool, or is alone in it: there
/// the frame just runs.
pub fn with_threads_awake<R: Send>(
    pool: &ThreadPool,
    companions: usize,
    event: impl Fn() + Sync,
    frame: impl FnOnce(&Work) -> R + Send,
) -> R {
    let work = Work::default();
    let companions = companions.min(pool.current_num_threads() - 1);
    if companions == 0 || pool.current_thread_index().is_none() {
        return frame(&work);
    }
    let frame = || {
        let _end = BegunAtTheEnd(&work);
        frame(&work)
    };
    rayon::join(frame, || work.accompany(companions, &event)).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicUsize;

    /// On a thread of its own, because a thread can be taken into one pool only.
    fn in_pool(threads: usize, test: impl FnOnce(&ThreadPool) + Send) {
        std::thread::scope(|scope| {
            let test = || test(&thread_pool(Some(threads)).unwrap());
            scope.spawn(test).join().unwrap();
        });
    }

    fn wait_until(condition: impl Fn() -> bool) {
        let started = Instant::now();
        while !condition() {
            assert!(started.elapsed() < Duration::from_secs(60), "nothing happens");
            std::thread::yield_now();
        }
    }

    #[test]
    fn there_is_a_companion_for_each_other_thread() {
        for threads in [2, 3, 8] {
            in_pool(threads, |pool| {
                let awake = AtomicUsize::new(0);
                let event = || {
                    awake.fetch_add(1, Ordering::SeqCst);
                };
                let caller = std::thread::current().id();
                let answer = with_threads_awake(pool, usize::MAX, event, |work| {
                    assert_eq!(std::thread::current().id(), caller);
                    wait_until(|| awake.load(Ordering::SeqCst) == threads - 1);
                    work.begins();
                    // All threads are free for what is shared out now.
                    pool.broadcast(|_| ()).len()
                });
                assert_eq!((answer, awake.load(Ordering::SeqCst)), (threads, threads - 1));
            });
        }
    }

    #[test]
    fn a_frame_that_ends_early_ends_its_companions() {
        in_pool(3, |pool| {
            assert_eq!(with_threads_awake(pool, usize::MAX, || (), |_| Err::<(), _>("lost")), Err("lost"));
            let frame = AssertUnwindSafe(|| with_threads_awake(pool, usize::MAX, || (), |_| panic!("a frame")));
            assert!(catch_unwind(frame).is_err());
            assert_eq!(with_threads_awake(pool, usize::MAX, || (), |_| 7), 7);
        });
    }

    #[test]
    fn whoever_is_alone_wakes_nobody() {
        let no_event = || panic!("nobody to wait");
        in_pool(2, |pool| assert_eq!(with_threads_awake(pool, 0, no_event, |_| 0), 0));
        in_pool(1, |pool| assert_eq!(with_threads_awake(pool, usize::MAX, no_event, |_| 1), 1));
        // A pool that this thread does not belong to.
        let elsewhere = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        assert_eq!(with_threads_awake(&elsewhere, usize::MAX, no_event, |_| 2), 2);
    }
}
