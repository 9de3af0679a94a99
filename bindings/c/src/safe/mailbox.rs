//! A transport without a socket and without a clock: the caller puts datagrams in, takes them out, and says what time it is.

use super::codes::Status;
use super::fault::Fault;
use rebout::net::{Datagrams, Received, opaque_addr, opaque_id};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most datagrams that wait in either direction.
const MAX_WAITING: usize = 256;
/// The longest datagram that is taken. A match sends at most 1,200 bytes; longer ones show as such.
const MAX_BYTES: usize = 2_048;

/// The caller's end and the match's end of the same queues.
#[derive(Clone, Debug, Default)]
pub struct Mailbox(Arc<Mutex<Queues>>);

#[derive(Debug, Default)]
struct Queues {
    now: Duration,
    inbox: VecDeque<(u64, Vec<u8>)>,
    outbox: VecDeque<(u64, Vec<u8>)>,
}

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        // No change under the lock is left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what time it is. An earlier time than before is ignored.
    pub fn set_time(&self, now: Duration) {
        let mut queues = self.lock();
        queues.now = queues.now.max(now);
    }

    /// Puts a datagram in that has come from the peer with this id.
    ///
    /// # Errors
    /// If it is too long, or too many wait for a turn.
    pub fn deliver(&self, from: u64, datagram: &[u8]) -> Result<(), Fault> {
        if datagram.len() > MAX_BYTES {
            return Err(Fault::invalid(format_args!(
                "a datagram of {} bytes is more than {MAX_BYTES}",
                datagram.len()
            )));
        }
        let mut queues = self.lock();
        if queues.inbox.len() >= MAX_WAITING {
            return Err(Fault::new(
                Status::Full,
                format_args!("{MAX_WAITING} datagrams wait for rebout_poll"),
            ));
        }
        queues.inbox.push_back((from, datagram.to_vec()));
        Ok(())
    }

    /// The length of the next datagram to send.
    #[must_use]
    pub fn next_len(&self) -> Option<usize> {
        self.lock().outbox.front().map(|(_, datagram)| datagram.len())
    }

    /// Takes the next datagram to send, and the id of the peer that it is for.
    #[must_use]
    pub fn take(&self) -> Option<(u64, Vec<u8>)> {
        self.lock().outbox.pop_front()
    }
}

impl Datagrams for Mailbox {
    fn now(&self) -> Duration {
        self.lock().now
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        let Some((from, datagram)) = self.lock().inbox.pop_front() else { return Ok(Received::Empty) };
        let len = datagram.len().min(buf.len());
        buf[..len].copy_from_slice(&datagram[..len]);
        Ok(Received::Datagram(opaque_addr(from), len))
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        let mut queues = self.lock();
        if let (Some(to), true) = (opaque_id(to), queues.outbox.len() < MAX_WAITING) {
            queues.outbox.push_back((to, datagram.to_vec()));
        }
    }

    fn wait(&mut self, _: Duration) -> io::Result<()> {
        Err(io::Error::other("nothing waits on a clock of the caller's"))
    }
}

/// A transport of the caller's: a mailbox, or one that calls back.
#[derive(Debug)]
pub enum Link<C> {
    /// Without a socket and a clock.
    Mailbox(Mailbox),
    /// By callbacks.
    Called(C),
}

impl<C: Datagrams> Datagrams for Link<C> {
    fn now(&self) -> Duration {
        match self {
            Self::Mailbox(mailbox) => mailbox.now(),
            Self::Called(transport) => transport.now(),
        }
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        match self {
            Self::Mailbox(mailbox) => mailbox.recv(buf),
            Self::Called(transport) => transport.recv(buf),
        }
    }

    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        match self {
            Self::Mailbox(mailbox) => mailbox.send(to, datagram),
            Self::Called(transport) => transport.send(to, datagram),
        }
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        match self {
            Self::Mailbox(mailbox) => mailbox.wait(at_most),
            Self::Called(transport) => transport.wait(at_most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_mailbox_takes_no_more_and_keeps_what_it_has() {
        let mut mailbox = Mailbox::default();
        for number in 0..MAX_WAITING {
            mailbox.deliver(7, &[number as u8]).unwrap();
        }
        assert_eq!(mailbox.deliver(7, &[0]).unwrap_err().status, Status::Full);
        assert_eq!(mailbox.deliver(7, &[0; MAX_BYTES + 1]).unwrap_err().status, Status::Invalid);
        let mut buf = [9; 4];
        assert_eq!(mailbox.recv(&mut buf).unwrap(), Received::Datagram(opaque_addr(7), 1));
        assert_eq!(buf, [0, 9, 9, 9]);
        mailbox.deliver(7, &[0]).unwrap();
    }

    #[test]
    fn time_of_a_mailbox_never_runs_backwards() {
        let mailbox = Mailbox::default();
        mailbox.set_time(Duration::from_secs(2));
        mailbox.set_time(Duration::from_secs(1));
        assert_eq!(mailbox.now(), Duration::from_secs(2));
    }
}
