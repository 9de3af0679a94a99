//! A page for a monitoring system: HTTP on a thread of its own, so that a slow reader never delays the rendezvous.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

/// A reader gets this long for its request, and as long to take the answer. The next one waits meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most bytes of a request that are read.
const MAX_REQUEST: usize = 4_096;

/// The page and the address at which it is served.
pub(crate) struct Page {
    addr: SocketAddr,
    asked: Receiver<()>,
    texts: Sender<String>,
}

impl Page {
    pub(crate) fn serve(addr: SocketAddr) -> Result<Self, String> {
        let named = |error| format!("cannot serve metrics at {addr}: {error}");
        let listener = TcpListener::bind(addr).map_err(named)?;
        let addr = listener.local_addr().map_err(named)?;
        let ((ask, asked), (texts, text)) = (sync_channel(1), channel());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A reader that hangs up or is too slow concerns nobody else.
                let _ = answer(stream, &ask, &text);
            }
        });
        Ok(Self { addr, asked, texts })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Hands over the page if a reader waits for it.
    pub(crate) fn answer(&self, text: impl FnOnce() -> String) {
        if self.asked.try_recv().is_ok() {
            let _ = self.texts.send(text());
        }
    }
}

/// Serves one reader.
fn answer(mut stream: TcpStream, ask: &SyncSender<()>, text: &Receiver<String>) -> std::io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = request(&mut stream)?;
    let mut words = request.split(' ');
    let (status, body) = match (words.next(), words.next()) {
        (Some("GET"), Some("/metrics")) => {
            // An answer to a reader that gave up earlier is no longer true.
            while text.try_recv().is_ok() {}
            let _ = ask.try_send(());
            match text.recv_timeout(PATIENCE) {
                Ok(text) => ("200 OK", text),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    ("503 Service Unavailable", "the server is stopping\n".to_owned())
                }
            }
        }
        (Some("GET"), Some(_)) => ("404 Not Found", "the counters are at /metrics\n".to_owned()),
        _ => ("400 Bad Request", "only GET is answered\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// Reads a request up to the empty line that ends it, and returns its first line.
fn request(stream: &mut TcpStream) -> std::io::Result<String> {
    let (until, mut bytes, mut buf) = (Instant::now() + PATIENCE, Vec::new(), [0; 512]);
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = until.saturating_duration_since(Instant::now());
        // The system takes no timeout of zero, and reads it as none.
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        let len = stream.read(&mut buf)?;
        if len == 0 || left.is_zero() || bytes.len() + len > MAX_REQUEST {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        bytes.extend_from_slice(&buf[..len]);
    }
    let line = bytes.split(|byte| *byte == b'\r').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).into_owned())
}
