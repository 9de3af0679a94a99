//! A UDP socket that never blocks, and counts its errors instead of returning them.

use crate::{MAX_DATAGRAM, canonical};
use mio::net::UdpSocket;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};

/// The length of the buffer for one datagram. It is longer than [`MAX_DATAGRAM`], which shows datagrams that are too
/// long as such instead of truncating them to a valid length.
pub(crate) const RECEIVE_BYTES: usize = 2_048;
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
    /// Received datagrams longer than [`MAX_DATAGRAM`]; they are passed on, truncated to 2,048 bytes.
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
    /// Polls that stopped at their bound of datagrams with more to receive.
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

/// The result of one attempt to receive.
pub(crate) enum Received {
    Datagram(SocketAddr, usize),
    /// An error after which the next attempt may succeed.
    Nothing,
    /// No datagram is waiting.
    Empty,
}

#[derive(Debug)]
pub(crate) struct DatagramSocket {
    pub(crate) mio: UdpSocket,
    pub(crate) stats: UdpStats,
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

    pub(crate) fn local_addr(&self) -> SocketAddr {
        self.local
    }

    pub(crate) fn options(&self) -> &UdpOptions {
        &self.options
    }

    /// Receives one datagram. An error means that the socket has failed more than [`MAX_FAILURES_IN_A_ROW`] times.
    pub(crate) fn receive(&mut self, buf: &mut [u8; RECEIVE_BYTES]) -> io::Result<Received> {
        match self.mio.recv_from(buf) {
            Ok((len, from)) => {
                self.failures_in_a_row = 0;
                self.stats.received += 1;
                self.stats.received_bytes += len as u64;
                self.stats.oversize += u64::from(len > MAX_DATAGRAM);
                Ok(Received::Datagram(canonical(from), len))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.failures_in_a_row = 0;
                Ok(Received::Empty)
            }
            Err(error) => {
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
        // Try twice: an error of an earlier datagram is reported by the next call, which then sends nothing.
        for _ in 0..2 {
            match self.mio.send_to(datagram, to) {
                Ok(_) => {
                    self.stats.sent += 1;
                    self.stats.sent_bytes += datagram.len() as u64;
                    return;
                }
                Err(error) => {
                    count(&mut self.stats, &error);
                    if !is_of_another(error.kind()) {
                        return;
                    }
                }
            }
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
        _ if error.raw_os_error() == NO_BUFFER_SPACE => &mut stats.buffer_full,
        _ if error.raw_os_error() == MESSAGE_TOO_LONG => &mut stats.too_long,
        _ => &mut stats.other_errors,
    };
    *counter += 1;
}

// The codes of two errors for which the standard library has no kind.
#[cfg(any(target_os = "linux", target_os = "android"))]
const MESSAGE_TOO_LONG: Option<i32> = Some(90);
#[cfg(any(target_os = "linux", target_os = "android"))]
const NO_BUFFER_SPACE: Option<i32> = Some(105);
#[cfg(windows)]
const MESSAGE_TOO_LONG: Option<i32> = Some(10_040);
#[cfg(windows)]
const NO_BUFFER_SPACE: Option<i32> = Some(10_055);
#[cfg(not(any(windows, target_os = "linux", target_os = "android")))]
const MESSAGE_TOO_LONG: Option<i32> = Some(40);
#[cfg(not(any(windows, target_os = "linux", target_os = "android")))]
const NO_BUFFER_SPACE: Option<i32> = Some(55);

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
        for code in [MESSAGE_TOO_LONG, NO_BUFFER_SPACE].into_iter().flatten() {
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
