//! The proof of a log: a running hash over its bytes, and the source's signature of it.

use crate::wire::broadcast::{Head, MatchId};
use blake2::{Blake2s256, Digest};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use zeroize::Zeroize;

/// The public key of a broadcast: who has it can tell the source's log from any other.
pub type BroadcastKey = [u8; 32];

/// The key pair of a source. It is made of 32 random bytes and lives as long as the source serves.
pub(super) struct SigningKey {
    pair: Ed25519KeyPair,
    public: BroadcastKey,
    /// The names of matches are drawn from it.
    names: [u8; 32],
}

impl core::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SigningKey")
    }
}

impl SigningKey {
    pub(super) fn new(secret: &[u8; 32]) -> Self {
        let mut seed = named(b"key", &[secret]);
        // Every 32 bytes are a seed, and a key of 32 bytes belongs to it.
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("32 bytes are a seed");
        let public = pair.public_key().as_ref().try_into().expect("a public key has 32 bytes");
        seed.zeroize();
        Self { pair, public, names: named(b"names", &[secret]) }
    }

    pub(super) fn public(&self) -> BroadcastKey {
        self.public
    }

    /// The identity of the match with this number. Nobody can guess it, and no two sources have the same.
    pub(super) fn match_id(&self, number: u32) -> MatchId {
        let name = named(b"match", &[&self.names, &number.to_be_bytes()]);
        MatchId { id: *name.first_chunk().expect("a hash has 32 bytes"), number }
    }

    /// Signs that the log of a match has this length and hash.
    pub(super) fn sign(&self, of: MatchId, is_last: bool, len: u32, hash: [u8; 32]) -> Head {
        let mut head = Head { of, is_last, len, hash, signature: [0; 64] };
        let signature = self.pair.sign(&head.signed_text());
        head.signature.copy_from_slice(signature.as_ref());
        head
    }
}

/// Whether the owner of `key` has signed `head`.
pub(super) fn is_signed(head: &Head, key: &BroadcastKey) -> bool {
    UnparsedPublicKey::new(&ED25519, key).verify(&head.signed_text(), &head.signature).is_ok()
}

/// The hash of a match and of its log so far. More bytes cost no more than themselves.
#[derive(Clone, Debug)]
pub(super) struct LogHash(Blake2s256);

impl LogHash {
    pub(super) fn new(of: MatchId) -> Self {
        let mut hasher = Blake2s256::new();
        hasher.update(b"rebout log 1");
        hasher.update(of.id);
        hasher.update(of.number.to_be_bytes());
        Self(hasher)
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn value(&self) -> [u8; 32] {
        self.0.clone().finalize().into()
    }
}

fn named(name: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Blake2s256::new();
    hasher.update(b"rebout broadcast 1");
    hasher.update(name);
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_of_one_key_match_length_hash_and_end() {
        let (key, other) = (SigningKey::new(&[7; 32]), SigningKey::new(&[8; 32]));
        let head = key.sign(key.match_id(1), false, 100, [3; 32]);
        assert!(is_signed(&head, &key.public()) && !is_signed(&head, &other.public()));
        for changed in [
            Head { of: key.match_id(2), ..head },
            Head { of: MatchId { number: 2, ..head.of }, ..head },
            Head { is_last: true, ..head },
            Head { len: 101, ..head },
            Head { hash: [4; 32], ..head },
        ] {
            assert!(!is_signed(&changed, &key.public()), "{changed:?}");
        }
        assert_ne!(key.match_id(1).id, key.match_id(2).id);
        assert_ne!(key.match_id(1).id, other.match_id(1).id);
    }

    #[test]
    fn running_hash_is_that_of_all_bytes_and_of_the_match() {
        let key = SigningKey::new(&[7; 32]);
        let mut whole = LogHash::new(key.match_id(1));
        whole.update(b"one two");
        let mut parts = LogHash::new(key.match_id(1));
        parts.update(b"one");
        assert_ne!(parts.value(), whole.value());
        parts.update(b" two");
        assert_eq!(parts.value(), whole.value());
        let mut other = LogHash::new(key.match_id(2));
        other.update(b"one two");
        assert_ne!(other.value(), whole.value());
    }
}
