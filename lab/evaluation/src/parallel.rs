//! Independent runs on all processors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The results of `run` for each piece of work, in the order of the work.
pub(crate) fn each<T: Sync, R: Send>(work: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(piece) = work.get(at) else { break };
                    let result = run(piece);
                    done.lock().unwrap().push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
