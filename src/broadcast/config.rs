//! The limits of a broadcast, and its counters.

use core::time::Duration;

/// The limits of a [`Broadcast`](super::Broadcast).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BroadcastConfig {
    /// The most spectators at once, at most 256.
    pub max_spectators: u16,
    /// The age at which anything of a match leaves this machine, at most ten minutes: inputs, checksums, events, messages and the
    /// verdict.
    pub delay: Duration,
    /// The most bits in a second for all spectators together, with the headers of their datagrams.
    pub bits_per_second: u32,
    /// Whether spectators get the messages of the players.
    pub chat: bool,
    /// The most bytes of the logs that are kept. A match with a longer log goes on without spectators from there on.
    pub max_log_bytes: u32,
}

impl BroadcastConfig {
    /// The longest delay.
    pub const MAX_DELAY: Duration = Duration::from_secs(600);
    /// The most spectators.
    pub const MAX_SPECTATORS: u16 = 256;

    /// The config with every limit within its own.
    pub(super) fn within_limits(mut self) -> Self {
        self.max_spectators = self.max_spectators.min(Self::MAX_SPECTATORS);
        self.delay = self.delay.min(Self::MAX_DELAY);
        // A datagram has to fit into the burst.
        self.bits_per_second = self.bits_per_second.max(64_000);
        self
    }
}

impl Default for BroadcastConfig {
    /// Eight spectators, no delay, 1 Mbit/s, no messages, and logs of 16 MiB.
    fn default() -> Self {
        Self {
            max_spectators: 8,
            delay: Duration::ZERO,
            bits_per_second: 1_000_000,
            chat: false,
            max_log_bytes: 16 << 20,
        }
    }
}

/// The counters of a [`Broadcast`](super::Broadcast).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BroadcastStats {
    /// The spectators now.
    pub spectators: u16,
    /// Spectators that were let in.
    pub joined: u64,
    /// Spectators that were sent away because of their behaviour: silence, no progress, or broken rules.
    pub evicted: u64,
    /// Datagrams of spectators that were dropped: malformed, too many, or from nobody.
    pub refused: u64,
    /// Datagrams that were sent.
    pub sent: u64,
    /// Bytes that were sent, without the headers around them.
    pub sent_bytes: u64,
}
