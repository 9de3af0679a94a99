//! Addresses of streams: a peer that is reached over a stream has an address that no UDP datagram has, and tells of itself by notices.

use super::{canonical, texts};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// The bit that marks an address. Flipping it takes every address in use (`2000::/3`, `fc00::/7`, `fe80::/10`, `::/8`) to one that
/// is not assigned.
const MARK: u16 = 0x8000;
/// The prefix of 6to4 (RFC 3056), behind which an IPv4 address stands in the first 64 bits: limits for each /64 count it as one
/// source.
const SIX_TO_FOUR: u16 = 0x2002;

/// The address under which a protocol knows the peer of a stream, whose TCP address is `tcp`. No UDP datagram has it.
#[must_use]
pub fn stream_addr(tcp: SocketAddr) -> SocketAddr {
    let tcp = canonical(tcp);
    let mut segments = match tcp.ip() {
        IpAddr::V4(ip) => {
            let [a, b, c, d] = ip.octets();
            let pair = |high, low| u16::from_be_bytes([high, low]);
            [SIX_TO_FOUR, pair(a, b), pair(c, d), 0, 0, 0, 0, 0]
        }
        IpAddr::V6(ip) => ip.segments(),
    };
    segments[0] ^= MARK;
    SocketAddr::from((Ipv6Addr::from(segments), tcp.port()))
}

/// Whether this is the address of a stream.
#[inline]
pub(crate) fn is_stream(addr: SocketAddr) -> bool {
    match addr {
        SocketAddr::V4(_) => false,
        SocketAddr::V6(v6) => matches!(v6.ip().octets()[0], 0x7C..=0x7E | 0x80 | 0xA0..=0xBF),
    }
}

/// The TCP address of a stream's address.
#[cfg(feature = "tls")]
pub(crate) fn tcp_addr(addr: SocketAddr) -> Option<SocketAddr> {
    let SocketAddr::V6(v6) = addr else { return None };
    let mut segments = v6.ip().segments();
    segments[0] ^= MARK;
    let [first, high, low, rest @ ..] = segments;
    let ip = if first == SIX_TO_FOUR && rest == [0; 5] {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::from([a, b, c, d])
    } else {
        IpAddr::from(Ipv6Addr::from(segments))
    };
    is_stream(addr).then(|| SocketAddr::new(ip, v6.port()))
}

texts! {
    /// News of a stream. A transport hands a notice to its protocol as a datagram of one byte from the stream's address: no
    /// frame on a stream is that short.
    pub Notice:
    /// The stream is open: the certificate of the server is valid.
    Opened(1) = "the connection is open",
    /// There is no TCP connection.
    Unreachable(2) = "nothing answers at TCP port 443",
    /// The server does not speak TLS 1.3.
    NoTls(3) = "something at TCP port 443 does not speak TLS 1.3",
    /// No certificate authority that is trusted here has signed the certificate.
    UnknownIssuer(4) = "nobody who is trusted here has signed its certificate",
    /// The certificate is that of another name.
    WrongName(5) = "its certificate is for another name",
    /// The certificate is not valid at the time that this machine's clock shows.
    Expired(6) = "its certificate has expired, or the clock of this machine is wrong",
    /// The certificate cannot be used for another reason.
    BadCertificate(7) = "its certificate cannot be used",
    /// The stream has ended.
    Closed(8) = "it has closed the connection",
    /// The other side has sent something that is no frame.
    Malformed(9) = "it speaks another protocol",
}

impl Notice {
    /// The notice in a datagram that came from a stream's address.
    pub(crate) fn read(datagram: &[u8]) -> Option<Self> {
        let all = [
            Self::Opened,
            Self::Unreachable,
            Self::NoTls,
            Self::UnknownIssuer,
            Self::WrongName,
            Self::Expired,
            Self::BadCertificate,
            Self::Closed,
            Self::Malformed,
        ];
        let [number] = datagram else { return None };
        all.into_iter().find(|notice| *notice as u8 == *number)
    }

    /// Whether the certificate was refused: somebody should look into it, whatever else works.
    pub(crate) fn is_about_certificate(self) -> bool {
        matches!(self, Self::UnknownIssuer | Self::WrongName | Self::Expired | Self::BadCertificate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USED: [&str; 8] = [
        "192.0.2.1:443",
        "127.0.0.1:1",
        "255.255.255.255:65535",
        "[2001:db8::1]:443",
        "[2002:c000:201::1]:443",
        "[fd00::7]:443",
        "[fe80::7]:443",
        "[::1]:443",
    ];

    #[test]
    fn addresses_of_streams_are_no_others() {
        for text in USED.iter().chain(&["[ff02::1]:7", "[100:0:0:1::3]:1", "[::ffff:192.0.2.1]:7"]) {
            let addr = text.parse().unwrap();
            assert!(!is_stream(addr), "{text}");
        }
        let marked: Vec<SocketAddr> = USED.iter().map(|text| stream_addr(text.parse().unwrap())).collect();
        for (at, addr) in marked.iter().enumerate() {
            assert!(is_stream(*addr), "{addr}");
            assert!(!marked[..at].contains(addr), "{addr}");
            assert_eq!(canonical(*addr), *addr);
        }
        let mapped = stream_addr("[::ffff:192.0.2.1]:443".parse().unwrap());
        assert_eq!(mapped, stream_addr("192.0.2.1:443".parse().unwrap()));
    }

    #[cfg(feature = "tls")]
    #[test]
    fn tcp_address_of_a_stream_is_found_again() {
        for text in USED {
            let addr = text.parse().unwrap();
            assert_eq!((tcp_addr(stream_addr(addr)), tcp_addr(addr)), (Some(addr), None));
        }
    }

    #[test]
    fn two_ipv4_sources_are_two_networks_of_64_bits() {
        let network = |text: &str| match stream_addr(text.parse().unwrap()).ip() {
            IpAddr::V6(ip) => ip.segments()[..4].to_vec(),
            IpAddr::V4(_) => Vec::new(),
        };
        assert_ne!(network("192.0.2.1:7"), network("192.0.2.2:7"));
        assert_eq!(network("192.0.2.1:7"), network("192.0.2.1:8"));
    }

    #[test]
    fn notices_are_datagrams_of_one_byte() {
        for number in 0..=255 {
            let notice = Notice::read(&[number]);
            assert_eq!(notice.map(|notice| notice as u8), (1..=9).contains(&number).then_some(number));
        }
        assert_eq!((Notice::read(&[]), Notice::read(&[1, 1])), (None, None));
    }
}
