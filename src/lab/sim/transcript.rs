//! The recorded traffic of a simulated network, with which two runs can be compared.

use std::net::SocketAddr;
use std::time::Duration;

/// The most entries that are stored; more are only counted and hashed.
const MAX_ENTRIES: usize = 1 << 20;

/// How much of the traffic is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recording {
    /// Nothing at all, not even the digest.
    Off,
    /// A digest of all traffic, which costs a few nanoseconds a datagram.
    #[default]
    Digest,
    /// The digest, and the first million datagrams with their bytes.
    Full,
}

/// The kind of an [`Entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A datagram was sent, even if it was lost later.
    Sent,
    /// A datagram was delivered to its endpoint.
    Delivered,
    /// A datagram was dropped by the NAT of its endpoint.
    Filtered,
}

/// One datagram, sent, delivered or dropped by a NAT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its fate: sent, delivered or dropped.
    pub kind: EntryKind,
    /// The true time.
    pub at: Duration,
    /// The source address, as the receiver sees it.
    pub from: SocketAddr,
    /// The destination address, as the sender wrote it.
    pub to: SocketAddr,
    /// The bytes, with their corruption if the datagram was delivered.
    pub datagram: Vec<u8>,
}

/// The traffic of a network in order: times, addresses, bytes.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    recording: Recording,
    state: u64,
    count: u64,
    entries: Vec<Entry>,
}

impl Transcript {
    pub(crate) fn set_recording(&mut self, recording: Recording) {
        self.recording = recording;
    }

    pub(crate) fn drop_entries(&mut self) {
        self.entries = Vec::new();
        if self.recording == Recording::Full {
            self.recording = Recording::Digest;
        }
    }

    /// A hash of the whole traffic. Runs that differ in a single byte or nanosecond have different digests.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mixed = (self.state ^ self.count ^ (self.state >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        mixed ^ (mixed >> 32)
    }

    /// The number of datagrams sent plus those delivered and those dropped by NATs.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The recorded datagrams; none without [`Recording::Full`].
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    #[inline]
    pub(crate) fn note(
        &mut self,
        kind: EntryKind,
        at: u64,
        from: SocketAddr,
        to: SocketAddr,
        datagram: &[u8],
    ) {
        if self.recording == Recording::Off {
            return;
        }
        self.count += 1;
        self.mix(at << 1 | u64::from(kind == EntryKind::Sent));
        if kind == EntryKind::Filtered {
            self.mix(u64::MAX);
        }
        self.mix_addr(from);
        self.mix_addr(to);
        self.mix(datagram.len() as u64);
        let (words, rest) = datagram.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last));
        if self.recording == Recording::Full && self.entries.len() < MAX_ENTRIES {
            let datagram = datagram.to_vec();
            self.entries.push(Entry { kind, at: Duration::from_nanos(at), from, to, datagram });
        }
    }

    #[inline]
    fn mix(&mut self, word: u64) {
        self.state = (self.state.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn mix_addr(&mut self, addr: SocketAddr) {
        match addr {
            SocketAddr::V4(v4) => self.mix(u64::from(v4.ip().to_bits()) << 16 | u64::from(v4.port())),
            SocketAddr::V6(v6) => {
                let bits = v6.ip().to_bits();
                self.mix(bits as u64);
                self.mix((bits >> 64) as u64);
                self.mix(u64::from(v6.port()) << 32 | u64::from(v6.scope_id()));
            }
        }
    }
}
