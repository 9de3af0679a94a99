//! A transport inside a process: two ends, and nothing lost between them.

use super::datagrams::{Datagrams, Received};
use super::opaque::opaque_addr;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most datagrams that wait at one end; more are lost, as in the buffer of a socket.
const MAX_WAITING: usize = 256;

/// One end of a transport inside a process, for a match without a network: a bot at home, a tutorial, a test.
///
/// Both ends may be in one thread, or each in a thread of its own.
///
/// ```
/// use rebout::net::{Datagrams, Memory, Received};
/// use std::time::Instant;
///
/// let start = Instant::now();
/// let [mut here, mut there] = Memory::pair(move || start.elapsed());
/// here.send(there.local_addr(), b"hello");
/// let mut buf = [0; 1_200];
/// assert_eq!(there.recv(&mut buf)?, Received::Datagram(here.local_addr(), 5));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Memory<C> {
    clock: C,
    local: SocketAddr,
    remote: SocketAddr,
    inbox: Arc<Mailbox>,
    outbox: Arc<Mailbox>,
}

/// The datagrams that wait for one end.
#[derive(Debug, Default)]
struct Mailbox {
    waiting: Mutex<VecDeque<Vec<u8>>>,
    arrived: Condvar,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Vec<u8>>> {
        // A poisoned lock is usable: no change under it is ever left half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Fn() -> Duration + Clone> Memory<C> {
    /// Two ends that reach each other, and the clock of both.
    #[must_use]
    pub fn pair(clock: C) -> [Self; 2] {
        let [one, two] = [Arc::<Mailbox>::default(), Arc::default()];
        let [near, far] = [opaque_addr(1), opaque_addr(2)];
        let here =
            Self { clock: clock.clone(), local: near, remote: far, inbox: one.clone(), outbox: two.clone() };
        [here, Self { clock, local: far, remote: near, inbox: two, outbox: one }]
    }
}

impl<C> Memory<C> {
    /// The address of this end.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }
}

impl<C: Fn() -> Duration> Datagrams for Memory<C> {
    fn now(&self) -> Duration {
        (self.clock)()
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        let Some(datagram) = self.inbox.lock().pop_front() else { return Ok(Received::Empty) };
        let len = datagram.len().min(buf.len());
        buf[..len].copy_from_slice(&datagram[..len]);
        Ok(Received::Datagram(self.remote, len))
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        let mut waiting = self.outbox.lock();
        if to == self.remote && waiting.len() < MAX_WAITING {
            waiting.push_back(datagram.to_vec());
            self.outbox.arrived.notify_one();
        }
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        let waiting = self.inbox.lock();
        // A spurious end of the sleep is an early return, which the driver expects.
        if waiting.is_empty() {
            drop(self.inbox.arrived.wait_timeout(waiting, at_most));
        }
        Ok(())
    }
}
