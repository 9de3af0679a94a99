//! The test vectors of `docs/vectors`, computed from the pages alone: with `snow`, `ring` and BLAKE2s, and nothing of this
//! crate. Another implementation can begin like this.

use blake2::{Blake2s256, Digest};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use std::hash::Hasher;

const VECTORS: &str = concat!(
    include_str!("../docs/vectors/encryption.txt"),
    "\n",
    include_str!("../docs/vectors/rendezvous.txt"),
    "\n",
    include_str!("../docs/vectors/spectators.txt")
);

fn block(name: &str) -> Vec<u8> {
    let (_, rest) = VECTORS.split_once(&format!("[{name}]\n")).expect("the block is in a file");
    let lines = rest.split("\n\n").next().unwrap().lines().map(|line| line.split(';').next().unwrap());
    lines.flat_map(str::split_whitespace).map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// `len` bytes, each one more than the one before it.
fn counted(first: u8, len: u8) -> Vec<u8> {
    (0..len).map(|at| first + at).collect()
}

fn hash(name: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Blake2s256::new();
    for part in [&b"rebout seal 1"[..], name].iter().chain(parts) {
        hasher.update((part.len() as u32).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// SipHash-2-4 under a key of 16 bytes.
#[allow(deprecated)]
fn mac(key: &[u8], bytes: &[u8]) -> [u8; 8] {
    let half = |at: usize| u64::from_le_bytes(key[at..at + 8].try_into().unwrap());
    let mut hasher = std::hash::SipHasher::new_with_keys(half(0), half(8));
    hasher.write(bytes);
    hasher.finish().to_be_bytes()
}

fn public(secret: &[u8]) -> Vec<u8> {
    let mut dh = DefaultResolver.resolve_dh(&DHChoice::Curve25519).unwrap();
    dh.set(secret);
    dh.pubkey().to_vec()
}

/// The primitives of `snow`, without randomness: every key is fixed.
struct Fixed;

impl CryptoResolver for Fixed {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Self))
    }
    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        DefaultResolver.resolve_dh(choice)
    }
    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }
    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        DefaultResolver.resolve_cipher(choice)
    }
}

impl Random for Fixed {
    fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), snow::Error> {
        Err(snow::Error::Rng)
    }
}

fn with_mac(key: &[u8], packet: Vec<u8>) -> Vec<u8> {
    let mac = mac(key, &packet);
    [packet, mac.to_vec()].concat()
}

const NONCE: [u8; 8] = [0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88];
const COOKIE: [u8; 8] = [0xC1, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7, 0xC8];

/// The handshake of a pattern, and the two keys that come out of it.
fn handshake(name: &str, pattern: u8, mac_key: &[u8]) -> ([[u8; 32]; 2], Vec<u8>) {
    let open = pattern == 2;
    let (host, joiner_ephemeral, host_ephemeral) = (counted(1, 32), counted(0x41, 32), counted(0x81, 32));
    let by_signal = pattern == 3;
    if !by_signal {
        let mut request = [&[0xE0, 1, pattern, 0x0A, 0x0B][..], &NONCE].concat();
        request.resize(if open { 56 } else { 24 }, 0);
        assert_eq!(with_mac(mac_key, request), block(&format!("{name}-request")));
        let key = if open { public(&host) } else { Vec::new() };
        let retry = [&[0xE1, 0x0A, 0x0B][..], &NONCE, &COOKIE, &key].concat();
        assert_eq!(with_mac(mac_key, retry), block(&format!("{name}-retry")));
    }
    let padded = |text: Vec<u8>| {
        let mut whole = [&(text.len() as u16).to_be_bytes()[..], &text].concat();
        whole.resize(256, 0);
        whole
    };
    let answer = counted(100, 53);
    let (first, second) = (padded(counted(0, 123)), if by_signal { padded(answer) } else { answer });

    let head = [&[0xE2, 1, pattern, 0x0A, 0x0C][..], &NONCE, &COOKIE].concat();
    let prologue = [&b"rebout seal 1"[..], &head].concat();
    let builder = || {
        let params = "Noise_NK_25519_ChaChaPoly_BLAKE2s".parse().unwrap();
        snow::Builder::with_resolver(params, Box::new(Fixed)).prologue(&prologue).unwrap()
    };
    let host_public = public(&host);
    let joiner = builder().fixed_ephemeral_key_for_testing_only(&joiner_ephemeral);
    let mut joiner = joiner.remote_public_key(&host_public).unwrap().build_initiator().unwrap();
    let responder = builder().fixed_ephemeral_key_for_testing_only(&host_ephemeral);
    let mut responder = responder.local_private_key(&host).unwrap().build_responder().unwrap();
    let (mut message, mut text) = ([0; 400], [0; 400]);
    let len = joiner.write_message(&first, &mut message).unwrap();
    let init = with_mac(mac_key, [&head[..], &message[..len]].concat());
    assert_eq!(init, block(&format!("{name}-init")));
    let len = responder.read_message(&message[..len], &mut text).unwrap();
    assert_eq!(text[..len], first);

    let part = counted(0xA0, 16);
    let commitment = if open { hash(b"commitment", &[&part])[..16].to_vec() } else { Vec::new() };
    let answer = [&[0x0C, 0x0D][..], &commitment, &second].concat();
    let len = responder.write_message(&answer, &mut message).unwrap();
    assert_eq!([&[0xE3, 0x0A, 0x0C][..], &message[..len]].concat(), block(&format!("{name}-resp")));
    let len = joiner.read_message(&message[..len], &mut text).unwrap();
    assert_eq!(text[..len], answer);
    let (first, second) = joiner.dangerously_get_raw_split();
    let transcript = joiner.get_handshake_hash().to_vec();
    assert_eq!([&first[..], &second, &transcript].concat(), block(&format!("{name}-keys")));
    if open {
        let digest = hash(b"code", &[&transcript, &part, &counted(0xB0, 16)]);
        let number = u64::from_be_bytes(digest[..8].try_into().unwrap()) % 1_000_000;
        let digits: Vec<u8> = format!("{number:06}").bytes().map(|digit| digit - b'0').collect();
        assert_eq!(digits, block("open-code"));
    }
    ([first, second], transcript)
}

/// The text by which a player proves its key: to the other side's ephemeral key, in a handshake with this hash.
fn player(secret: &[u8], ephemeral: &[u8], transcript: &[u8], is_host: bool) -> Vec<u8> {
    let mut dh = DefaultResolver.resolve_dh(&DHChoice::Curve25519).unwrap();
    dh.set(secret);
    let mut shared = [0; 32];
    dh.dh(&public(ephemeral), &mut shared).unwrap();
    let key = public(secret);
    let proof = hash(b"player", &[&shared, transcript, &key, &[u8::from(is_host)]]);
    [&key[..], &proof].concat()
}

/// The first 80 bits of the hash of a player's key, in four groups of characters of five bits.
fn fingerprint(key: &[u8]) -> Vec<u8> {
    let digest = hash(b"fingerprint", &[key]);
    let bits = digest[..10].iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    let characters = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let text: Vec<u8> = (0..16).rev().map(|at| characters[(bits >> (5 * at) & 31) as usize]).collect();
    text.chunks(4).collect::<Vec<_>>().join(&b'-')
}

fn sealed(key: &[u8; 32], counter: u64, head: &[u8], text: &[u8]) -> Vec<u8> {
    let key = LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, key).unwrap());
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&counter.to_le_bytes());
    let mut sealed = text.to_vec();
    let nonce = Nonce::assume_unique_for_key(nonce);
    key.seal_in_place_append_tag(nonce, Aad::from(head), &mut sealed).unwrap();
    [head, &sealed].concat()
}

#[test]
fn vectors_of_the_page_follow_from_its_keys() {
    let host = public(&counted(1, 32));
    assert_eq!(host, block("public"));
    let mac_key = &hash(b"mac", &[&host])[..16];
    assert_eq!(mac_key, block("mac-key"));
    handshake("open", 2, &[0; 16]);
    handshake("signal", 3, mac_key);
    let ([from_joiner, from_host], transcript) = handshake("invite", 1, mac_key);
    for (name, own, other, is_host, key, counter, head) in [
        ("player-joiner", 0x21, 0x81, false, from_joiner, 3, [0xE7, 0x0C, 0x0D, 0, 0, 0, 3, 8]),
        ("player-host", 0x61, 0x41, true, from_host, 1, [0xE7, 0x0A, 0x0C, 0, 0, 0, 1, 8]),
    ] {
        let text = player(&counted(own, 32), &counted(other, 32), &transcript, is_host);
        assert_eq!(text, block(&format!("{name}-text")), "{name}");
        assert_eq!(fingerprint(&text[..32]), block(&format!("{name}-fingerprint")), "{name}");
        assert_eq!(sealed(&key, counter, &head, &text), block(name), "{name}");
    }
    for (name, key, counter, head, text) in [
        ("data-game", from_joiner, 0, &[0xE6, 0x0C, 0x0D, 0, 0][..], counted(0, 11)),
        ("data-plain", from_joiner, 1, &[0xE4, 0x0C, 0x0D, 0, 1], b"plain".to_vec()),
        ("control", from_joiner, 2, &[0xE7, 0x0C, 0x0D, 0, 0, 0, 2, 3], NONCE.to_vec()),
        ("data-inputs", from_host, 0, &[0xE5, 0x0A, 0x0C, 0, 0], counted(0, 26)),
    ] {
        assert_eq!(sealed(&key, counter, head, &text), block(name), "{name}");
    }
}

/// The packets of a rendezvous by name, in parts.
fn rendezvous_packets() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    use ring::signature::KeyPair as _;
    let pair = ring::signature::Ed25519KeyPair::from_seed_unchecked(&counted(1, 32)).unwrap();
    let key = pair.public_key().as_ref().to_vec();
    let room = ring::digest::digest(&ring::digest::SHA256, &key).as_ref()[..16].to_vec();
    let (ticket, guest) = (counted(0x71, 8), counted(0xD1, 8));
    let observed = [&[0; 10][..], &[0xFF, 0xFF, 192, 0, 2, 7, 0x1B, 0x58]].concat();
    let signature = pair.sign(&[&b"rebout room 1"[..], &COOKIE, &ticket, &observed].concat());
    let (mut init, mut resp) = (vec![0xE2], vec![0xE3]);
    init.resize(53, 0);
    resp.resize(53, 0);
    let request = |first: u8| vec![vec![first, 1], NONCE.to_vec(), COOKIE.to_vec()];
    let relay = [&[0x20, 0x01, 0x0D, 0xB8][..], &[0; 11], &[9], &[0x0D, 0x96]].concat();
    let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, b"north");
    let password = ring::hmac::sign(&secret, b"1700000000:0102030405ff");
    let lasts = [1_700_000_000_u32.to_be_bytes().to_vec(), 600_u16.to_be_bytes().to_vec()].concat();
    let turn = vec![relay, lasts, vec![1, 2, 3, 4, 5, 0xFF], password.as_ref().to_vec()];
    vec![
        ("register", [request(0xE8), vec![key, ticket.clone(), signature.as_ref().to_vec()]].concat()),
        ("ask", [request(0xE9), vec![room.clone(), vec![0; 54]]].concat()),
        ("post", [request(0xEA), vec![room, init.clone()]].concat()),
        ("answer", vec![vec![0xEB, 1], guest.clone(), resp.clone()]),
        ("cookie", vec![vec![0xEC], NONCE.to_vec(), COOKIE.to_vec(), observed.clone()]),
        ("grant", [vec![vec![0xED], NONCE.to_vec(), observed, ticket], turn].concat()),
        ("deliver", vec![vec![0xEE], NONCE.to_vec(), guest, init]),
        ("posted", vec![vec![0xEF], NONCE.to_vec(), vec![0]]),
        ("answered", vec![vec![0xEF], NONCE.to_vec(), vec![1], resp]),
    ]
}

#[test]
fn packets_of_a_rendezvous_follow_from_its_key() {
    let mut wrong = String::new();
    for (name, parts) in rendezvous_packets() {
        if block(&format!("rendezvous-{name}")) != parts.concat() {
            let lines =
                parts.iter().map(|part| part.iter().map(|b| format!("{b:02X} ")).collect::<String>() + "\n");
            wrong += &format!("[rendezvous-{name}]\n{}\n", lines.collect::<String>());
        }
    }
    assert!(wrong.is_empty(), "the file should have\n{wrong}");
}

/// The packets of a broadcast by name, in parts.
fn broadcast_packets() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let pair = ring::signature::Ed25519KeyPair::from_seed_unchecked(&counted(1, 32)).unwrap();
    let (id, number, log) = (counted(0x31, 16), vec![0, 0, 0, 1], counted(0, 120));
    let mut hasher = Blake2s256::new();
    [&b"rebout log 1"[..], &id, &number, &log].iter().for_each(|part| hasher.update(part));
    let hash: [u8; 32] = hasher.finalize().into();
    let statement = [&id[..], &number, &[0], &[0, 0, 0, 120], &hash].concat();
    let signature = pair.sign(&[&b"rebout broadcast 1"[..], &statement].concat());
    let status = vec![0, 3, 0, 0, 0x27, 0x10];
    let four = |number: u8| vec![0, 0, 0, number];
    vec![
        ("watch", vec![vec![0x01, 1], vec![0; 16], four(0)]),
        ("ack", vec![vec![0x02, 1], four(1), four(40), four(120), four(80), four(100)]),
        ("leave", vec![vec![0x03]]),
        (
            "head",
            vec![
                vec![0x10, 1],
                status.clone(),
                id,
                number,
                vec![0],
                four(120),
                hash.to_vec(),
                signature.as_ref().to_vec(),
            ],
        ),
        ("data", vec![vec![0x11], four(1), four(80), log[80..100].to_vec()]),
        ("wait", vec![vec![0x12, 1], status, vec![0xFF; 4]]),
        ("bye", vec![vec![0x13, 1]]),
    ]
}

#[test]
fn packets_of_a_broadcast_follow_from_its_key() {
    let mut wrong = String::new();
    for (name, parts) in broadcast_packets() {
        if block(&format!("broadcast-{name}")) != parts.concat() {
            let lines =
                parts.iter().map(|part| part.iter().map(|b| format!("{b:02X} ")).collect::<String>() + "\n");
            wrong += &format!("[broadcast-{name}]\n{}\n", lines.collect::<String>());
        }
    }
    assert!(wrong.is_empty(), "the file should have\n{wrong}");
}
