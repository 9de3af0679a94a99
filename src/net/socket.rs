//! A UDP socket that never blocks, and counts its errors instead of returning them.

use super::datagrams::Received;
use crate::{MAX_DATAGRAM, canonical};
use mio::net::UdpSocket;
use mio::{Interest, Poll, Token};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};

/// The least receive buffer to request: some seconds of a match, or a short flood, while the process is not scheduled.
const RECEIVE_BUFFER_BYTES: usize = 256 * 1024;
/// The least send buffer to request. A match sends a few kilobytes a second; datagrams that do not fit would be too
/// old when they left.
const SEND_BUFFER_BYTES: usize = 64 * 1024;
/// The traffic class of expedited forwarding (DSCP 46), for which wireless access points use their queue for voice.
const EXPEDITED_FORWARDING: u32 = 46 << 2;
/// The most failures in a row after which a socket is still tried again; beyond, it counts as broken.
const MAX_FAILURES_IN_A_ROW: u32 = 1_024;

/// The statistics of a socket: datagrams, and errors that were ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UdpStats {
    /// Datagrams received.
    pub received: u64,
    /// Bytes received, without headers.
    pub received_bytes: u64,
    /// Received datagrams longer than [`MAX_DATAGRAM`]. They are passed on, truncated to 2,048 bytes; Windows gives no
    /// bytes of a datagram longer than that, which is dropped and not among those `received`.
    pub oversize: u64,
    /// Datagrams handed to the operating system.
    pub sent: u64,
    /// Bytes sent, without headers.
    pub sent_bytes: u64,
    /// Datagrams not sent because the send buffer was full.
    pub buffer_full: u64,
    /// Errors which report that nobody listens at the destination (ICMP port unreachable). Not every system has them.
    pub refused: u64,
    /// Datagrams not sent because there was no route, or none for this address family.
    pub unreachable: u64,
    /// Datagrams not sent because they were longer than the network allows.
    pub too_long: u64,
    /// Calls interrupted by a signal; they were made again.
    pub interrupted: u64,
    /// Errors of any other kind.
    pub other_errors: u64,
    /// Polls of the driver that stopped at their bound of datagrams with more to receive.
    pub cut_short: u64,
}

/// The socket options that the operating system granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UdpOptions {
    /// Whether one IPv6 socket serves IPv4 too.
    pub dual_stack: bool,
    /// Whether datagrams are marked for expedited forwarding, in every family that the socket serves.
    pub expedited: bool,
    /// The receive buffer as the system reports it, in bytes.
    pub receive_buffer_bytes: Option<usize>,
    /// The send buffer as the system reports it, in bytes.
    pub send_buffer_bytes: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct DatagramSocket {
    mio: UdpSocket,
    stats: UdpStats,
    options: UdpOptions,
    local: SocketAddr,
    failures_in_a_row: u32,
}

impl DatagramSocket {
    /// Binds a socket. `[::]` serves both address families, or IPv4 alone where there is no IPv6.
    pub(crate) fn bind(addr: SocketAddr) -> io::Result<Self> {
        match Self::bind_one(addr) {
            Err(error) if is_any_v6(addr) && lacks_ipv6(&error) => {
                Self::bind_one(SocketAddr::from((Ipv4Addr::UNSPECIFIED, addr.port())))
            }
            done => done,
        }
    }

    fn bind_one(addr: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(addr), Type::DGRAM, Some(Protocol::UDP))?;
        let mut options = UdpOptions::default();
        if addr.is_ipv6() {
            // If the system refuses a dual-stack socket, it serves IPv6 alone.
            let only_v6 = socket.set_only_v6(!is_any_v6(addr)).and_then(|()| socket.only_v6());
            options.dual_stack = matches!(only_v6, Ok(false));
        }
        if socket.recv_buffer_size().is_ok_and(|bytes| bytes < RECEIVE_BUFFER_BYTES) {
            let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES);
        }
        if socket.send_buffer_size().is_ok_and(|bytes| bytes < SEND_BUFFER_BYTES) {
            let _ = socket.set_send_buffer_size(SEND_BUFFER_BYTES);
        }
        options.receive_buffer_bytes = socket.recv_buffer_size().ok();
        options.send_buffer_bytes = socket.send_buffer_size().ok();
        let v4 = addr.is_ipv4() || options.dual_stack;
        options.expedited = (!v4 || expedite_v4(&socket)) & (addr.is_ipv4() || expedite_v6(&socket));
        socket.set_nonblocking(true)?;
        socket.bind(&addr.into())?;
        let mio = UdpSocket::from_std(socket.into());
        let local = mio.local_addr()?;
        Ok(Self { mio, stats: UdpStats::default(), options, local, failures_in_a_row: 0 })
    }

    /// Has a poller watch for datagrams.
    pub(crate) fn watch(&mut self, poll: &Poll, token: Token) -> io::Result<()> {
        poll.registry().register(&mut self.mio, token, Interest::READABLE)
    }

    /// Takes the place of another socket: counts on from its statistics, and the poller forgets it.
    pub(crate) fn replace(&mut self, mut before: Self, poll: &Poll) {
        self.stats = before.stats;
        // The old socket closes in any case, and a poller forgets a closed socket.
        let _ = poll.registry().deregister(&mut before.mio);
    }

    /// Sleeps for at most `time`, until a datagram comes.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn sleep(&self, time: std::time::Duration) -> io::Result<super::sleep::Woken> {
        super::sleep::sleep_on(&self.mio, time)
    }

    pub(crate) fn stats(&self) -> UdpStats {
        self.stats
    }

    /// Counts a sleep that a signal interrupted.
    pub(crate) fn interrupted(&mut self) {
        self.stats.interrupted += 1;
    }

    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.local
    }

    pub(crate) fn options(&self) -> &UdpOptions {
        &self.options
    }

    /// Receives one datagram. An error means that the socket has failed more than [`MAX_FAILURES_IN_A_ROW`] times.
    pub(crate) fn receive(&mut self, buf: &mut [u8]) -> io::Result<Received> {
        match self.mio.recv_from(buf) {
            Ok((len, from)) => {
                self.failures_in_a_row = 0;
                self.stats.received += 1;
                self.stats.received_bytes += len as u64;
                self.stats.oversize += u64::from(len > MAX_DATAGRAM);
                Ok(Received::Datagram(canonical(from), len))
            }
            Err(error) => self.received_none(error),
        }
    }

    /// Counts an error of receiving. [`MAX_FAILURES_IN_A_ROW`] bounds those that may be the socket's own.
    fn received_none(&mut self, error: io::Error) -> io::Result<Received> {
        match Unreceived::of(error.kind(), error.raw_os_error(), Codes::HERE) {
            Unreceived::Empty => {
                self.failures_in_a_row = 0;
                Ok(Received::Empty)
            }
            Unreceived::Oversize => {
                self.failures_in_a_row = 0;
                self.stats.oversize += 1;
                Ok(Received::Nothing)
            }
            Unreceived::Failure => {
                count(&mut self.stats, &error);
                self.failures_in_a_row += 1;
                if self.failures_in_a_row > MAX_FAILURES_IN_A_ROW {
                    Err(error)
                } else {
                    Ok(Received::Nothing)
                }
            }
        }
    }

    /// Sends one datagram, or counts why it could not be sent. To the protocol such a datagram is packet loss.
    pub(crate) fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        let to = match (self.local, canonical(to)) {
            (SocketAddr::V6(_), SocketAddr::V4(v4)) => {
                SocketAddr::from((v4.ip().to_ipv6_mapped(), v4.port()))
            }
            (SocketAddr::V4(_), SocketAddr::V6(_)) => {
                self.stats.unreachable += 1;
                return;
            }
            (_, same) => same,
        };
        let mio = &self.mio;
        attempt(&mut self.stats, datagram.len(), || mio.send_to(datagram, to));
    }
}

/// Sends a datagram of `len` bytes by `send`, twice if need be: an error of an earlier datagram is reported by the next call,
/// which then sends nothing.
fn attempt(stats: &mut UdpStats, len: usize, mut send: impl FnMut() -> io::Result<usize>) {
    for _ in 0..2 {
        match send() {
            Ok(_) => {
                stats.sent += 1;
                stats.sent_bytes += len as u64;
                return;
            }
            Err(error) => {
                count(stats, &error);
                if !is_of_another(error.kind()) {
                    return;
                }
            }
        }
    }
}

/// The meaning of an error of receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unreceived {
    /// No datagram is waiting.
    Empty,
    /// A datagram was longer than the buffer and is gone. Windows reports an error (WSAEMSGSIZE) where other systems
    /// truncate. The socket works: anybody who can send to it can cause any number of these in a row.
    Oversize,
    /// Anything else.
    Failure,
}

impl Unreceived {
    fn of(kind: ErrorKind, code: Option<i32>, codes: Codes) -> Self {
        match kind {
            ErrorKind::WouldBlock => Self::Empty,
            _ if code == Some(codes.message_too_long) => Self::Oversize,
            _ => Self::Failure,
        }
    }
}

/// Whether an error is not about the datagram being sent, but about a signal or an earlier datagram.
fn is_of_another(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Interrupted | ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}

fn is_any_v6(addr: SocketAddr) -> bool {
    addr.is_ipv6() && addr.ip().is_unspecified()
}

/// Whether binding `[::]` failed because the system has no IPv6, rather than because of the port.
fn lacks_ipv6(error: &io::Error) -> bool {
    !matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied)
}

fn count(stats: &mut UdpStats, error: &io::Error) {
    let counter = match error.kind() {
        ErrorKind::WouldBlock => &mut stats.buffer_full,
        ErrorKind::Interrupted => &mut stats.interrupted,
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => &mut stats.refused,
        ErrorKind::NetworkUnreachable
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkDown
        | ErrorKind::AddrNotAvailable => &mut stats.unreachable,
        _ if error.raw_os_error() == Some(Codes::HERE.no_buffer_space) => &mut stats.buffer_full,
        _ if error.raw_os_error() == Some(Codes::HERE.message_too_long) => &mut stats.too_long,
        _ => &mut stats.other_errors,
    };
    *counter += 1;
}

/// The codes of two errors for which the standard library has no kind.
#[derive(Clone, Copy, Debug)]
struct Codes {
    message_too_long: i32,
    no_buffer_space: i32,
}

impl Codes {
    const LINUX: Self = Self { message_too_long: 90, no_buffer_space: 105 };
    const WINDOWS: Self = Self { message_too_long: 10_040, no_buffer_space: 10_055 };
    const BSD: Self = Self { message_too_long: 40, no_buffer_space: 55 };

    const HERE: Self = if cfg!(windows) {
        Self::WINDOWS
    } else if cfg!(any(target_os = "linux", target_os = "android")) {
        Self::LINUX
    } else {
        Self::BSD
    };
}

#[cfg(any(
    windows,
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "ios",
    target_os = "freebsd"
))]
fn expedite_v4(socket: &Socket) -> bool {
    socket.set_tos_v4(EXPEDITED_FORWARDING).is_ok()
}

#[cfg(not(any(
    windows,
    target_os = "linux",
    target_os = "android",
    target_os = "macos",
    target_os = "ios",
    target_os = "freebsd"
)))]
fn expedite_v4(_: &Socket) -> bool {
    false
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos", target_os = "freebsd"))]
fn expedite_v6(socket: &Socket) -> bool {
    socket.set_tclass_v6(EXPEDITED_FORWARDING).is_ok()
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos", target_os = "freebsd")))]
fn expedite_v6(_: &Socket) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_counted_under_its_reason() {
        let mut stats = UdpStats::default();
        let kinds = [
            ErrorKind::WouldBlock,
            ErrorKind::ConnectionRefused,
            ErrorKind::ConnectionReset,
            ErrorKind::NetworkUnreachable,
            ErrorKind::HostUnreachable,
            ErrorKind::Interrupted,
            ErrorKind::PermissionDenied,
        ];
        for kind in kinds {
            count(&mut stats, &io::Error::from(kind));
        }
        for code in [Codes::HERE.message_too_long, Codes::HERE.no_buffer_space] {
            count(&mut stats, &io::Error::from_raw_os_error(code));
        }
        let expected = UdpStats {
            buffer_full: 2,
            refused: 2,
            unreachable: 2,
            interrupted: 1,
            too_long: 1,
            other_errors: 1,
            ..UdpStats::default()
        };
        assert_eq!(stats, expected);
    }

    #[test]
    fn receive_errors_are_classified_by_code_on_every_system() {
        for (codes, too_long) in [(Codes::WINDOWS, 10_040), (Codes::LINUX, 90), (Codes::BSD, 40)] {
            let of = |kind, code| Unreceived::of(kind, code, codes);
            assert_eq!(of(ErrorKind::Other, Some(too_long)), Unreceived::Oversize);
            assert_eq!(of(ErrorKind::WouldBlock, Some(too_long + 1)), Unreceived::Empty);
            assert_eq!(of(ErrorKind::ConnectionReset, Some(10_054)), Unreceived::Failure);
            assert_eq!(of(ErrorKind::Other, Some(codes.no_buffer_space)), Unreceived::Failure);
            assert_eq!(of(ErrorKind::Other, None), Unreceived::Failure);
        }
    }

    #[test]
    fn oversize_datagrams_do_not_end_the_socket() {
        let mut socket = DatagramSocket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let too_long = || io::Error::from_raw_os_error(Codes::HERE.message_too_long);
        let refused = || io::Error::from(ErrorKind::ConnectionRefused);
        for _ in 0..3 * MAX_FAILURES_IN_A_ROW {
            assert!(matches!(socket.received_none(too_long()), Ok(Received::Nothing)));
        }
        let expected = UdpStats { oversize: 3 * u64::from(MAX_FAILURES_IN_A_ROW), ..UdpStats::default() };
        assert_eq!(socket.stats, expected, "dropped, and nothing else");
        // A socket that gives nothing but failures is broken, unless one of them was a datagram after all.
        for _ in 0..2 {
            for _ in 0..MAX_FAILURES_IN_A_ROW {
                assert!(matches!(socket.received_none(refused()), Ok(Received::Nothing)));
            }
            assert!(matches!(socket.received_none(too_long()), Ok(Received::Nothing)));
        }
        for _ in 0..2 * MAX_FAILURES_IN_A_ROW {
            assert!(matches!(socket.received_none(refused()), Ok(Received::Nothing)));
            let empty = io::Error::from(ErrorKind::WouldBlock);
            assert!(matches!(socket.received_none(empty), Ok(Received::Empty)), "the socket works");
        }
        let ends = (0..=MAX_FAILURES_IN_A_ROW).find(|_| socket.received_none(refused()).is_err());
        assert_eq!(ends, Some(MAX_FAILURES_IN_A_ROW));
    }

    #[test]
    fn error_of_an_earlier_datagram_costs_no_datagram() {
        for (errors, calls, sent) in [
            (&[ErrorKind::ConnectionReset][..], 2, 1),
            (&[ErrorKind::ConnectionReset, ErrorKind::ConnectionReset], 2, 0),
            (&[ErrorKind::NetworkUnreachable], 1, 0),
            (&[], 1, 1),
        ] {
            let (mut stats, mut errors, mut made) = (UdpStats::default(), errors.iter(), 0);
            attempt(&mut stats, 7, || {
                made += 1;
                errors.next().map_or(Ok(7), |kind| Err(io::Error::from(*kind)))
            });
            assert_eq!((made, stats.sent, stats.sent_bytes), (calls, sent, 7 * sent));
        }
    }

    #[test]
    fn only_the_want_of_ipv6_makes_a_bind_fall_back() {
        for (kind, falls_back) in [
            (ErrorKind::AddrInUse, false),
            (ErrorKind::PermissionDenied, false),
            (ErrorKind::AddrNotAvailable, true),
            (ErrorKind::Unsupported, true),
        ] {
            assert_eq!(lacks_ipv6(&io::Error::from(kind)), falls_back, "{kind:?}");
        }
        assert!(is_any_v6("[::]:7".parse().unwrap()));
        assert!(!is_any_v6("[::1]:7".parse().unwrap()) && !is_any_v6("0.0.0.0:7".parse().unwrap()));
    }
}
