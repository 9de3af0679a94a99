//! A pool of threads, one for each core, with one queue. Results are in the order of the matches, however many threads
//! played them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Does `work` for every number below `count` on `jobs` threads; `progress` sees each result as it comes, and is
/// called with none every now and then.
pub(crate) fn run<T: Send>(
    jobs: usize,
    count: u32,
    work: impl Fn(u32) -> T + Sync,
    mut progress: impl FnMut(Option<&T>),
) -> Vec<T> {
    let next = AtomicU32::new(0);
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    std::thread::scope(|scope| {
        let (sender, results_in) = mpsc::channel();
        for _ in 0..jobs.clamp(1, count.max(1) as usize) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count || sender.send((index, work(index))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        loop {
            match results_in.recv_timeout(Duration::from_millis(100)) {
                Ok((index, result)) => {
                    progress(Some(&result));
                    results[index as usize] = Some(result);
                }
                Err(RecvTimeoutError::Timeout) => progress(None),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    results.into_iter().flatten().collect()
}
