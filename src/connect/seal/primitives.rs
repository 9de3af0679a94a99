//! The primitives that the handshake runs on: X25519 that refuses zero, BLAKE2s, the cipher of the packets, and one key of our
//! own randomness. `snow` has implementations too, whose ciphers would be built beside the one that every packet needs.

use super::cipher;
use super::random::Secret;
use crate::wire::seal::{KEY_LEN, TAG_LEN};
use blake2::{Blake2s256, Digest};
use curve25519_dalek::montgomery::MontgomeryPoint;
use snow::Error;
use snow::params::{CipherChoice, DHChoice, HashChoice};
use snow::resolvers::CryptoResolver;
use snow::types::{Cipher, Dh, Hash, Random};

const HASH_LEN: usize = 32;
const BLOCK_LEN: usize = 64;

/// The public key of a secret.
pub(super) fn public_key(secret: &Secret) -> [u8; KEY_LEN] {
    MontgomeryPoint::mul_base_clamped(secret.0).to_bytes()
}

/// X25519 of a secret and a public key; `None` if the result is zero: a key of low order would make it known to everybody.
pub(super) fn shared_secret(secret: &Secret, public: [u8; KEY_LEN]) -> Option<Secret> {
    let shared = Secret(MontgomeryPoint(public).mul_clamped(secret.0).to_bytes());
    (shared.0.iter().fold(0, |all, byte| all | byte) != 0).then_some(shared)
}

/// The primitives of one handshake.
pub(super) struct Primitives {
    pub(super) ephemeral: Secret,
}

impl CryptoResolver for Primitives {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Once(Some(self.ephemeral.clone()))))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        let none = || X25519 { secret: Secret([0; KEY_LEN]), public: [0; KEY_LEN] };
        matches!(choice, DHChoice::Curve25519).then(|| Box::new(none()) as _)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        matches!(choice, HashChoice::Blake2s).then(|| Box::new(Blake2s(Blake2s256::new())) as _)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        matches!(choice, CipherChoice::ChaChaPoly).then(|| Box::new(PacketCipher(None)) as _)
    }
}

/// Random bytes for one key.
struct Once(Option<Secret>);

impl Random for Once {
    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), Error> {
        let secret = self.0.take().ok_or(Error::Rng)?;
        if dest.len() != secret.0.len() {
            return Err(Error::Rng);
        }
        dest.copy_from_slice(&secret.0);
        Ok(())
    }
}

/// X25519 that fails if its result is zero.
struct X25519 {
    secret: Secret,
    public: [u8; KEY_LEN],
}

impl Dh for X25519 {
    fn name(&self) -> &'static str {
        "25519"
    }

    fn pub_len(&self) -> usize {
        KEY_LEN
    }

    fn priv_len(&self) -> usize {
        KEY_LEN
    }

    fn set(&mut self, privkey: &[u8]) {
        self.secret.0.copy_from_slice(privkey);
        self.public = public_key(&self.secret);
    }

    fn generate(&mut self, rng: &mut dyn Random) -> Result<(), Error> {
        rng.try_fill_bytes(&mut self.secret.0)?;
        self.public = public_key(&self.secret);
        Ok(())
    }

    fn pubkey(&self) -> &[u8] {
        &self.public
    }

    fn privkey(&self) -> &[u8] {
        &self.secret.0
    }

    fn dh(&self, pubkey: &[u8], out: &mut [u8]) -> Result<(), Error> {
        let theirs = *pubkey.first_chunk().ok_or(Error::Dh)?;
        let shared = shared_secret(&self.secret, theirs).ok_or(Error::Dh)?;
        *out.first_chunk_mut().ok_or(Error::Dh)? = shared.0;
        Ok(())
    }
}

struct Blake2s(Blake2s256);

impl Hash for Blake2s {
    fn name(&self) -> &'static str {
        "BLAKE2s"
    }

    fn block_len(&self) -> usize {
        BLOCK_LEN
    }

    fn hash_len(&self) -> usize {
        HASH_LEN
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn input(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn result(&mut self, out: &mut [u8]) {
        out[..HASH_LEN].copy_from_slice(&self.0.finalize_reset());
    }
}

/// The cipher of the packets. The handshake gives it a key before it uses it.
struct PacketCipher(Option<cipher::Cipher>);

impl Cipher for PacketCipher {
    fn name(&self) -> &'static str {
        "ChaChaPoly"
    }

    fn set(&mut self, key: &[u8; 32]) {
        self.0 = cipher::Cipher::new(key);
    }

    /// Returns 0 if there is no key.
    fn encrypt(&self, nonce: u64, head: &[u8], text: &[u8], out: &mut [u8]) -> usize {
        let sealed = self.0.as_ref().zip(out.get_mut(..text.len() + TAG_LEN)).and_then(|(cipher, out)| {
            let (sealed, tag) = out.split_at_mut(text.len());
            sealed.copy_from_slice(text);
            tag.copy_from_slice(&cipher.seal(nonce, head, sealed)?);
            Some(text.len() + TAG_LEN)
        });
        sealed.unwrap_or(0)
    }

    /// `out` has to have room for the tag too.
    fn decrypt(&self, nonce: u64, head: &[u8], sealed: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        let (Some(cipher), Some(len), Some(out)) =
            (&self.0, sealed.len().checked_sub(TAG_LEN), out.get_mut(..sealed.len()))
        else {
            return Err(Error::Decrypt);
        };
        out.copy_from_slice(sealed);
        if cipher.open(nonce, head, out) { Ok(len) } else { Err(Error::Decrypt) }
    }
}
