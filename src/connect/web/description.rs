//! One side of a peer connection: the credentials of its ICE agent, the fingerprint of its certificate, and its candidates.

use core::fmt;
use std::net::{IpAddr, SocketAddr};

/// The most candidates of a description.
pub(crate) const MAX_CANDIDATES: usize = 8;
/// The lengths of a user name fragment and of a password. RFC 8839 allows 256 characters; browsers use up to 8 and 32.
const UFRAG_LEN: core::ops::RangeInclusive<usize> = 4..=32;
const PASSWORD_LEN: core::ops::RangeInclusive<usize> = 22..=48;
/// The most bytes of a description: with the numbers of a signal it has to fit into 254.
pub(crate) const MAX_BYTES: usize = 245;
/// The first byte of a candidate whose address only its own network knows.
const HIDDEN: u8 = 6;

/// How a machine came to know an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebCandidateKind {
    /// The address of an interface.
    Host,
    /// The address outside of a NAT, as a server has seen it.
    Reflexive,
    /// The address of an allocation on a relay.
    Relayed,
}

/// An address at which a side may be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebCandidate {
    /// An address.
    At(WebCandidateKind, SocketAddr),
    /// The name that a browser gives to an address which it does not tell (`UUID.local`), and the port. Machines in its own
    /// network may find it by mDNS.
    Hidden([u8; 16], u16),
}

/// One side of a peer connection.
#[derive(Clone, PartialEq, Eq)]
pub struct Description {
    /// The user name fragment of ICE.
    pub(crate) ufrag: String,
    /// The password of ICE.
    pub(crate) password: String,
    /// The SHA-256 of the DTLS certificate.
    pub(crate) fingerprint: [u8; 32],
    pub(crate) candidates: Vec<WebCandidate>,
}

/// Without the password.
impl fmt::Debug for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Description").field("candidates", &self.candidates).finish_non_exhaustive()
    }
}

/// Whether this is a character of a user name fragment or a password (`ice-char` of RFC 8839).
fn is_ice_char(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

fn is_text(text: &str, lengths: &core::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&text.len()) && text.bytes().all(is_ice_char)
}

impl Description {
    /// `None` if a text is too short, too long or has other characters than ICE allows. Candidates beyond those that fit are left out.
    pub(crate) fn new(
        ufrag: &str,
        password: &str,
        fingerprint: [u8; 32],
        candidates: impl IntoIterator<Item = WebCandidate>,
    ) -> Option<Self> {
        if !is_text(ufrag, &UFRAG_LEN) || !is_text(password, &PASSWORD_LEN) {
            return None;
        }
        let (ufrag, password) = (ufrag.to_owned(), password.to_owned());
        let mut found = Self { ufrag, password, fingerprint, candidates: Vec::new() };
        for candidate in candidates {
            let is_known = found.candidates.contains(&candidate);
            let fits = found.len() + candidate_len(&candidate) <= MAX_BYTES;
            if !is_known && fits && found.candidates.len() < MAX_CANDIDATES {
                found.candidates.push(candidate);
            }
        }
        Some(found)
    }

    fn len(&self) -> usize {
        let candidates: usize = self.candidates.iter().map(candidate_len).sum();
        32 + 1 + self.ufrag.len() + 1 + self.password.len() + 1 + candidates
    }

    /// Appends the bytes.
    pub(crate) fn put(&self, text: &mut Vec<u8>) {
        text.extend(self.fingerprint);
        for part in [&self.ufrag, &self.password] {
            text.push(part.len() as u8);
            text.extend(part.as_bytes());
        }
        text.push(self.candidates.len() as u8);
        for candidate in &self.candidates {
            let (head, port) = match candidate {
                WebCandidate::At(kind, addr) => ((*kind as u8) << 1 | u8::from(addr.is_ipv6()), addr.port()),
                WebCandidate::Hidden(_, port) => (HIDDEN, *port),
            };
            text.push(head);
            match candidate {
                WebCandidate::At(_, addr) => match addr.ip() {
                    IpAddr::V4(ip) => text.extend(ip.octets()),
                    IpAddr::V6(ip) => text.extend(ip.octets()),
                },
                WebCandidate::Hidden(name, _) => text.extend(name),
            }
            text.extend(port.to_be_bytes());
        }
    }

    /// Reads a description that ends with the bytes.
    pub(crate) fn read(mut text: &[u8]) -> Option<Self> {
        let fingerprint = *text.split_off(..32)?.first_chunk()?;
        let ufrag = take_text(&mut text)?;
        let password = take_text(&mut text)?;
        let count = usize::from(*text.split_off_first()?);
        if count > MAX_CANDIDATES {
            return None;
        }
        let mut candidates = Vec::with_capacity(count);
        for _ in 0..count {
            candidates.push(take_candidate(&mut text)?);
        }
        let description = Self::new(ufrag, password, fingerprint, candidates.iter().copied())?;
        // A reader takes what its writer could have written.
        (text.is_empty() && description.candidates == candidates).then_some(description)
    }
}

fn candidate_len(candidate: &WebCandidate) -> usize {
    match candidate {
        WebCandidate::At(_, SocketAddr::V4(_)) => 7,
        WebCandidate::At(_, SocketAddr::V6(_)) | WebCandidate::Hidden(..) => 19,
    }
}

fn take_text<'a>(text: &mut &'a [u8]) -> Option<&'a str> {
    let len = usize::from(*text.split_off_first()?);
    str::from_utf8(text.split_off(..len)?).ok()
}

fn take_candidate(text: &mut &[u8]) -> Option<WebCandidate> {
    let head = *text.split_off_first()?;
    let port = |text: &mut &[u8]| Some(u16::from_be_bytes(*text.split_off(..2)?.first_chunk()?));
    if head == HIDDEN {
        let name = *text.split_off(..16)?.first_chunk()?;
        return Some(WebCandidate::Hidden(name, port(text)?));
    }
    let kind = match head >> 1 {
        0 => WebCandidateKind::Host,
        1 => WebCandidateKind::Reflexive,
        2 => WebCandidateKind::Relayed,
        _ => return None,
    };
    let ip = match head & 1 {
        0 => IpAddr::from(*text.split_off(..4)?.first_chunk::<4>()?),
        _ => IpAddr::from(*text.split_off(..16)?.first_chunk::<16>()?),
    };
    Some(WebCandidate::At(kind, SocketAddr::new(ip, port(text)?)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn example() -> Description {
        let candidates = [
            WebCandidate::Hidden([0xAB; 16], 50_000),
            WebCandidate::At(WebCandidateKind::Reflexive, "203.0.113.9:7000".parse().unwrap()),
            WebCandidate::At(WebCandidateKind::Relayed, "[2001:db8::1]:9".parse().unwrap()),
        ];
        Description::new("Ab+/", "0123456789abcdefABCDEF+/", [7; 32], candidates).unwrap()
    }

    #[test]
    fn description_comes_back_from_its_bytes() {
        let mut text = Vec::new();
        example().put(&mut text);
        assert_eq!(Description::read(&text), Some(example()));
        for len in 0..text.len() {
            assert_eq!(Description::read(&text[..len]), None, "cut at {len}");
        }
        assert_eq!(Description::read(&[&text[..], &[0]].concat()), None);
    }

    #[test]
    fn bad_texts_of_a_description_are_refused() {
        let with = |ufrag: &str, password: &str| Description::new(ufrag, password, [0; 32], []);
        let password = "p".repeat(22);
        assert!(with("abcd", &password).is_some() && with(&"a".repeat(32), &"p".repeat(48)).is_some());
        let long = ["a".repeat(33), "p".repeat(49)];
        for (ufrag, password) in [
            ("abc", &password[..]),
            ("ab\r\n", &password),
            (&long[0], &password),
            ("abcd", "short"),
            ("abcd", &long[1]),
        ] {
            assert!(with(ufrag, password).is_none(), "{ufrag:?} {password:?}");
        }
        let mut text = Vec::new();
        example().put(&mut text);
        text[33] = b'\n';
        assert_eq!(Description::read(&text), None);
    }

    #[test]
    fn description_has_as_many_candidates_as_fit() {
        let candidates = (1..=20_u16).map(|n| WebCandidate::Hidden([n as u8; 16], n));
        let long = Description::new(&"a".repeat(32), &"p".repeat(48), [1; 32], candidates).unwrap();
        let mut text = Vec::new();
        long.put(&mut text);
        assert!(text.len() <= MAX_BYTES && long.candidates.len() == 6, "{}", text.len());
    }
}
