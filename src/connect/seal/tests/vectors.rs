//! The test vectors of `docs/vectors/encryption.txt`, as this crate computes them. `tests/vectors.rs` computes them without it.

use crate::connect::seal::channel::Channel;
use crate::connect::seal::code::{Comparison, commitment};
use crate::connect::seal::hash::hash;
use crate::connect::seal::mac::Mac;
use crate::connect::seal::noise::{self, KeyPair, Split};
use crate::connect::seal::padding::padded;
use crate::connect::seal::player::{PlayerKey, Verifier, prove};
use crate::connect::seal::random::Secret;
use crate::protocol::time::Time;
use crate::wire::seal::{self, InitHead, Kind, Pattern, Request, Retry};
use std::collections::BTreeMap;

const VECTORS: &str = include_str!("../../../../docs/vectors/encryption.txt");
const NONCE: u64 = 0x1122_3344_5566_7788;
const COOKIE: u64 = 0xC1C2_C3C4_C5C6_C7C8;
/// The joiner's number of its REQUEST and of its INIT, and the host's number of the connection.
const REQUEST_INDEX: u16 = 0x0A0B;
const JOINER: u16 = 0x0A0C;
const HOST: u16 = 0x0C0D;

/// The bytes of a block of the file.
fn block(name: &str) -> Vec<u8> {
    let start = format!("[{name}]\n");
    let (_, rest) = VECTORS.split_once(&start).unwrap_or_else(|| panic!("no block {name}"));
    let lines = rest.split("\n\n").next().unwrap().lines().map(|line| line.split(';').next().unwrap());
    let bytes = lines.flat_map(str::split_whitespace).map(|byte| u8::from_str_radix(byte, 16).unwrap());
    bytes.collect()
}

fn secret(first: u8) -> Secret {
    Secret(core::array::from_fn(|at| first + at as u8))
}

/// `len` bytes, each one more than the one before it.
fn counted(first: u8, len: u8) -> Vec<u8> {
    (0..len).map(|at| first + at).collect()
}

fn mac(datagram: &mut Vec<u8>, mac: Mac) {
    let covered = mac.write(datagram);
    datagram.extend(covered.to_be_bytes());
}

/// The handshake of a pattern: INIT, RESP and what they agree on.
fn handshake(
    pattern: Pattern,
    vectors: &mut BTreeMap<String, Vec<u8>>,
    host: &KeyPair,
) -> [(Channel, Split); 2] {
    let (key, name) = match pattern {
        Pattern::Invite => (Mac::of(&host.public), "invite"),
        Pattern::Signal => (Mac::of(&host.public), "signal"),
        Pattern::Open => (Mac::open(), "open"),
    };
    let mut note = |what: &str, bytes: &[u8]| vectors.insert(format!("{name}-{what}"), bytes.to_vec());
    let by_signal = pattern == Pattern::Signal;
    let mut buf = [0; 400];
    if !by_signal {
        let request = Request { pattern, index: REQUEST_INDEX, nonce: NONCE };
        let len = seal::encode_request(&request, |covered| key.write(covered), &mut buf).unwrap();
        note("request", &buf[..len]);
        let open_key = (pattern == Pattern::Open).then_some(host.public);
        let retry = Retry { index: REQUEST_INDEX, nonce: NONCE, cookie: COOKIE, open_key };
        let len = seal::encode_retry(&retry, |covered| key.write(covered), &mut buf).unwrap();
        note("retry", &buf[..len]);
    }
    let head = seal::init_head(&InitHead { pattern, index: JOINER, nonce: NONCE, cookie: COOKIE });
    let opening = padded(&counted(0, 123)).unwrap();
    let (mut joiner, len) = noise::begin(&host.public, &head, secret(0x41), &opening, &mut buf).unwrap();
    let mut init = [&head[..], &buf[..len]].concat();
    mac(&mut init, key);
    note("init", &init);
    let (mut opened, mut resp) = ([0; 400], [0; 400]);
    let (answering, len) =
        noise::accept(host, &head, secret(0x81), &init[21..init.len() - 8], &mut opened).unwrap();
    assert_eq!(opened[..len], opening);
    let part: [u8; 16] = core::array::from_fn(|at| 0xA0 + at as u8);
    let mut answer = HOST.to_be_bytes().to_vec();
    if pattern == Pattern::Open {
        answer.extend(commitment(&part));
    }
    let text = counted(100, 53);
    answer.extend(if by_signal { padded(&text).unwrap().to_vec() } else { text });
    let (ours, len) = answering.answer(&answer, &mut resp).unwrap();
    note("resp", &[&seal::resp_head(JOINER)[..], &resp[..len]].concat());
    let (theirs, len) = joiner.finish(&resp[..len], &mut opened).unwrap();
    assert_eq!(opened[..len], answer);
    note("keys", &[theirs.keys[0].0, theirs.keys[1].0, theirs.hash].concat());
    if pattern == Pattern::Open {
        note("code", &code(&theirs, part));
    }
    let [host, joiner] =
        [Channel::new(&ours, true, JOINER), Channel::new(&theirs, false, HOST)].map(Option::unwrap);
    [(host, ours), (joiner, theirs)]
}

/// The six digits, each as a byte.
fn code(split: &Split, ours: [u8; 16]) -> Vec<u8> {
    let part: [u8; 16] = core::array::from_fn(|at| 0xB0 + at as u8);
    let mut host = Comparison::host(split.hash, ours);
    let (text, _) = host.asked(part, true).unwrap();
    let digits = host.code().unwrap().digits;
    let mut joiner = Comparison::joiner(Time::ZERO, split.hash, commitment(&ours), part);
    assert!(joiner.revealed(&text));
    assert_eq!(joiner.code().unwrap().digits, digits);
    (0..6).rev().map(|place| (digits / 10_u32.pow(place) % 10) as u8).collect()
}

fn vectors() -> BTreeMap<String, Vec<u8>> {
    let mut vectors = BTreeMap::new();
    let host = KeyPair::new(secret(1));
    vectors.insert("public".to_owned(), host.public.to_vec());
    vectors.insert("mac-key".to_owned(), hash(b"mac", &[&host.public])[..16].to_vec());
    handshake(Pattern::Open, &mut vectors, &host);
    handshake(Pattern::Signal, &mut vectors, &host);
    let [(mut host, ours), (mut joiner, theirs)] = handshake(Pattern::Invite, &mut vectors, &host);
    let mut data = |channel: &mut Channel, name: &str, text: &[u8]| {
        let mut buf = [0; 300];
        buf[..text.len()].copy_from_slice(text);
        let len = channel.seal_data(&mut buf, text.len()).unwrap();
        vectors.insert(name.to_owned(), buf[..len].to_vec());
    };
    data(&mut joiner, "data-game", &[&b"GAME"[..], &counted(0, 11)].concat());
    data(&mut joiner, "data-plain", b"plain");
    data(&mut host, "data-inputs", &[&b"RBN1\x01"[..], &counted(0, 26)].concat());
    let mut buf = [0; 64];
    let len = joiner.seal_control(Kind::Challenge, &NONCE.to_be_bytes(), &mut buf).unwrap();
    vectors.insert("control".to_owned(), buf[..len].to_vec());
    let mut player = |name: &str, channel: &mut Channel, is_host: bool, first: u8| {
        let (keys, mut buf) = (KeyPair::new(secret(first)), [0; 100]);
        let (own, other) = if is_host { (&ours, &theirs) } else { (&theirs, &ours) };
        let text = prove(&keys, own, is_host).unwrap();
        assert_eq!(Verifier::new(other, is_host).check(&text), Some(PlayerKey(keys.public)));
        vectors.insert(format!("{name}-text"), text.to_vec());
        vectors.insert(format!("{name}-fingerprint"), PlayerKey(keys.public).to_string().into_bytes());
        let len = channel.seal_control(Kind::Player, &text, &mut buf).unwrap();
        vectors.insert(name.to_owned(), buf[..len].to_vec());
    };
    player("player-joiner", &mut joiner, false, 0x21);
    player("player-host", &mut host, true, 0x61);
    vectors
}

#[test]
fn every_vector_is_what_this_crate_sends() {
    let vectors = vectors();
    let mut names: Vec<&str> =
        VECTORS.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']')).collect();
    names.sort_unstable();
    let all: Vec<&str> = vectors.keys().map(String::as_str).collect();
    assert_eq!(names, all, "the blocks of the file");
    for (name, bytes) in &vectors {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X} ")).collect::<String>();
        assert_eq!(hex(&block(name)), hex(bytes), "{name}");
    }
}
