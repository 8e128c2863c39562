//! The thread pool that evaluates poses.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Returns a pool for [`Crowd::evaluate`](super::Crowd::evaluate), by default with one thread per core.
///
/// The calling thread becomes one of the pool's threads, so work that it starts begins in place and allocates no queue
/// entry. A thread can belong to one pool only. If it already belongs to another pool, all threads of this pool are new.
///
/// # Errors
/// The system cannot start the threads.
pub fn thread_pool(threads: Option<usize>) -> Result<ThreadPool, ThreadPoolBuildError> {
    let builder = || ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
    builder().use_current_thread().build().or_else(|_| builder().build())
}
