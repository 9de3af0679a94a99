//! TURN credentials in coturn's scheme of a shared secret: the user is an expiry and an id, the password its HMAC-SHA1.

use crate::wire::rendezvous::TurnGrant;
use core::fmt;
use core::time::Duration;
#[cfg(not(target_family = "wasm"))]
use ring::hmac;
use std::net::SocketAddr;

/// The right to use a TURN server for a while.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The TURN server.
    pub server: SocketAddr,
    /// The user: the Unix time at which the right ends, `:` and an id.
    pub user: String,
    /// The password.
    pub password: String,
    /// How long the right lasts from the moment at which it was given.
    pub valid: Duration,
}

/// Without the password.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("server", &self.server)
            .field("user", &self.user)
            .field("valid", &self.valid)
            .finish_non_exhaustive()
    }
}

impl Credentials {
    /// As text, which is how a TURN client needs them.
    pub(super) fn of(grant: &TurnGrant) -> Self {
        Self {
            server: grant.server,
            user: user(grant.expiry, grant.id),
            password: base64(&grant.password),
            valid: Duration::from_secs(grant.valid_secs.into()),
        }
    }
}

/// Makes credentials from the secret that the TURN server has too.
#[cfg(not(target_family = "wasm"))]
pub(super) struct Minter {
    key: hmac::Key,
}

#[cfg(not(target_family = "wasm"))]
impl Minter {
    pub(super) fn new(secret: &[u8]) -> Self {
        // SHA-1 is the scheme's; as an HMAC it is not broken.
        Self { key: hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret) }
    }

    /// The password of a user, as bytes.
    pub(super) fn password(&self, expiry: u32, id: [u8; 6]) -> [u8; 20] {
        let tag = hmac::sign(&self.key, user(expiry, id).as_bytes());
        tag.as_ref().first_chunk().copied().unwrap_or_default()
    }
}

fn user(expiry: u32, id: [u8; 6]) -> String {
    let id = id.iter().fold(0, |id, byte| id << 8 | u64::from(*byte));
    format!("{expiry}:{id:012x}")
}

/// The characters of base 64.
pub(crate) const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes in base 64, padded.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for (place, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let character = BASE64[(bits >> shift & 63) as usize];
            text.push(if place <= chunk.len() { character.into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The password is that of `printf %s 1700000000:0102030405ff | openssl dgst -sha1 -hmac north -binary | base64`.
    #[test]
    fn credentials_are_those_that_coturn_computes() {
        let id = [1, 2, 3, 4, 5, 0xFF];
        let grant = TurnGrant {
            server: "192.0.2.1:3478".parse().unwrap(),
            expiry: 1_700_000_000,
            valid_secs: 600,
            id,
            password: Minter::new(b"north").password(1_700_000_000, id),
        };
        let credentials = Credentials::of(&grant);
        assert_eq!(credentials.user, "1700000000:0102030405ff");
        assert_eq!(credentials.password, "Vg41fFYusN/AQQvHWWkTiNbuSZs=");
        assert!(!format!("{credentials:?} {grant:?}").contains("password"));
    }

    /// The vectors of RFC 4648.
    #[test]
    fn base_64_is_that_of_its_specification() {
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, text) in pairs {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xFB, 0xFF, 0xBF]), "+/+/");
    }
}
