//! A description as SDP (RFC 8866), which browsers read and write: one data channel and nothing else.

use super::description::{Description, WebCandidate, WebCandidateKind};
use core::fmt::Write as _;
use std::net::SocketAddr;

/// The longest SDP that is read, and the most lines of it.
const MAX_SDP: usize = 64 * 1024;
/// The most own addresses of a description, so that a reflexive and a relayed one have room.
const MAX_HOST: usize = 5;

impl Description {
    /// The description in the SDP of a browser's own side, its `localDescription`. `None` if that has no data channel with a SHA-256
    /// fingerprint and credentials.
    #[must_use]
    pub fn from_sdp(sdp: &str) -> Option<Self> {
        if sdp.len() > MAX_SDP {
            return None;
        }
        let value = |name: &str| sdp.lines().find_map(|line| line.trim_end().strip_prefix(name));
        let fingerprint = sdp.lines().find_map(|line| {
            let (kind, hex) = line.trim_end().strip_prefix("a=fingerprint:")?.split_once(' ')?;
            kind.eq_ignore_ascii_case("sha-256").then(|| fingerprint(hex))?
        })?;
        let candidates = || sdp.lines().filter_map(candidate);
        let is_host = |one: &WebCandidate| {
            matches!(one, WebCandidate::Hidden(..) | WebCandidate::At(WebCandidateKind::Host, _))
        };
        let hosts = candidates().filter(is_host).take(MAX_HOST);
        let others = candidates().filter(|one| !is_host(one));
        Self::new(value("a=ice-ufrag:")?, value("a=ice-pwd:")?, fingerprint, hosts.chain(others))
    }

    /// The SDP of the other side, for a browser's `setRemoteDescription`: an offer, or an answer.
    #[must_use]
    pub fn to_sdp(&self, is_offer: bool) -> String {
        // The one that answers begins the DTLS handshake, as browsers do by themselves.
        let setup = if is_offer { "actpass" } else { "active" };
        let hex: Vec<String> = self.fingerprint.iter().map(|byte| format!("{byte:02X}")).collect();
        let mut sdp = format!(
            "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n\
             m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=mid:0\r\n\
             a=ice-ufrag:{}\r\na=ice-pwd:{}\r\na=fingerprint:sha-256 {}\r\na=setup:{setup}\r\n\
             a=sctp-port:5000\r\na=max-message-size:16384\r\n",
            self.ufrag,
            self.password,
            hex.join(":"),
        );
        for (at, candidate) in self.candidates.iter().enumerate() {
            let (kind, preference, ip, port) = match candidate {
                WebCandidate::At(WebCandidateKind::Host, addr) => {
                    ("host", 126_u32, addr.ip().to_string(), addr.port())
                }
                WebCandidate::At(WebCandidateKind::Reflexive, addr) => {
                    ("srflx raddr 0.0.0.0 rport 0", 100, addr.ip().to_string(), addr.port())
                }
                WebCandidate::At(WebCandidateKind::Relayed, addr) => {
                    ("relay raddr 0.0.0.0 rport 0", 0, addr.ip().to_string(), addr.port())
                }
                WebCandidate::Hidden(name, port) => ("host", 126, hidden_name(name), *port),
            };
            // Those of one kind are preferred in their order.
            let priority = (preference << 24) + ((65_535 - at as u32) << 8) + 255;
            // Writing to a string does not fail.
            let _ = write!(sdp, "a=candidate:{} 1 udp {priority} {ip} {port} typ {kind}\r\n", at + 1);
        }
        sdp.push_str("a=end-of-candidates\r\n");
        sdp
    }
}

/// The 32 bytes of a fingerprint in hex digits with colons.
fn fingerprint(hex: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let mut parts = hex.split(':');
    for byte in &mut bytes {
        let part = parts.next().filter(|part| part.len() == 2)?;
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(bytes)
}

/// The candidate in a line of SDP, if it is one of UDP.
fn candidate(line: &str) -> Option<WebCandidate> {
    let mut words = line.trim_end().strip_prefix("a=candidate:")?.split(' ').skip(1);
    let (component, transport, _priority) = (words.next()?, words.next()?, words.next()?);
    let (ip, port) = (words.next()?, words.next()?.parse().ok()?);
    if component != "1" || !transport.eq_ignore_ascii_case("udp") || words.next()? != "typ" {
        return None;
    }
    let kind = match words.next()? {
        "host" => WebCandidateKind::Host,
        "srflx" => WebCandidateKind::Reflexive,
        "relay" => WebCandidateKind::Relayed,
        _ => return None,
    };
    if let Some(name) = ip.strip_suffix(".local") {
        return Some(WebCandidate::Hidden(uuid(name)?, port));
    }
    Some(WebCandidate::At(kind, SocketAddr::new(ip.parse().ok()?, port)))
}

/// The bytes of a UUID in the usual form.
fn uuid(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    let digits: [u8; 32] = digits.try_into().ok()?;
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

fn hidden_name(bytes: &[u8; 16]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}.local", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connect::web::description::tests::example;

    #[test]
    fn description_comes_back_from_its_sdp() {
        for is_offer in [true, false] {
            let sdp = example().to_sdp(is_offer);
            assert_eq!(Description::from_sdp(&sdp), Some(example()), "{sdp}");
            assert!(sdp.contains(if is_offer { "a=setup:actpass\r\n" } else { "a=setup:active\r\n" }));
        }
    }

    #[test]
    fn lines_that_are_not_needed_are_skipped() {
        let sdp = "v=0\r\na=candidate:1 1 tcp 9 192.0.2.1 9 typ host tcptype active\r\n\
                   a=candidate:2 2 udp 9 192.0.2.1 9 typ host\r\na=candidate:3 1 UDP 9 192.0.2.1 9 typ prflx\r\n\
                   a=candidate:\r\na=candidate:4 1 udp 9 192.0.2.2 10 typ host generation 0\r\n\
                   a=fingerprint:sha-1 00\r\na=ice-ufrag:abcd\r\na=ice-pwd:0123456789abcdef012345\r\n";
        assert_eq!(Description::from_sdp(sdp), None, "no fingerprint of SHA-256");
        let hex = ["0A"; 32].join(":");
        let found = Description::from_sdp(&format!("{sdp}a=fingerprint:SHA-256 {hex}\r\n")).unwrap();
        let at = WebCandidate::At(WebCandidateKind::Host, "192.0.2.2:10".parse().unwrap());
        assert_eq!((found.fingerprint, &found.candidates[..]), ([0x0A; 32], &[at][..]));
        assert_eq!(Description::from_sdp(&format!("{sdp}a=fingerprint:sha-256 {hex}:00\r\n")), None);
        assert_eq!(Description::from_sdp(&"a=".repeat(MAX_SDP)), None);
    }
}
