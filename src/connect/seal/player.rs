//! The key of a player, and its proof in one handshake.
//!
//! The proof is the token `se` of Noise, or `es` of the host: only the owner of the key and the machine that drew the ephemeral key of this
//! handshake can compute it. It convinces that machine and nobody else, and the hash of the handshake binds it to this connection.

use super::hash::hash;
use super::noise::{KeyPair, Split};
use super::primitives::{public_key, shared_secret};
use super::random::Secret;
use crate::wire::seal::{KEY_LEN, PLAYER_LEN};
use core::fmt;
use core::str;

/// The characters of a fingerprint, five bits each.
const CHARACTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The public key of a player, by which others know the player again. `Display` is its fingerprint: 80 bits, for people to compare.
///
/// ```
/// use rebout::PlayerKey;
///
/// let ada = PlayerKey([7; 32]);
/// assert_eq!(ada.to_string(), "66EJ-RNFB-T358-9N1P");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlayerKey(pub [u8; KEY_LEN]);

impl PlayerKey {
    /// The public key of a private one.
    #[must_use]
    pub fn of(secret_key: [u8; KEY_LEN]) -> Self {
        Self(public_key(&Secret(secret_key)))
    }
}

impl fmt::Display for PlayerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = hash(b"fingerprint", &[&self.0]);
        let (groups, _) = digest.as_chunks::<5>();
        for (at, [a, b, c, d, e]) in groups.iter().take(2).enumerate() {
            let bits = u64::from_be_bytes([0, 0, 0, *a, *b, *c, *d, *e]);
            let text: [u8; 8] = core::array::from_fn(|at| CHARACTERS[(bits >> (35 - 5 * at) & 31) as usize]);
            let (first, second) = text.split_at(4);
            let [first, second] = [first, second].map(|half| str::from_utf8(half).unwrap_or_default());
            write!(f, "{}{first}-{second}", if at == 0 { "" } else { "-" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for PlayerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlayerKey({self})")
    }
}

/// The proof of `player` in a handshake, by the secret that its owner shares with the other side.
fn proof(shared: &Secret, handshake: &[u8; 32], player: &[u8; KEY_LEN], is_host: bool) -> [u8; 32] {
    hash(b"player", &[&shared.0, handshake, player, &[u8::from(is_host)]])
}

/// The text by which the owner of a key proves it to the other side of a handshake. `None` if that side's ephemeral key is of low order.
pub(super) fn prove(keys: &KeyPair, split: &Split, is_host: bool) -> Option<[u8; PLAYER_LEN]> {
    let shared = shared_secret(&keys.secret, split.ephemerals.1)?;
    let proof = proof(&shared, &split.hash, &keys.public, is_host);
    let mut text = [0; PLAYER_LEN];
    text[..KEY_LEN].copy_from_slice(&keys.public);
    text[KEY_LEN..].copy_from_slice(&proof);
    Some(text)
}

/// The secrets by which one side checks the proof of the other.
#[derive(Debug)]
pub(super) struct Verifier {
    ephemeral: Secret,
    handshake: [u8; 32],
    /// Whether the other side is the host.
    is_host: bool,
}

impl Verifier {
    pub(super) fn new(split: &Split, is_host: bool) -> Self {
        Self { ephemeral: split.ephemerals.0.clone(), handshake: split.hash, is_host }
    }

    /// The key that a text proves.
    pub(super) fn check(&self, text: &[u8; PLAYER_LEN]) -> Option<PlayerKey> {
        let (player, claimed) = text.split_first_chunk::<KEY_LEN>()?;
        let shared = shared_secret(&self.ephemeral, *player)?;
        let expected = proof(&shared, &self.handshake, player, self.is_host);
        let differing = expected.iter().zip(claimed).fold(0, |all, (ours, theirs)| all | (ours ^ theirs));
        (differing == 0).then_some(PlayerKey(*player))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: [u8; 21] = [9; 21];

    fn keys(byte: u8) -> KeyPair {
        KeyPair::new(Secret([byte; 32]))
    }

    /// Both sides of a handshake with these ephemeral keys: the host's, then the joiner's.
    fn splits(host: u8, joiner: u8) -> [Split; 2] {
        use super::super::noise::{accept, begin};
        let (mut init, mut resp, mut text) = ([0; 100], [0; 100], [0; 100]);
        let (mut asking, len) = begin(&keys(1).public, &HEAD, Secret([joiner; 32]), b"", &mut init).unwrap();
        let (answering, _) = accept(&keys(1), &HEAD, Secret([host; 32]), &init[..len], &mut text).unwrap();
        let (ours, len) = answering.answer(b"", &mut resp).unwrap();
        [ours, asking.finish(&resp[..len], &mut text).unwrap().0]
    }

    #[test]
    fn each_side_proves_its_key_to_the_other() {
        let [host, joiner] = splits(2, 3);
        let (ada, bob) = (keys(40), keys(50));
        let of_joiner = prove(&bob, &joiner, false).unwrap();
        assert_eq!(Verifier::new(&host, false).check(&of_joiner), Some(PlayerKey(bob.public)));
        let of_host = prove(&ada, &host, true).unwrap();
        assert_eq!(Verifier::new(&joiner, true).check(&of_host), Some(PlayerKey(ada.public)));
        assert_eq!(PlayerKey::of([50; 32]), PlayerKey(bob.public));
        // The same key on the other side, as a mirror would send it back.
        assert_eq!(Verifier::new(&joiner, true).check(&of_joiner), None);
        assert_eq!(Verifier::new(&host, true).check(&of_joiner), None, "a joiner's is no host's");
        for bit in 0..PLAYER_LEN * 8 {
            let mut bad = of_joiner;
            bad[bit / 8] ^= 1 << (bit % 8);
            // X25519 ignores the highest bit of a public key, and the proof does not.
            assert_eq!(Verifier::new(&host, false).check(&bad), None, "bit {bit}");
        }
    }

    #[test]
    fn proof_of_another_handshake_or_key_does_not_fit() {
        let [host, joiner] = splits(2, 3);
        let bob = keys(50);
        for other in [splits(4, 3), splits(2, 4)] {
            let copied = prove(&bob, &other[1], false).unwrap();
            assert_eq!(Verifier::new(&host, false).check(&copied), None);
        }
        // The public key of somebody else, with a proof of one's own.
        let mut borrowed = prove(&keys(60), &joiner, false).unwrap();
        borrowed[..KEY_LEN].copy_from_slice(&bob.public);
        assert_eq!(Verifier::new(&host, false).check(&borrowed), None);
        // A key of low order, for which everybody knows the shared secret.
        for low in [[0; 32], core::array::from_fn(|at| u8::from(at == 0))] {
            let proof = proof(&Secret([0; 32]), &host.hash, &low, false);
            let text = [low, proof].concat().try_into().unwrap();
            assert_eq!(Verifier::new(&host, false).check(&text), None);
        }
    }

    #[test]
    fn fingerprint_has_four_groups_of_four() {
        let texts: Vec<String> = (0..100).map(|byte| PlayerKey([byte; 32]).to_string()).collect();
        for text in &texts {
            let groups: Vec<&str> = text.split('-').collect();
            assert!(groups.len() == 4 && groups.iter().all(|group| group.len() == 4), "{text}");
        }
        let all: std::collections::BTreeSet<&String> = texts.iter().collect();
        assert_eq!(all.len(), texts.len());
    }
}
