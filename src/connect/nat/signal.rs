//! The text of a signal: ICE credentials and candidates, as they travel inside INIT, RESP and sealed control packets.

use super::candidate::{Bases, Candidate, Kind, MAX_CANDIDATES};
use super::tunnel::Certificate;
// The characters of base 64 are `ice-char` of RFC 8839.
use crate::connect::rendezvous::credentials::BASE64 as ICE_CHARS;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

const VERSION: u8 = 1;
/// Version, flags, generation, revision, the peer's revision, credentials, number of candidates.
const HEAD_LEN: usize = 5 + UFRAG_LEN + PASSWORD_LEN + 1;
/// The longest signal of this version.
#[cfg(test)]
const MAX_LEN: usize = HEAD_LEN + MAX_CANDIDATES * 19;

const UFRAG_LEN: usize = 4;
const PASSWORD_LEN: usize = 22;

/// The sender wants no path through a relay.
const FLAG_NO_RELAY: u8 = 1;
/// The sender does not know whether this revision has arrived, and wants a signal back.
const FLAG_WANTS_ANSWER: u8 = 2;

/// The credentials of one side of one search: every check is authenticated by them. Those of browsers are longer than ours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Credentials {
    ufrag: Text<32>,
    password: Text<48>,
}

/// Some characters, and their number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Text<const N: usize>([u8; N], u8);

impl<const N: usize> Text<N> {
    /// The first `N` characters.
    fn new(characters: &[u8]) -> Self {
        let len = characters.len().min(N);
        let mut text = [0; N];
        text[..len].copy_from_slice(&characters[..len]);
        Self(text, len as u8)
    }

    fn bytes(&self) -> &[u8] {
        &self.0[..usize::from(self.1)]
    }
}

impl Credentials {
    /// Credentials of 24 and 132 random bits.
    pub(super) fn draw(bytes: &[u8; 32]) -> Self {
        let character = |at: usize| ICE_CHARS[usize::from(bytes[at] & 63)];
        let (ufrag, password): ([u8; UFRAG_LEN], [u8; PASSWORD_LEN]) =
            (core::array::from_fn(character), core::array::from_fn(|at| character(UFRAG_LEN + at)));
        Self { ufrag: Text::new(&ufrag), password: Text::new(&password) }
    }

    /// Credentials that another side has named.
    #[cfg(feature = "webrtc")]
    pub(super) fn of(ufrag: &str, password: &str) -> Self {
        Self { ufrag: Text::new(ufrag.as_bytes()), password: Text::new(password.as_bytes()) }
    }

    pub(super) fn for_ice(&self) -> is::IceCreds {
        let text = |characters: &[u8]| characters.iter().copied().map(char::from).collect();
        is::IceCreds { ufrag: text(self.ufrag.bytes()), pass: text(self.password.bytes()) }
    }
}

opaque_debug!(Credentials);

/// Our part of one search, with credentials of its own.
#[derive(Debug)]
pub(super) struct OwnPart {
    pub(super) credentials: Credentials,
    pub(super) tie_breaker: u64,
    pub(super) bases: Bases,
    pub(super) candidates: Vec<Candidate>,
    pub(super) no_relay: bool,
    /// The number of this part.
    pub(super) number: u64,
    /// The certificate for a data channel, if the peer is reached over one.
    pub(super) certificate: Option<Arc<Certificate>>,
}

/// A signal: one side's part of one search for paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signal {
    /// Whether the sender wants no path through a relay.
    pub(super) no_relay: bool,
    /// Whether the sender wants a signal back, because it does not know whether this one has arrived.
    pub(super) wants_answer: bool,
    /// The number of the search, which each new one raises.
    pub(super) generation: u8,
    /// Counts the signals of the sender in this search that name more candidates, from 1 on.
    pub(super) revision: u8,
    /// The newest revision of the receiver's signal in this search that the sender has; 0 if it has none.
    pub(super) heard: u8,
    pub(super) credentials: Credentials,
    pub(super) candidates: Vec<Candidate>,
    /// The fingerprint of the sender's certificate, if it wants a data channel.
    pub(super) fingerprint: Option<[u8; 32]>,
}

impl Signal {
    pub(super) fn encode(&self) -> Vec<u8> {
        #[cfg(feature = "webrtc")]
        if let Some(fingerprint) = self.fingerprint {
            return super::web_signal::encode(self, fingerprint);
        }
        let mut text = Vec::with_capacity(HEAD_LEN + 19 * self.candidates.len());
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = flag(self.no_relay, FLAG_NO_RELAY) | flag(self.wants_answer, FLAG_WANTS_ANSWER);
        text.extend([VERSION, flags, self.generation, self.revision, self.heard]);
        text.extend(self.credentials.ufrag.bytes());
        text.extend(self.credentials.password.bytes());
        text.push(self.candidates.len().min(MAX_CANDIDATES) as u8);
        for Candidate { kind, addr } in self.candidates.iter().take(MAX_CANDIDATES) {
            text.push((*kind as u8) << 1 | u8::from(addr.is_ipv6()));
            match addr.ip() {
                IpAddr::V4(ip) => text.extend(ip.octets()),
                IpAddr::V6(ip) => text.extend(ip.octets()),
            }
            text.extend(addr.port().to_be_bytes());
        }
        text
    }

    /// Reads a signal. It was opened by its receiver's key, but may still be the work of a peer that lies.
    pub(super) fn decode(text: &[u8]) -> Option<Self> {
        #[cfg(feature = "webrtc")]
        if let Some(signal) = super::web_signal::decode(text) {
            return Some(signal);
        }
        let (head, mut rest) = text.split_first_chunk::<HEAD_LEN>()?;
        let [version, flags, generation, revision, heard, ref rest_of_head @ ..] = *head;
        if version != VERSION || flags & !(FLAG_NO_RELAY | FLAG_WANTS_ANSWER) != 0 || revision == 0 {
            return None;
        }
        let (ufrag, password) = (rest_of_head.get(..UFRAG_LEN)?, rest_of_head.get(UFRAG_LEN..)?);
        let password = password.get(..PASSWORD_LEN)?;
        let credentials = Credentials { ufrag: Text::new(ufrag), password: Text::new(password) };
        let mut characters = ufrag.iter().chain(password);
        let count = usize::from(head[HEAD_LEN - 1]);
        if characters.any(|one| !ICE_CHARS.contains(one)) || count > MAX_CANDIDATES {
            return None;
        }
        let mut candidates = Vec::with_capacity(count);
        for _ in 0..count {
            candidates.push(take_candidate(&mut rest)?);
        }
        let [no_relay, wants_answer] = [FLAG_NO_RELAY, FLAG_WANTS_ANSWER].map(|flag| flags & flag != 0);
        let fingerprint = None;
        let signal = Self {
            no_relay,
            wants_answer,
            generation,
            revision,
            heard,
            credentials,
            candidates,
            fingerprint,
        };
        rest.is_empty().then_some(signal)
    }
}

fn take_candidate(rest: &mut &[u8]) -> Option<Candidate> {
    let head = *rest.split_off_first()?;
    let kind = match head >> 1 {
        0 => Kind::Host,
        1 => Kind::Reflexive,
        2 => Kind::Relayed,
        _ => return None,
    };
    let ip = match head & 1 {
        0 => IpAddr::from(*rest.split_off(..4)?.first_chunk::<4>()?),
        _ => IpAddr::from(*rest.split_off(..16)?.first_chunk::<16>()?),
    };
    let port = u16::from_be_bytes(*rest.split_off(..2)?.first_chunk()?);
    Some(Candidate { kind, addr: SocketAddr::new(ip, port) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(candidates: usize) -> Signal {
        let kinds = [Kind::Host, Kind::Reflexive, Kind::Relayed];
        let candidates = (0..candidates).map(|n| Candidate {
            kind: kinds[n % 3],
            addr: if n % 2 == 0 {
                format!("192.0.2.{n}:7{n}").parse().unwrap()
            } else {
                format!("[2001:db8::{n}]:7{n}").parse().unwrap()
            },
        });
        let credentials = Credentials::draw(&core::array::from_fn(|at| at as u8 * 7));
        Signal {
            no_relay: candidates.len() % 2 == 1,
            wants_answer: candidates.len() % 3 == 1,
            generation: 3,
            revision: 2,
            heard: 1,
            credentials,
            candidates: candidates.collect(),
            fingerprint: None,
        }
    }

    #[test]
    fn signal_is_read_as_it_was_written_and_fits_into_its_packets() {
        for candidates in 0..=MAX_CANDIDATES {
            let signal = signal(candidates);
            assert_eq!(Signal::decode(&signal.encode()), Some(signal));
        }
        const { assert!(MAX_LEN <= 254) };
    }

    #[test]
    fn signal_that_is_cut_longer_or_of_another_kind_is_refused() {
        let text = signal(8).encode();
        for len in 0..text.len() {
            assert_eq!(Signal::decode(&text[..len]), None, "{len}");
        }
        let refused = |at: usize, byte: u8| {
            let mut text = text.clone();
            text[at] = byte;
            assert_eq!(Signal::decode(&text), None, "{byte} at {at}");
        };
        (0..=255).filter(|byte| *byte != VERSION).for_each(|byte| refused(0, byte));
        (4..=255).for_each(|byte| refused(1, byte));
        refused(3, 0);
        refused(7, b'"');
        refused(HEAD_LEN - 1, 9);
        refused(HEAD_LEN, 6);
        assert_eq!(Signal::decode(&[&text[..], &[0]].concat()), None);
    }

    #[test]
    fn signal_vector_is_what_the_code_writes() {
        let vectors = include_str!("../../../docs/vectors/rendezvous.txt");
        let block = vectors.split("[signal]\n").nth(1).unwrap().split("\n\n").next().unwrap();
        let digits = block.lines().flat_map(|line| line.split(';').next().unwrap().split_whitespace());
        let text: Vec<u8> = digits.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        let candidate = Candidate { kind: Kind::Reflexive, addr: "203.0.113.9:7000".parse().unwrap() };
        let signal =
            Signal { generation: 0, revision: 1, heard: 0, candidates: vec![candidate], ..signal(0) };
        assert_eq!((signal.encode(), Signal::decode(&text)), (text, Some(signal)));
    }

    #[test]
    fn credentials_are_not_printed() {
        assert!(!format!("{:?}", signal(1)).contains("AHOV"), "{:?}", signal(1));
        assert_eq!(signal(1).credentials.for_ice().ufrag, "AHOV");
    }

    #[test]
    fn signal_of_more_candidates_than_fit_has_the_first() {
        let whole = signal(MAX_CANDIDATES + 1);
        let read = Signal::decode(&whole.encode()).unwrap();
        assert_eq!(read.candidates, whole.candidates[..MAX_CANDIDATES]);
        let mut text = signal(MAX_CANDIDATES).encode();
        text[HEAD_LEN - 1] += 1;
        let one_more = text[HEAD_LEN..HEAD_LEN + 7].to_vec();
        assert_eq!(Signal::decode(&[text, one_more].concat()), None, "one too many");
    }
}
