//! Work on all threads of a pool, in tasks that are worth waking a thread for. Nothing here allocates if the output has room.

use std::mem::MaybeUninit;

use rayon::ThreadPool;
use rayon::prelude::*;

/// The number of elements of a task: some ten microseconds of work on an instance.
const ELEMENTS_PER_TASK: usize = 1024;

/// Replaces the elements of `out` by those that `element` returns for the indices from 0 to `count`. Without a pool, this thread
/// does all the work.
pub fn collect<T: Send>(
    pool: Option<&ThreadPool>,
    count: usize,
    element: impl Fn(usize) -> T + Sync + Send,
    out: &mut Vec<T>,
) {
    match pool {
        Some(pool) if count > ELEMENTS_PER_TASK => pool.install(|| {
            (0..count).into_par_iter().with_min_len(ELEMENTS_PER_TASK).map(element).collect_into_vec(out);
        }),
        _ => {
            out.clear();
            out.extend((0..count).map(element));
        }
    }
}

/// Writes the element of each input to the same place of `out`.
pub fn write<I: Sync, T: Send>(
    pool: &ThreadPool,
    input: &[I],
    out: &mut [MaybeUninit<T>],
    element: impl Fn(&I) -> T + Sync + Send,
) {
    let write = |(input, out): (&[I], &mut [MaybeUninit<T>])| {
        input.iter().zip(out).for_each(|(input, out)| _ = out.write(element(input)));
    };
    if input.len() <= ELEMENTS_PER_TASK {
        return write((input, out));
    }
    pool.install(|| input.par_chunks(ELEMENTS_PER_TASK).zip(out.par_chunks_mut(ELEMENTS_PER_TASK)).for_each(write));
}
