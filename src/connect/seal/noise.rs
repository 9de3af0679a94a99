//! The handshake `Noise_NK_25519_ChaChaPoly_BLAKE2s`, by `snow`, on primitives of our own choice.

use super::primitives::{Primitives, public_key};
use super::random::Secret;
use crate::wire::seal::KEY_LEN;
use snow::{Builder, HandshakeState};
use zeroize::Zeroize;

const PATTERN: &str = "Noise_NK_25519_ChaChaPoly_BLAKE2s";
/// The prologue begins with these bytes, and goes on with the head of the INIT.
const PROLOGUE: &[u8] = b"rebout seal 1";

/// The results of a handshake.
pub(super) struct Split {
    /// The key from joiner to host, and the key from host to joiner.
    pub(super) keys: [Secret; 2],
    /// The hash of everything that was said.
    pub(super) hash: [u8; 32],
    /// The private ephemeral key of this side, and the public one of the other.
    pub(super) ephemerals: (Secret, [u8; KEY_LEN]),
}

/// A handshake in which one message has been handled.
pub(super) struct Handshake {
    state: HandshakeState,
    ephemeral: Secret,
    /// The ephemeral key of the other side; zeros before its message.
    theirs: [u8; KEY_LEN],
}

opaque_debug!(Handshake);

/// A pair of keys. It is not `Debug`: the public key of an invite is secret, because it grants the right to join.
pub(super) struct KeyPair {
    pub(super) secret: Secret,
    pub(super) public: [u8; KEY_LEN],
}

impl Drop for KeyPair {
    fn drop(&mut self) {
        self.public.zeroize();
    }
}

impl KeyPair {
    pub(super) fn new(secret: Secret) -> Self {
        Self { public: public_key(&secret), secret }
    }
}

/// Begins a handshake with the host of `host_key`: writes the message of an INIT behind `head` into `out`, and returns its
/// length. `None` if the key is of low order.
pub(super) fn begin(
    host_key: &[u8; KEY_LEN],
    head: &[u8],
    ephemeral: Secret,
    text: &[u8],
    out: &mut [u8],
) -> Option<(Handshake, usize)> {
    let prologue = [PROLOGUE, head].concat();
    let builder = builder(ephemeral.clone())?.prologue(&prologue).ok()?.remote_public_key(host_key).ok()?;
    let mut state = builder.build_initiator().ok()?;
    let len = state.write_message(text, out).ok()?;
    Some((Handshake { state, ephemeral, theirs: [0; KEY_LEN] }, len))
}

/// Reads the message of an INIT into `text`, and returns its length. `None` if it does not fit the key.
pub(super) fn accept(
    keys: &KeyPair,
    head: &[u8],
    ephemeral: Secret,
    message: &[u8],
    text: &mut [u8],
) -> Option<(Handshake, usize)> {
    let prologue = [PROLOGUE, head].concat();
    let builder = builder(ephemeral.clone())?.prologue(&prologue).ok()?;
    let mut state = builder.local_private_key(&keys.secret.0).ok()?.build_responder().ok()?;
    let len = state.read_message(message, text).ok()?;
    Some((Handshake { state, ephemeral, theirs: *message.first_chunk()? }, len))
}

impl Handshake {
    /// Writes the message of a RESP into `out`, and returns its length.
    pub(super) fn answer(mut self, text: &[u8], out: &mut [u8]) -> Option<(Split, usize)> {
        let len = self.state.write_message(text, out).ok()?;
        Some((self.split(), len))
    }

    /// Reads the message of a RESP into `text`, and returns its length. A message that does not fit changes nothing.
    pub(super) fn finish(&mut self, message: &[u8], text: &mut [u8]) -> Option<(Split, usize)> {
        let len = self.state.read_message(message, text).ok()?;
        self.theirs = *message.first_chunk()?;
        Some((self.split(), len))
    }

    fn split(&mut self) -> Split {
        let (mut first, mut second) = self.state.dangerously_get_raw_split();
        let keys = [Secret(first), Secret(second)];
        first.zeroize();
        second.zeroize();
        let hash = self.state.get_handshake_hash().try_into().unwrap_or_default();
        Split { keys, hash, ephemerals: (self.ephemeral.clone(), self.theirs) }
    }
}

fn builder<'a>(ephemeral: Secret) -> Option<Builder<'a>> {
    let params = PATTERN.parse().ok()?;
    Some(Builder::with_resolver(params, Box::new(Primitives { ephemeral })))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: [u8; 21] = [9; 21];

    fn keys(byte: u8) -> KeyPair {
        KeyPair::new(Secret([byte; 32]))
    }

    #[test]
    fn two_sides_agree_on_keys_and_hash() {
        let host = keys(1);
        let (mut init, mut resp, mut text) = ([0; 300], [0; 300], [0; 300]);
        let (mut joiner, len) = begin(&host.public, &HEAD, Secret([2; 32]), b"hello", &mut init).unwrap();
        assert_eq!(len, 32 + 5 + 16);
        let (answering, read) = accept(&host, &HEAD, Secret([3; 32]), &init[..len], &mut text).unwrap();
        assert_eq!(&text[..read], b"hello");
        let (ours, len) = answering.answer(b"offer", &mut resp).unwrap();
        for at in 0..len {
            let mut bad = resp;
            bad[at] ^= 1;
            assert!(joiner.finish(&bad[..len], &mut text).is_none(), "byte {at}");
        }
        let (theirs, read) = joiner.finish(&resp[..len], &mut text).unwrap();
        assert_eq!(&text[..read], b"offer");
        assert_eq!(
            (ours.hash, &ours.keys[0].0, &ours.keys[1].0),
            (theirs.hash, &theirs.keys[0].0, &theirs.keys[1].0)
        );
        assert_ne!(ours.keys[0].0, ours.keys[1].0);
    }

    #[test]
    fn another_key_another_head_or_another_byte_is_refused() {
        let host = keys(1);
        let (mut init, mut text) = ([0; 300], [0; 300]);
        let (_, len) = begin(&host.public, &HEAD, Secret([2; 32]), b"hello", &mut init).unwrap();
        let mut taken = |keys: &KeyPair, head: &[u8], init: &[u8]| {
            accept(keys, head, Secret([3; 32]), init, &mut text).is_some()
        };
        assert!(taken(&host, &HEAD, &init[..len]));
        assert!(!taken(&keys(4), &HEAD, &init[..len]));
        for at in 0..HEAD.len() {
            let mut head = HEAD;
            head[at] ^= 1;
            assert!(!taken(&host, &head, &init[..len]), "byte {at} of the head");
        }
        for at in 0..len {
            let mut bad = init;
            bad[at] ^= 1;
            assert!(!taken(&host, &HEAD, &bad[..len]), "byte {at}");
        }
    }

    /// The points of small order on the curve and its twist, and two that are not reduced.
    #[test]
    fn keys_of_low_order_are_refused() {
        let mut order_8 = [0; 32];
        order_8.copy_from_slice(&[
            0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
            0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00,
        ]);
        let mut one = [0; 32];
        one[0] = 1;
        let (mut minus_one, mut zero_again) = ([0xff; 32], [0xff; 32]);
        (minus_one[0], minus_one[31]) = (0xec, 0x7f);
        (zero_again[0], zero_again[31]) = (0xed, 0x7f);
        for low in [[0; 32], one, minus_one, zero_again, order_8] {
            let mut init = [0; 300];
            assert!(begin(&low, &HEAD, Secret([2; 32]), b"hello", &mut init).is_none(), "as a host's key");
            init[..32].copy_from_slice(&low);
            assert!(accept(&keys(1), &HEAD, Secret([3; 32]), &init[..53], &mut [0; 300]).is_none());
        }
    }
}
