//! The certificate of this machine for DTLS: signed by itself, and known to the other side by its fingerprint alone.

use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};

/// Tags of DER.
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OBJECT: u8 = 0x06;
const UTF8_STRING: u8 = 0x0C;
const UTC_TIME: u8 = 0x17;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xA0;

/// Object identifiers: `ecdsa-with-SHA256`, `id-ecPublicKey`, `prime256v1` and `commonName`.
const ECDSA_SHA256: [u8; 8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02];
const EC_PUBLIC_KEY: [u8; 7] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01];
const P256: [u8; 8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07];
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];

/// A certificate with its key.
#[derive(Clone)]
pub(in crate::connect::nat) struct Certificate {
    pub(super) der: Vec<u8>,
    /// In PKCS #8.
    pub(super) key: Vec<u8>,
}

opaque_debug!(Certificate);

/// The fingerprint of a certificate.
pub(super) fn fingerprint(der: &[u8]) -> [u8; 32] {
    digest(&SHA256, der).as_ref().first_chunk().copied().unwrap_or_default()
}

impl Certificate {
    /// A new one; `None` if the operating system has no random bytes.
    pub(in crate::connect::nat) fn draw() -> Option<Self> {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).ok()?;
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.as_ref(), &random).ok()?;
        let signed = signed_part(pair.public_key().as_ref());
        let signature = pair.sign(&random, &signed).ok()?;
        let der = element(SEQUENCE, &[&signed, &algorithm(), &bits(signature.as_ref())]);
        Some(Self { der, key: key.as_ref().to_vec() })
    }

    pub(in crate::connect::nat) fn fingerprint(&self) -> [u8; 32] {
        fingerprint(&self.der)
    }
}

/// The part that is signed. Nobody looks at the names and the times: they are the same in every certificate.
fn signed_part(public_key: &[u8]) -> Vec<u8> {
    let version = element(VERSION, &[&element(INTEGER, &[&[2]])]);
    // Positive, and another one for each key.
    let mut serial: [u8; 8] =
        public_key.get(1..).and_then(|key| key.first_chunk().copied()).unwrap_or_default();
    serial[0] = serial[0] & 0x3F | 0x40;
    let name = element(SEQUENCE, &[&element(OBJECT, &[&COMMON_NAME]), &element(UTF8_STRING, &[b"rebout"])]);
    let name = element(SEQUENCE, &[&element(SET, &[&name])]);
    let times = [b"200101000000Z", b"491231235959Z"].map(|time| element(UTC_TIME, &[time]));
    let times = element(SEQUENCE, &[&times[0], &times[1]]);
    let kind = element(SEQUENCE, &[&element(OBJECT, &[&EC_PUBLIC_KEY]), &element(OBJECT, &[&P256])]);
    let key = element(SEQUENCE, &[&kind, &bits(public_key)]);
    let serial = element(INTEGER, &[&serial]);
    element(SEQUENCE, &[&version, &serial, &algorithm(), &name, &times, &name, &key])
}

fn algorithm() -> Vec<u8> {
    element(SEQUENCE, &[&element(OBJECT, &[&ECDSA_SHA256])])
}

/// A string of whole bytes.
fn bits(bytes: &[u8]) -> Vec<u8> {
    element(BIT_STRING, &[&[0], bytes])
}

/// An element of DER of fewer than 65,536 bytes.
fn element(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    let mut der = match len {
        0..128 => vec![tag, len as u8],
        128..256 => vec![tag, 0x81, len as u8],
        _ => vec![tag, 0x82, (len >> 8) as u8, len as u8],
    };
    parts.iter().for_each(|part| der.extend(*part));
    der
}
