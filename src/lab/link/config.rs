//! The configuration of a link: latency, jitter, loss, corruption, bandwidth.

use super::Chance;
use std::time::Duration;

/// The configuration of one direction of a path. The fields are independent of each other. [`LinkConfig::new`] has no
/// impairment; add those that you want:
///
/// ```
/// use rebout::lab::link::{Chance, LinkConfig};
/// use std::time::Duration;
///
/// let link = LinkConfig { loss: Chance::percent(3), ..LinkConfig::new(Duration::from_millis(40)) };
/// assert_eq!(link.jitter, Duration::ZERO);
/// ```
///
/// A datagram first passes the bottleneck ([`bandwidth`](Self::bandwidth)), where a full queue drops it. Datagrams
/// that are lost, duplicated or corrupted after that have used the bandwidth too. A burst takes what leaves the
/// bottleneck while it lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkConfig {
    /// The shortest time from sending to arrival, at least 1 us.
    pub latency: Duration,
    /// The greatest additional delay of a datagram, drawn uniformly from 0 to `jitter` for each.
    pub jitter: Duration,
    /// Whether jitter keeps the order, as a queue does: a datagram then waits for the one before it. Otherwise jitter
    /// longer than the gap between datagrams reorders them, as parallel paths do.
    pub keep_order: bool,
    /// The chance that a datagram is held back and may be overtaken by later ones, even with `keep_order`.
    pub reorder: Chance,
    /// The greatest additional delay of a datagram that is held back, drawn uniformly from 0.
    pub reorder_delay: Duration,
    /// The chance that a datagram is lost, independent of the others.
    pub loss: Chance,
    /// Loss in bursts, in addition to `loss`.
    pub burst: Option<Burst>,
    /// The chance that a datagram arrives twice. The copy has its own jitter and corruption.
    pub duplicate: Chance,
    /// The chance that one to three different bits are flipped, undetected by UDP's checksum.
    pub corrupt: Chance,
    /// The chance that a datagram is truncated, to any shorter length, 0 included.
    pub truncate: Chance,
    /// The bottleneck, if there is one.
    pub bandwidth: Option<Bandwidth>,
    /// A rate limit that drops datagrams and delays none, if there is one. Its queue is the burst that it allows.
    pub policer: Option<Bandwidth>,
}

/// Burst loss by the Gilbert-Elliott model in continuous time: gaps and bursts alternate, and the length of each is drawn
/// from an exponential distribution.
///
/// Bursts are of time and not of datagrams: how many a burst takes depends on how many are sent in it, and a copy sent
/// after the burst arrives. In the long run `mean_length / (mean_gap + mean_length)` of all time is in a burst. A link
/// begins with a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The mean time from the end of a burst to the beginning of the next.
    pub mean_gap: Duration,
    /// The mean time from the beginning of a burst to its end.
    pub mean_length: Duration,
    /// The chance that a datagram inside a burst is lost.
    pub loss: Chance,
}

/// A bottleneck with a queue that drops datagrams when it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    /// Bits a second, headers included. 0 counts as 1.
    pub bits_per_s: u64,
    /// The length of the queue in bytes, headers included. A datagram always passes an empty queue.
    pub queue_bytes: u64,
}

impl LinkConfig {
    /// A link with `latency` and no impairment.
    #[must_use]
    pub const fn new(latency: Duration) -> Self {
        Self {
            latency,
            jitter: Duration::ZERO,
            keep_order: false,
            reorder: Chance::NEVER,
            reorder_delay: Duration::ZERO,
            loss: Chance::NEVER,
            burst: None,
            duplicate: Chance::NEVER,
            corrupt: Chance::NEVER,
            truncate: Chance::NEVER,
            bandwidth: None,
            policer: None,
        }
    }
}
