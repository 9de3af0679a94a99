//! The router of this machine: its address, and a thread that talks to it while a match goes on.

use super::addresses::source_toward;
use std::convert::Infallible;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream, UdpSocket};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// An address of the internet, from a range reserved for documentation. Only the route to it is looked up.
const OUTSIDE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
/// The longest routing table that is read.
#[cfg(any(target_os = "linux", target_os = "android"))]
const MAX_TABLE: u64 = 64 * 1024;
/// The longest answer on a stream. Descriptions of routers have 3 to 20 KB.
const MAX_ANSWER: usize = 64 * 1024;
/// A connection, the request and its answer together take no longer.
const EXCHANGE: Duration = Duration::from_secs(2);
/// The longest wait in which the end is not noticed.
const SLICE: Duration = Duration::from_millis(20);

/// The way from this machine to its router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// The address of this machine, a private one.
    pub(crate) own: Ipv4Addr,
    pub(crate) gateway: Ipv4Addr,
    /// Whether the system has named the gateway. Otherwise it is a guess.
    pub(crate) is_known: bool,
}

/// The default route, if a socket that is bound to `bound` uses it, and this machine has a private address there: any other needs
/// no port mapping.
pub(crate) fn default_route(bound: IpAddr) -> Option<Route> {
    match source_toward(OUTSIDE)? {
        IpAddr::V4(own) => route_from(own, bound, routing_table().as_deref()),
        IpAddr::V6(_) => None,
    }
}

fn route_from(own: Ipv4Addr, bound: IpAddr, table: Option<&str>) -> Option<Route> {
    if !own.is_private() || !(bound.is_unspecified() || bound == IpAddr::V4(own)) {
        return None;
    }
    match table {
        Some(table) => default_gateway(table).map(|gateway| Route { own, gateway, is_known: true }),
        None => {
            let [a, b, c, _] = own.octets();
            Some(Route { own, gateway: Ipv4Addr::new(a, b, c, 1), is_known: false })
        }
    }
}

/// The table of IPv4 routes, on systems that have it as a text.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn routing_table() -> Option<String> {
    let mut table = String::new();
    std::fs::File::open("/proc/net/route").ok()?.take(MAX_TABLE).read_to_string(&mut table).ok()?;
    Some(table)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn routing_table() -> Option<String> {
    None
}

/// The gateway of the default route with the least metric.
fn default_gateway(table: &str) -> Option<Ipv4Addr> {
    let routes = table.lines().filter_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let mut hex = || fields.next().and_then(|field| u32::from_str_radix(field, 16).ok());
        let (to, gateway, _flags) = (hex()?, hex()?, hex()?);
        let metric: u32 = fields.nth(2)?.parse().ok()?;
        // The numbers are in the byte order of the machine.
        (to == 0 && gateway != 0).then(|| (metric, Ipv4Addr::from(gateway.to_ne_bytes())))
    });
    routes.min_by_key(|(metric, _)| *metric).map(|(_, gateway)| gateway)
}

/// A request to a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Datagram(SocketAddrV4, Vec<u8>),
    /// Bytes on a TCP connection of their own.
    Stream(SocketAddrV4, Vec<u8>),
}

/// A state machine that talks to a router. It has no socket and no clock.
pub(crate) trait RouterClient: Send + 'static {
    /// The next request that is due.
    fn poll(&mut self, now: Duration) -> Option<Request>;
    /// A datagram that came, or the answer on a stream, which is empty if there was none.
    fn handle(&mut self, now: Duration, from: SocketAddrV4, answer: &[u8]);
    /// Whether these first bytes of an answer on a stream are all of it.
    fn is_whole(&self, answer: &[u8]) -> bool;
    /// When the next request is due, and whether datagrams are awaited until then. `None` at the end.
    fn deadline(&self) -> Option<(Duration, bool)>;
    /// The result so far.
    fn outside(&self) -> Option<SocketAddr>;
    /// Gives everything back, and ends.
    fn release(&mut self, now: Duration);
}

/// The thread of a [`RouterClient`]. If this is dropped, the client gives everything back, as long as the process lives.
#[derive(Debug)]
pub(crate) struct RouterThread {
    /// Its end is the signal to stop.
    stop: Option<Sender<Infallible>>,
    /// The mutex makes it `Sync`. Nobody waits for it.
    results: Mutex<Receiver<Option<SocketAddr>>>,
}

impl RouterThread {
    /// Starts a thread with a socket at the address of this machine.
    pub(crate) fn start(own: Ipv4Addr, client: impl RouterClient) -> io::Result<Self> {
        let socket = UdpSocket::bind((own, 0))?;
        // A system that refuses takes its default, which is right on a machine with one network.
        let _ = socket2::SockRef::from(&socket).set_multicast_if_v4(&own);
        let ((stop, stopped), (results, news)) = (channel(), channel());
        let run = move || run(&socket, client, &stopped, &results);
        thread::Builder::new().name("rebout-router".to_owned()).spawn(run)?;
        Ok(Self { stop: Some(stop), results: Mutex::new(news) })
    }

    /// The result, if it has changed. An error after the end of the thread.
    pub(crate) fn poll(&mut self) -> Result<Option<Option<SocketAddr>>, TryRecvError> {
        let Ok(results) = self.results.get_mut() else { return Err(TryRecvError::Disconnected) };
        match results.try_recv() {
            Ok(result) => Ok(Some(result)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(ended) => Err(ended),
        }
    }

    /// Begins to give everything back.
    pub(crate) fn stop(&mut self) {
        self.stop = None;
    }

    /// Waits for the end of the thread.
    pub(crate) fn wait(&mut self, at_most: Duration) {
        let until = Instant::now() + at_most;
        let Ok(results) = self.results.get_mut() else { return };
        while results.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok() {}
    }
}

fn run(
    socket: &UdpSocket,
    mut client: impl RouterClient,
    stop: &Receiver<Infallible>,
    results: &Sender<Option<SocketAddr>>,
) {
    let epoch = Instant::now();
    let (mut told, mut is_stopping, mut buf) = (None, false, [0; 2_048]);
    loop {
        if !is_stopping && matches!(stop.try_recv(), Err(TryRecvError::Disconnected)) {
            is_stopping = true;
            client.release(epoch.elapsed());
        }
        match client.poll(epoch.elapsed()) {
            Some(Request::Datagram(to, bytes)) => {
                // A datagram that cannot be sent is lost, and sent again.
                let _ = socket.send_to(&bytes, to);
            }
            Some(Request::Stream(to, bytes)) => {
                let answer = exchange(to, &bytes, |answer| client.is_whole(answer)).unwrap_or_default();
                client.handle(epoch.elapsed(), to, &answer);
            }
            None => {}
        }
        if client.outside() != told {
            told = client.outside();
            // Nobody may be left to read it.
            let _ = results.send(told);
        }
        let Some((deadline, is_listening)) = client.deadline() else { return };
        let wait = deadline.saturating_sub(epoch.elapsed());
        if wait.is_zero() {
            continue;
        }
        if is_listening {
            match receive(socket, wait.min(SLICE), &mut buf) {
                Ok((len, SocketAddr::V4(from))) => client.handle(epoch.elapsed(), from, &buf[..len]),
                Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    thread::sleep(wait.min(SLICE));
                }
                _ => {}
            }
        } else if matches!(stop.recv_timeout(wait), Err(RecvTimeoutError::Disconnected)) && is_stopping {
            thread::sleep(wait.min(SLICE));
        }
    }
}

fn receive(socket: &UdpSocket, at_most: Duration, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
    socket.set_read_timeout(Some(at_most))?;
    socket.recv_from(buf)
}

/// Sends a request on a connection of its own, and returns the answer: everything until the end, or until it `is_whole`.
fn exchange(to: SocketAddrV4, request: &[u8], is_whole: impl Fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
    let until = Instant::now() + EXCHANGE;
    let left = || match until.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(io::Error::from(ErrorKind::TimedOut)),
        left => Ok(left),
    };
    let mut tcp = TcpStream::connect_timeout(&to.into(), left()?)?;
    tcp.set_write_timeout(Some(left()?))?;
    tcp.write_all(request)?;
    let (mut answer, mut buf) = (Vec::new(), [0; 2_048]);
    loop {
        tcp.set_read_timeout(Some(left()?))?;
        let len = tcp.read(&mut buf)?;
        answer.extend_from_slice(&buf[..len]);
        if answer.len() > MAX_ANSWER {
            return Err(ErrorKind::InvalidData.into());
        }
        if len == 0 || is_whole(&answer) {
            return Ok(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn gateway_is_that_of_the_default_route_with_the_least_metric() {
        let hex = |ip: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(ip));
        let line = |to: [u8; 4], by: [u8; 4], metric: u32| {
            format!("eth0\t{}\t{}\t0003\t0\t0\t{metric}\t00000000\t0\t0\t0\n", hex(to), hex(by))
        };
        let head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
        let table = head.to_owned()
            + &line([10, 1, 0, 0], [10, 0, 0, 9], 0)
            + &line([0; 4], [192, 168, 1, 1], 600)
            + &line([0; 4], [10, 0, 0, 1], 100)
            + &line([0; 4], [0; 4], 5)
            + "eth0\tnothing\n\n";
        assert_eq!(default_gateway(&table), Some(Ipv4Addr::new(10, 0, 0, 1)));
        assert_eq!(default_gateway(head), None);
    }

    #[test]
    fn private_address_of_the_socket_has_a_route() {
        let ip = |text: &str| text.parse::<Ipv4Addr>().unwrap();
        let from = |own, bound: &str| route_from(ip(own), bound.parse().unwrap(), None);
        let guess = Some(Route { own: ip("192.168.7.9"), gateway: ip("192.168.7.1"), is_known: false });
        for bound in ["::", "0.0.0.0", "192.168.7.9"] {
            assert_eq!(from("192.168.7.9", bound), guess, "{bound}");
        }
        for bound in ["127.0.0.1", "192.168.7.8", "::1", "fd00::1"] {
            assert_eq!(from("192.168.7.9", bound), None, "{bound}");
        }
        assert_eq!(from("203.0.113.9", "::"), None, "a public address needs no mapping");
        assert_eq!(route_from(ip("192.168.7.9"), ip("0.0.0.0").into(), Some("")), None, "no default route");
    }

    /// A server that sends these bytes once, or for ever.
    fn server(sent: &'static [u8], is_endless: bool) -> SocketAddrV4 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let SocketAddr::V4(at) = listener.local_addr().unwrap() else { unreachable!() };
        thread::spawn(move || {
            let (mut tcp, _) = listener.accept().unwrap();
            while tcp.write_all(sent).is_ok() && is_endless {}
            // The other side ends the connection.
            let _ = io::copy(&mut tcp, &mut io::sink());
        });
        at
    }

    #[test]
    fn answer_on_a_stream_is_bounded() {
        let error = exchange(server(&[b'x'; 4_096], true), b"?", |_| false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        let whole = exchange(server(b"answer", false), b"?", |answer| answer == b"answer");
        assert_eq!(whole.unwrap(), b"answer");
    }

    /// Asks an echo server, and says its farewell to it.
    struct Echo {
        server: SocketAddrV4,
        to_send: Option<&'static [u8]>,
        heard: Option<SocketAddr>,
        is_over: bool,
    }

    impl RouterClient for Echo {
        fn poll(&mut self, _: Duration) -> Option<Request> {
            self.to_send.take().map(|text| Request::Datagram(self.server, text.to_vec()))
        }

        fn handle(&mut self, _: Duration, from: SocketAddrV4, answer: &[u8]) {
            self.is_over = answer == b"bye";
            self.heard = (!self.is_over).then_some(from.into());
        }

        fn is_whole(&self, _: &[u8]) -> bool {
            true
        }

        fn deadline(&self) -> Option<(Duration, bool)> {
            (!self.is_over)
                .then_some((Duration::from_secs(60), self.heard.is_none() || self.to_send.is_some()))
        }

        fn outside(&self) -> Option<SocketAddr> {
            self.heard
        }

        fn release(&mut self, _: Duration) {
            self.to_send = Some(b"bye");
            self.heard = None;
        }
    }

    #[test]
    fn client_is_told_to_give_back_at_the_end() {
        let echo = UdpSocket::bind("127.0.0.1:0").unwrap();
        echo.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let SocketAddr::V4(server) = echo.local_addr().unwrap() else { unreachable!() };
        let heard = thread::spawn(move || {
            let mut buf = [0; 64];
            [(); 2].map(|()| {
                let (len, from) = echo.recv_from(&mut buf).unwrap();
                echo.send_to(&buf[..len], from).unwrap();
                buf[..len].to_vec()
            })
        });
        let client = Echo { server, to_send: Some(b"hello"), heard: None, is_over: false };
        let mut thread = RouterThread::start(Ipv4Addr::LOCALHOST, client).unwrap();
        let first = loop {
            match thread.poll() {
                Ok(Some(result)) => break result,
                Ok(None) => thread::yield_now(),
                Err(_) => panic!("it ended"),
            }
        };
        assert_eq!(first, Some(server.into()));
        thread.stop();
        thread.wait(Duration::from_secs(20));
        assert!(thread.poll().is_err(), "the thread has ended");
        assert_eq!(heard.join().unwrap(), [b"hello".to_vec(), b"bye".to_vec()]);
    }
}
