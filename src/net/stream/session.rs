//! One stream: a TCP connection with TLS on it that never blocks, with buffers of bounded sizes.

use super::frames::{Frame, Framing, MAX_FRAME};
use crate::protocol::stream_addr::Notice;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use rustls::{CertificateError, Error};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::time::Duration;

/// The most bytes of datagrams that wait to be sent: half a second of a match. More are dropped, as a full socket drops them; what
/// waits longer is of no use.
pub(super) const MAX_WAITING: usize = 4_096;
/// The send buffer to request of the system. Bytes that the system has taken cannot be dropped any more, and delay everything behind
/// them.
pub(super) const SEND_BUFFER_BYTES: usize = 16 * 1024;

/// A stream.
pub(super) struct Session {
    tcp: TcpStream,
    tls: rustls::Connection,
    framing: Framing,
    /// Whole frames that wait to be encrypted.
    out: Vec<u8>,
    /// Decrypted bytes, of which the first `taken` are done with.
    received: Vec<u8>,
    taken: usize,
    is_open: bool,
    /// Since when the system takes nothing.
    stuck_since: Option<Duration>,
    /// When it began, and when the last whole frame came.
    pub(super) since: Duration,
    pub(super) heard_at: Duration,
    /// When this side last had a datagram for it.
    pub(super) used_at: Duration,
}

impl Session {
    pub(super) fn new(tcp: TcpStream, tls: rustls::Connection, framing: Framing, now: Duration) -> Self {
        // Datagrams must not wait for each other more than the stream makes them.
        let _ = tcp.set_nodelay(true);
        Self {
            tcp,
            tls,
            framing,
            out: Vec::new(),
            received: Vec::new(),
            taken: 0,
            is_open: false,
            stuck_since: None,
            since: now,
            heard_at: now,
            used_at: now,
        }
    }

    pub(super) fn watch(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.tcp, token, Interest::READABLE | Interest::WRITABLE)
    }

    /// Whether the TLS handshake is done.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Since when the system takes nothing of what waits.
    pub(super) fn stuck_since(&self) -> Option<Duration> {
        self.stuck_since
    }

    /// Queues a datagram, and sends as much as the system takes. `false` if it was dropped.
    pub(super) fn send(&mut self, now: Duration, datagram: &[u8]) -> Result<bool, Notice> {
        let fits = datagram.len() <= MAX_FRAME
            && self.out.len() + self.framing.len(datagram.len()) <= MAX_WAITING
            && Framing::of(datagram.first().copied().unwrap_or_default()) == self.framing;
        if fits {
            self.framing.write(datagram, &mut self.out);
        }
        self.flush(now)?;
        Ok(fits)
    }

    /// Sends as much as the system takes.
    pub(super) fn flush(&mut self, now: Duration) -> Result<(), Notice> {
        loop {
            while self.tls.wants_write() {
                match self.tls.write_tls(&mut self.tcp) {
                    Ok(0) => return Err(self.ended()),
                    Ok(_) => self.stuck_since = None,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if is_later(&error) => {
                        self.stuck_since.get_or_insert(now);
                        return Ok(());
                    }
                    Err(_) => return Err(self.ended()),
                }
            }
            // Before the handshake is done, the TLS session would keep the bytes in a buffer of its own.
            if self.out.is_empty() || self.tls.is_handshaking() {
                return Ok(());
            }
            let taken = self.tls.writer().write(&self.out).map_err(|_| self.ended())?;
            self.out.drain(..taken);
        }
    }

    /// Reads once from the system. `false` if nothing was there.
    pub(super) fn read(&mut self, now: Duration) -> Result<bool, Notice> {
        match self.tls.read_tls(&mut self.tcp) {
            Ok(0) => return Err(self.ended()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(true),
            Err(error) if is_later(&error) => return Ok(false),
            Err(_) => return Err(self.ended()),
        }
        let state = match self.tls.process_new_packets() {
            Ok(state) => state,
            Err(error) => {
                // The alert tells the other side why.
                let _ = self.tls.write_tls(&mut self.tcp);
                return Err(refused(&error));
            }
        };
        self.received.drain(..self.taken);
        self.taken = 0;
        let (before, more) = (self.received.len(), state.plaintext_bytes_to_read());
        self.received.resize(before + more, 0);
        if more > 0 {
            let read = self.tls.reader().read(&mut self.received[before..]);
            self.received.truncate(before + read.unwrap_or(0));
        }
        self.flush(now)?;
        Ok(true)
    }

    /// Whether the handshake was done since this was last asked.
    pub(super) fn has_opened(&mut self) -> bool {
        let is_new = !self.is_open && !self.tls.is_handshaking();
        self.is_open |= is_new;
        is_new
    }

    /// Copies the next whole datagram into `buf`, which holds [`MAX_FRAME`] bytes. Returns its length.
    pub(super) fn take(&mut self, buf: &mut [u8]) -> Result<Option<usize>, Notice> {
        let bytes = &self.received[self.taken..];
        let Some(Frame { datagram, end }) = self.framing.first(bytes).map_err(|_| Notice::Malformed)? else {
            return Ok(None);
        };
        let datagram = &bytes[datagram];
        let len = datagram.len().min(buf.len());
        buf[..len].copy_from_slice(&datagram[..len]);
        self.taken += end;
        Ok(Some(len))
    }

    /// Tells the other side that nothing follows, and forgets the connection.
    pub(super) fn close(mut self, registry: &Registry) {
        self.tls.send_close_notify();
        let _ = self.tls.write_tls(&mut self.tcp);
        let _ = registry.deregister(&mut self.tcp);
    }

    /// How it has ended, if the system says no more than that.
    pub(super) fn ended(&self) -> Notice {
        if self.is_open {
            Notice::Closed
        } else if self.tcp.peer_addr().is_ok() {
            Notice::NoTls
        } else {
            Notice::Unreachable
        }
    }
}

/// Whether a call may succeed later. A connection that is not made yet is no error of the connection.
fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected)
}

/// Why a TLS session was ended by this side.
fn refused(error: &Error) -> Notice {
    use CertificateError as C;
    match error {
        Error::InvalidCertificate(C::UnknownIssuer) => Notice::UnknownIssuer,
        Error::InvalidCertificate(C::NotValidForName | C::NotValidForNameContext { .. }) => Notice::WrongName,
        Error::InvalidCertificate(
            C::Expired | C::ExpiredContext { .. } | C::NotValidYet | C::NotValidYetContext { .. },
        ) => Notice::Expired,
        Error::InvalidCertificate(_) | Error::NoCertificatesPresented => Notice::BadCertificate,
        _ => Notice::NoTls,
    }
}

#[cfg(test)]
impl Session {
    /// The bytes that wait to be sent.
    pub(super) fn waiting(&self) -> usize {
        self.out.len()
    }

    /// Sends bytes that may be no frame.
    pub(super) fn send_raw(&mut self, bytes: &[u8]) {
        self.out.extend(bytes);
        self.flush(Duration::ZERO).unwrap();
    }
}
