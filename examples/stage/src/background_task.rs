//! Work that may take long, in a thread of its own: whoever waits for it goes on drawing, and may leave at any time.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The work, and the answer on its way. Dropping it leaves the work to itself.
#[derive(Debug)]
pub struct BackgroundTask<T>(Receiver<T>);

/// The work has ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unanswered;

impl<T: Send + 'static> BackgroundTask<T> {
    /// Begins the work.
    pub fn begin(work: impl FnOnce() -> T + Send + 'static) -> Self {
        let (sender, receiver) = channel();
        // Without a thread there is no sender either, and that is what whoever waits is told. An answer that nobody wants
        // any more is dropped.
        let work = move || drop(sender.send(work()));
        drop(std::thread::Builder::new().name("background".to_owned()).spawn(work));
        Self(receiver)
    }

    /// The answer, if it comes within `patience`.
    ///
    /// # Errors
    /// If there will be none: the work has panicked, or could not begin.
    pub fn wait(&self, patience: Duration) -> Result<Option<T>, Unanswered> {
        match self.0.recv_timeout(patience) {
            Ok(answer) => Ok(Some(answer)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Unanswered),
        }
    }
}
