//! The driver on a transport that the test controls: how often it reads the clock, and how long it waits.

use rebout::Protocol;
use rebout::net::{Datagrams, Driver, Received};
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn peer() -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 7000))
}

/// A transport whose clock moves by waiting, and which counts the looks at it.
#[derive(Default)]
struct Counted {
    reads: Cell<u32>,
    time: Duration,
    inbox: VecDeque<Vec<u8>>,
    /// Arrives during the wait with this number.
    late: Option<(usize, Vec<u8>)>,
    waits: Vec<Duration>,
    sent: u32,
    broken: bool,
    /// Whether it says that it has no datagram until it was waited for.
    is_shy: bool,
}

impl Counted {
    fn with(datagrams: usize) -> Driver<Self> {
        Driver::new(Self { inbox: vec![vec![7]; datagrams].into(), ..Self::default() })
    }
}

impl Datagrams for Counted {
    fn now(&self) -> Duration {
        self.reads.set(self.reads.get() + 1);
        // A clock that moves by itself between two looks shows who looks twice.
        self.time + Duration::from_nanos(self.reads.get().into())
    }

    fn recv(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        if self.broken {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let Some(datagram) = self.inbox.pop_front() else { return Ok(Received::Empty) };
        if datagram.is_empty() {
            return Ok(Received::Nothing);
        }
        buf[..datagram.len()].copy_from_slice(&datagram);
        Ok(Received::Datagram(peer(), datagram.len()))
    }

    fn send(&mut self, _: SocketAddr, _: &[u8]) {
        self.sent += 1;
    }

    fn may_receive(&self) -> bool {
        !self.is_shy || !self.waits.is_empty()
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        self.waits.push(at_most);
        match self.late.take_if(|(number, _)| *number == self.waits.len()) {
            Some((_, datagram)) => {
                self.time += MS;
                self.inbox.push_back(datagram);
            }
            None => self.time += at_most,
        }
        Ok(())
    }
}

/// Sends this many datagrams in a batch, and notes every time it is told.
#[derive(Default)]
struct Chatty {
    told: Vec<Duration>,
    got: usize,
    to_send: u32,
    timeout: Option<Duration>,
    wants: Option<usize>,
}

impl Protocol for Chatty {
    fn handle_datagram(&mut self, now: Duration, _: SocketAddr, _: &[u8]) {
        self.told.push(now);
        self.got += 1;
    }

    fn poll_transmit(&mut self, now: Duration, _: &mut [u8]) -> Option<(SocketAddr, usize)> {
        self.told.push(now);
        self.to_send = self.to_send.checked_sub(1)?;
        Some((peer(), 1))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.timeout
    }

    fn wants_attention(&self, now: Duration) -> bool {
        assert_eq!(self.told.last(), Some(&now));
        self.wants.is_some_and(|count| self.got >= count)
    }
}

#[test]
fn poll_and_flush_read_the_clock_once() {
    let (mut driver, mut protocol) = (Counted::with(40), Chatty { to_send: 30, ..Chatty::default() });
    let now = driver.poll(&mut protocol).unwrap();
    assert_eq!((driver.transport().reads.get(), protocol.got, driver.transport().sent), (1, 40, 30));
    assert_eq!(protocol.told, vec![now; 40 + 31], "one time for the whole batch");
    protocol.to_send = 20;
    driver.flush(&mut protocol).unwrap();
    assert_eq!((driver.transport().reads.get(), driver.transport().sent), (2, 50));
}

#[test]
fn run_until_reads_the_clock_once_per_wait() {
    let (mut driver, mut protocol) = (Counted::with(3), Chatty { to_send: 3, ..Chatty::default() });
    driver.transport_mut().late = Some((1, vec![1]));
    let now = driver.run_until(&mut protocol, 16 * MS).unwrap();
    assert!(now >= 16 * MS);
    let transport = driver.transport();
    // Woken by a datagram after one millisecond, and then by the deadline; the clock's own nanoseconds aside.
    let millis: Vec<_> = transport.waits.iter().map(|wait| wait.as_micros().div_ceil(1_000)).collect();
    assert_eq!((&millis[..], transport.reads.get(), protocol.got), (&[16, 15][..], 3, 4));
}

#[test]
fn wait_ends_at_the_protocols_timeout() {
    let mut driver = Counted::with(0);
    let mut protocol = Chatty { timeout: Some(5 * MS), ..Chatty::default() };
    driver.run_until(&mut protocol, 6 * MS).unwrap();
    let waits = &driver.transport().waits;
    assert!(waits[0] < 5 * MS && waits[0] > 4 * MS);
    assert_eq!(waits[1..4], [Duration::from_micros(250); 3]);
    assert!(waits.len() == 5 && waits[4] < waits[3], "the last nap ends at the deadline: {waits:?}");
}

#[test]
fn driver_goes_on_after_errors_and_attends_before_it_waits() {
    let mut driver = Counted::with(0);
    driver.transport_mut().inbox = vec![vec![], vec![], vec![1], vec![]].into();
    let mut protocol = Chatty { wants: Some(1), ..Chatty::default() };
    driver.run_until(&mut protocol, 16 * MS).unwrap();
    assert_eq!((protocol.got, driver.transport().waits.len()), (1, 0));
}

#[test]
fn flood_is_taken_in_parts_and_no_part_is_slept_on() {
    let (mut driver, mut protocol) = (Counted::with(600), Chatty::default());
    driver.run_until(&mut protocol, MS).unwrap();
    assert_eq!((protocol.got, driver.cut_short()), (600, 2));
    // Three batches before the only wait, and the one at the deadline.
    assert_eq!((driver.transport().waits.len(), driver.transport().reads.get()), (1, 4));
}

#[test]
fn broken_transport_is_an_error_of_every_call_that_receives() {
    let (mut driver, mut protocol) = (Counted::with(0), Chatty::default());
    driver.transport_mut().broken = true;
    assert!(driver.run_until(&mut protocol, MS).is_err() && driver.poll(&mut protocol).is_err());
    assert!(driver.close(&mut protocol, MS).is_err() && driver.flush(&mut protocol).is_ok());
}

#[test]
fn transport_is_read_once_where_the_driver_does_not_wait() {
    let got = |deadline: Duration, wants| {
        let mut driver = Counted::with(3);
        driver.transport_mut().is_shy = true;
        let mut protocol = Chatty { wants, told: vec![Duration::from_nanos(1)], ..Chatty::default() };
        driver.run_until(&mut protocol, deadline).unwrap();
        (protocol.got, driver.transport().waits.len())
    };
    assert_eq!(got(Duration::ZERO, None), (3, 0), "the deadline has passed");
    assert_eq!(got(MS, Some(0)), (3, 0), "the protocol wants attention");
    assert_eq!(got(MS, None), (3, 1), "after the wait");
}
