//! One direction of a simulated path. The fate of a datagram is decided at the moment it is sent.

use super::chance::Chance;
use super::nanos;
use super::seeded::Seeded;
use std::time::Duration;

/// The length of the IPv4 and UDP headers of a datagram.
pub const HEADER_BYTES: u64 = 28;

/// The shortest delay of a datagram. Virtual time therefore moves on even when two machines answer each other at once
/// over a link without latency.
const MIN_DELAY_NANOS: u64 = 1_000;

/// The configuration of one direction of a path. The fields are independent of each other. [`LinkConfig::new`] has no
/// impairment; add those that you want:
///
/// ```
/// use rebout::net::sim::{Chance, LinkConfig};
/// use std::time::Duration;
///
/// let link = LinkConfig { loss: Chance::percent(3), ..LinkConfig::new(Duration::from_millis(40)) };
/// assert_eq!(link.jitter, Duration::ZERO);
/// ```
///
/// A datagram first passes the bottleneck ([`bandwidth`](Self::bandwidth)), where a full queue drops it. Datagrams
/// that are lost, duplicated or corrupted after that have used the bandwidth too.
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
}

/// Burst loss by the Gilbert-Elliott model: two states, and a draw at every datagram whether to change between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The chance that a burst begins with a datagram outside one.
    pub enter: Chance,
    /// The chance that a burst ends before a datagram inside it: bursts last `1 / leave` datagrams on average.
    pub leave: Chance,
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
        }
    }
}

/// The statistics of a link, in datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkStats {
    /// Sent over the link.
    pub sent: u64,
    /// Arriving, duplicates included.
    pub arriving: u64,
    /// Dropped by a partition.
    pub cut: u64,
    /// Dropped by the full queue of the bottleneck.
    pub queue_full: u64,
    /// Lost independently of bursts.
    pub lost: u64,
    /// Lost inside a burst.
    pub lost_in_burst: u64,
    /// Duplicated.
    pub duplicated: u64,
    /// Held back.
    pub reordered: u64,
    /// Arriving with bits flipped.
    pub corrupted: u64,
    /// Arriving truncated.
    pub truncated: u64,
}

/// One direction of a path. It maps the time and the length of a datagram to its arrivals, and holds no bytes.
#[derive(Clone, Debug)]
pub struct Link {
    config: LinkConfig,
    rng: Seeded,
    in_burst: bool,
    /// When the bottleneck has sent its whole queue.
    busy_until: u64,
    /// The latest arrival of the datagrams that keep the order.
    last_arrival: u64,
    down: bool,
    /// The start and end of each scheduled partition.
    cuts: Vec<(u64, u64)>,
    stats: LinkStats,
}

impl Link {
    /// A link whose random draws are a function of `seed`.
    #[must_use]
    pub fn new(config: LinkConfig, seed: u64) -> Self {
        Self::on_stream(config, Seeded::stream(seed, 0))
    }

    pub(crate) fn on_stream(config: LinkConfig, rng: Seeded) -> Self {
        Self {
            config,
            rng,
            in_burst: false,
            busy_until: 0,
            last_arrival: 0,
            down: false,
            cuts: Vec::new(),
            stats: LinkStats::default(),
        }
    }

    /// The current configuration.
    #[must_use]
    pub fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// Changes the configuration for datagrams sent from now on; those in flight are not affected.
    pub fn set_config(&mut self, config: LinkConfig) {
        self.config = config;
        self.in_burst &= config.burst.is_some();
    }

    /// Takes the link down or up again. Datagrams sent while it is down are lost; those in flight still arrive.
    pub fn set_down(&mut self, down: bool) {
        self.down = down;
    }

    /// Takes the link down from `start` up to, but not including, `end`.
    pub fn cut(&mut self, start: Duration, end: Duration) {
        self.cuts.push((nanos(start), nanos(end)));
    }

    /// The statistics so far.
    #[must_use]
    pub fn stats(&self) -> &LinkStats {
        &self.stats
    }

    /// Sends a datagram of `len` bytes, which arrives never, once or twice. `now` must not run backwards.
    pub fn send(&mut self, now: Duration, len: usize) -> Passage {
        self.pass(nanos(now), len)
    }

    #[inline]
    pub(crate) fn pass(&mut self, now: u64, len: usize) -> Passage {
        self.stats.sent += 1;
        if self.down || self.cuts.iter().any(|&(start, end)| (start..end).contains(&now)) {
            self.stats.cut += 1;
            return Passage::default();
        }
        let Some(leaves_at) = self.through_bottleneck(now, len) else {
            self.stats.queue_full += 1;
            return Passage::default();
        };
        if self.lost_in_burst() {
            self.stats.lost_in_burst += 1;
            return Passage::default();
        }
        if self.config.loss.hits(&mut self.rng) {
            self.stats.lost += 1;
            return Passage::default();
        }
        let first = self.arrival(leaves_at, len);
        let second = if self.config.duplicate.hits(&mut self.rng) {
            self.stats.duplicated += 1;
            Some(self.arrival(leaves_at, len))
        } else {
            None
        };
        Passage { first: Some(first), second }
    }

    /// The time at which the bottleneck has sent the datagram; `None` if its queue is full.
    fn through_bottleneck(&mut self, now: u64, len: usize) -> Option<u64> {
        let Some(Bandwidth { bits_per_s, queue_bytes }) = self.config.bandwidth else {
            return Some(now);
        };
        let bits_per_s = u128::from(bits_per_s.max(1));
        let size = len as u64 + HEADER_BYTES;
        let backlog_nanos = self.busy_until.saturating_sub(now);
        let backlog_bytes = u128::from(backlog_nanos) * bits_per_s / 8_000_000_000;
        if backlog_nanos > 0 && backlog_bytes + u128::from(size) > u128::from(queue_bytes) {
            return None;
        }
        let takes = u64::try_from(u128::from(size) * 8_000_000_000 / bits_per_s).unwrap_or(u64::MAX);
        self.busy_until = self.busy_until.max(now).saturating_add(takes);
        Some(self.busy_until)
    }

    /// Draws whether a burst begins or ends, and whether a datagram is lost in it.
    fn lost_in_burst(&mut self) -> bool {
        let Some(burst) = self.config.burst else {
            return false;
        };
        let changes = if self.in_burst { burst.leave } else { burst.enter };
        self.in_burst ^= changes.hits(&mut self.rng);
        self.in_burst && burst.loss.hits(&mut self.rng)
    }

    /// Draws the arrival time, truncation and bit flips of a datagram.
    fn arrival(&mut self, leaves_at: u64, len: usize) -> Arrival {
        self.stats.arriving += 1;
        let travel = nanos(self.config.latency).saturating_add(self.rng.up_to(nanos(self.config.jitter)));
        let mut at = leaves_at.saturating_add(travel.max(MIN_DELAY_NANOS));
        if self.config.reorder.hits(&mut self.rng) {
            self.stats.reordered += 1;
            at = at.saturating_add(self.rng.up_to(nanos(self.config.reorder_delay)));
        } else if self.config.keep_order {
            at = at.max(self.last_arrival);
            self.last_arrival = at;
        }
        let mut arrival = Arrival { at, len, flips: [None; 3] };
        if len > 0 && self.config.truncate.hits(&mut self.rng) {
            self.stats.truncated += 1;
            arrival.len = self.rng.below(len as u64) as usize;
        }
        if arrival.len > 0 && self.config.corrupt.hits(&mut self.rng) {
            self.stats.corrupted += 1;
            arrival.flips = flips(&mut self.rng, arrival.len as u64 * 8);
        }
        arrival
    }
}

/// The positions of one to three different bits of `bits`, evenly spaced from a random one on.
fn flips(rng: &mut Seeded, bits: u64) -> [Option<u64>; 3] {
    let (first, step, count) = (rng.below(bits), 1 + rng.below((bits - 1) / 2), 1 + rng.below(3));
    [0, 1, 2].map(|k| (k < count).then(|| (first + k * step) % bits))
}

/// The arrivals of a datagram, at most two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passage {
    first: Option<Arrival>,
    second: Option<Arrival>,
}

impl IntoIterator for Passage {
    type Item = Arrival;
    type IntoIter = std::iter::Chain<std::option::IntoIter<Arrival>, std::option::IntoIter<Arrival>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.second)
    }
}

/// One arrival of a datagram: its time and its corruption.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    at: u64,
    len: usize,
    flips: [Option<u64>; 3],
}

impl Arrival {
    /// The time of arrival.
    #[must_use]
    pub fn at(&self) -> Duration {
        Duration::from_nanos(self.at)
    }

    #[inline]
    pub(crate) fn at_nanos(&self) -> u64 {
        self.at
    }

    /// Applies the truncation and bit flips of this arrival to the bytes that were sent.
    #[inline]
    pub fn damage(&self, datagram: &mut Vec<u8>) {
        datagram.truncate(self.len);
        if self.flips[0].is_some() {
            for bit in self.flips.into_iter().flatten() {
                if let Some(byte) = datagram.get_mut((bit / 8) as usize) {
                    *byte ^= 1 << (bit % 8);
                }
            }
        }
    }
}
