//! Appending to a file from a thread of its own, so that a game's thread never waits for a disk.

use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The most bytes that wait for the disk: more than a quarter of an hour of a usual match.
pub const MAX_QUEUED: usize = 64 * 1024;

/// The time between two looks at the queue. The thread wakes by itself, because waking it would be a system call of the
/// game's thread.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The longest wait for a disk at the start and at the end.
const PATIENCE: Duration = Duration::from_secs(3);

/// A file that is appended to by a thread of its own.
///
/// [`write`](Write::write) copies the bytes into a bounded queue, whole or not at all, without an allocation, a lock or a
/// system call. A longer write than the queue is taken only while nothing waits, and allocates: a first state before the
/// match. The thread looks at the queue five times a second, and appends and syncs what it finds. An error of the
/// disk, or a queue that is full because the disk is too slow, is returned by a later `write`, and everything after it is
/// refused. [`flush`](Write::flush) and [`finish`](Self::finish) wait for the disk, three seconds at most; a game calls
/// neither while a match runs.
///
/// ```
/// use rebout::net::append::FileAppender;
/// use rebout::replay::{End, Header, Outcome, Recording, StreamRecorder, Winner};
/// use rebout::{Buttons, Frame};
///
/// let path = std::env::temp_dir().join(format!("rebout-append-{}.rplk", std::process::id()));
/// let file = FileAppender::new(std::fs::File::create(&path)?)?;
/// let mut recorder = StreamRecorder::new(&Header::new(7), file)?;
/// for frame in 0..90 {
///     recorder.record(Frame(frame), [Buttons(1), Buttons(8)].into())?;
/// }
/// let file = recorder.finish(End { outcome: Outcome::Local, winner: Winner::Undecided })?;
/// file.finish()?;
/// assert_eq!(Recording::open(std::fs::read(&path)?)?.frames(), 90);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileAppender {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

/// A queue of bytes with one writer and one reader, neither of which waits for the other.
#[derive(Debug)]
struct Queue {
    ring: Box<[AtomicU8]>,
    /// A long write, which comes before everything in the ring.
    long: Mutex<Vec<u8>>,
    /// Whether it waits for the disk.
    has_long: AtomicBool,
    /// Bytes written to the disk, and bytes taken from the game, counted from the start.
    done: AtomicUsize,
    taken: AtomicUsize,
    closing: AtomicBool,
    failed: AtomicBool,
    error: Mutex<Option<io::Error>>,
}

impl FileAppender {
    /// Appends to `file` from where it is.
    ///
    /// # Errors
    /// If the system has no thread.
    pub fn new(file: File) -> io::Result<Self> {
        let queue = Arc::new(Queue::new());
        let theirs = Arc::clone(&queue);
        let buffer = vec![0; MAX_QUEUED];
        let thread =
            thread::Builder::new().name("append".to_owned()).spawn(move || theirs.serve(file, buffer))?;
        Ok(Self { queue, thread: Some(thread) })
    }

    /// Writes everything that is queued, and closes the file.
    ///
    /// # Errors
    /// The error of the disk, or [`TimedOut`](io::ErrorKind::TimedOut) if it takes too long.
    pub fn finish(mut self) -> io::Result<()> {
        self.close()
    }

    fn close(&mut self) -> io::Result<()> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        self.queue.closing.store(true, Ordering::Release);
        wait(&thread, || thread.is_finished())?;
        if self.queue.failed.load(Ordering::Acquire) { Err(self.queue.take_error()) } else { Ok(()) }
    }
}

/// Wakes the thread until it has done its work, but not for ever: a disk may hang.
fn wait(thread: &JoinHandle<()>, is_done: impl Fn() -> bool) -> io::Result<()> {
    let start = Instant::now();
    while !is_done() {
        if start.elapsed() > PATIENCE {
            return Err(io::ErrorKind::TimedOut.into());
        }
        thread.thread().unpark();
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

impl Write for FileAppender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.queue.push(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let queue = &self.queue;
        let is_done = || queue.is_empty() || queue.failed.load(Ordering::Acquire);
        if let Some(thread) = &self.thread {
            wait(thread, is_done)?;
        }
        if queue.failed.load(Ordering::Acquire) { Err(queue.take_error()) } else { Ok(()) }
    }
}

impl Drop for FileAppender {
    fn drop(&mut self) {
        // Whoever wants to know calls `finish`.
        let _ = self.close();
    }
}

impl Queue {
    fn new() -> Self {
        Self {
            ring: (0..MAX_QUEUED).map(|_| AtomicU8::new(0)).collect(),
            long: Mutex::new(Vec::new()),
            has_long: AtomicBool::new(false),
            done: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            closing: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            error: Mutex::new(None),
        }
    }

    /// The game's side: all of the bytes or none.
    fn push(&self, bytes: &[u8]) -> io::Result<()> {
        if self.failed.load(Ordering::Acquire) {
            return Err(self.take_error());
        }
        let (taken, done) = (self.taken.load(Ordering::Relaxed), self.done.load(Ordering::Acquire));
        if bytes.len() > MAX_QUEUED && self.is_empty() {
            // The thread has no lock while nothing waits.
            if let Ok(mut long) = self.long.lock() {
                *long = bytes.to_vec();
            }
            self.has_long.store(true, Ordering::Release);
            return Ok(());
        }
        if bytes.len() > MAX_QUEUED - taken.wrapping_sub(done) {
            return Err(io::Error::new(io::ErrorKind::WouldBlock, "the disk is too slow"));
        }
        for (offset, byte) in bytes.iter().enumerate() {
            self.ring[taken.wrapping_add(offset) % MAX_QUEUED].store(*byte, Ordering::Relaxed);
        }
        // Published at once, so that the thread never finds part of what was written.
        self.taken.store(taken.wrapping_add(bytes.len()), Ordering::Release);
        Ok(())
    }

    /// Whether nothing waits for the disk; for the game's side.
    fn is_empty(&self) -> bool {
        let all = self.done.load(Ordering::Acquire) == self.taken.load(Ordering::Relaxed);
        all && !self.has_long.load(Ordering::Acquire)
    }

    fn take_error(&self) -> io::Error {
        let error = self.error.lock().map_or(None, |mut error| error.take());
        error.unwrap_or_else(|| io::Error::other("the file is closed after an error"))
    }

    /// The thread's side: appends until the file is closed or the disk fails.
    fn serve(&self, mut file: File, mut buffer: Vec<u8>) {
        loop {
            // Asked before the last look, so that nothing that was queued before the close is missed.
            let closing = self.closing.load(Ordering::Acquire);
            if let Err(error) = self.append(&mut file, &mut buffer) {
                if let Ok(mut slot) = self.error.lock() {
                    *slot = Some(error);
                }
                self.failed.store(true, Ordering::Release);
                return;
            }
            if closing {
                return;
            }
            thread::park_timeout(LOOK_EVERY);
        }
    }

    fn append(&self, file: &mut File, buffer: &mut [u8]) -> io::Result<()> {
        let (taken, done) = (self.taken.load(Ordering::Acquire), self.done.load(Ordering::Relaxed));
        let len = taken.wrapping_sub(done);
        // It was taken while nothing was queued, so everything that is queued now comes after it.
        let has_long = self.has_long.load(Ordering::Acquire);
        if len == 0 && !has_long {
            return Ok(());
        }
        if has_long {
            let long = self.long.lock().map_or_else(|_| Vec::new(), |mut long| core::mem::take(&mut *long));
            file.write_all(&long)?;
        }
        for (offset, slot) in buffer[..len].iter_mut().enumerate() {
            *slot = self.ring[done.wrapping_add(offset) % MAX_QUEUED].load(Ordering::Relaxed);
        }
        file.write_all(&buffer[..len])?;
        match file.sync_data() {
            // A pipe or a device has nothing to sync.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
            synced => synced?,
        }
        self.done.store(taken, Ordering::Release);
        if has_long {
            self.has_long.store(false, Ordering::Release);
        }
        Ok(())
    }
}

const _: () = assert!(MAX_QUEUED.is_power_of_two(), "the ring has no seam where the counts wrap");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_write_is_taken_only_while_nothing_waits() {
        let path = std::env::temp_dir().join(format!("rebout-{}-long-write", std::process::id()));
        let (mut file, mut buffer) = (File::create(&path).unwrap(), vec![0; MAX_QUEUED]);
        let queue = Queue::new();
        let long = vec![7; MAX_QUEUED + 1];
        let would_block = |queue: &Queue| queue.push(&long).unwrap_err().kind();
        queue.push(b"header").unwrap();
        assert_eq!(would_block(&queue), io::ErrorKind::WouldBlock);
        queue.append(&mut file, &mut buffer).unwrap();
        queue.push(&long).unwrap();
        assert!(!queue.is_empty());
        assert_eq!(would_block(&queue), io::ErrorKind::WouldBlock, "one at a time");
        queue.push(b"chunk").unwrap();
        queue.append(&mut file, &mut buffer).unwrap();
        assert!(queue.is_empty());
        assert!(std::fs::read(&path).unwrap() == [b"header", &long[..], b"chunk"].concat());
        std::fs::remove_file(path).unwrap();
    }
}
