//! One direction of a path, and its impairments. The fate of a datagram is decided at the moment it is sent.
//!
//! [`LinkConfig`] describes a link: latency, jitter, loss, corruption, bandwidth; [`Link`] applies it to datagrams: a time
//! and a length in, arrivals out. [`LinkConfig::presets`] has the links of real players. `lab::relay`
//! runs two links on real sockets; the simulated network runs one for each ordered pair of endpoints. Every draw is a
//! function of the seed.

mod bursts;
mod chance;
mod config;
mod in_flight;
mod presets;
mod seeded;

pub use chance::{BadChance, Chance};
pub use config::{Bandwidth, Burst, LinkConfig};

pub(crate) use in_flight::InFlight;
pub(crate) use seeded::Seeded;

use bursts::Bursts;
use std::time::Duration;

/// The length of the IPv4 and UDP headers of a datagram.
pub const HEADER_BYTES: u64 = 28;

/// The shortest delay of a datagram. Virtual time therefore moves on even when two machines answer each other at once
/// over a link without latency.
const MIN_DELAY_NANOS: u64 = 1_000;

/// Converts a time to nanoseconds, the unit inside links and the simulator. They compare faster than a `Duration`, which
/// has two fields.
pub(crate) fn nanos(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(time.subsec_nanos()))
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
    /// Dropped by the full queue of the bottleneck, or by the policer.
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
    bursts: Bursts,
    /// When the bottleneck has sent its whole queue.
    busy_until: u64,
    policed_until: u64,
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
        let bursts = Bursts::new(rng.branch());
        Self {
            config,
            rng,
            bursts,
            busy_until: 0,
            policed_until: 0,
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
        if config.burst != self.config.burst {
            self.bursts.restart();
        }
        self.config = config;
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
        // A policer counts datagrams as a bottleneck would queue them, and lets them through at once.
        let passed = through(&mut self.policed_until, self.config.policer, now, len);
        let leaves_at = passed.and_then(|_| through(&mut self.busy_until, self.config.bandwidth, now, len));
        let Some(leaves_at) = leaves_at else {
            self.stats.queue_full += 1;
            return Passage::default();
        };
        if self.bursts.loss_at(leaves_at, self.config.burst).hits(&mut self.rng) {
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

/// The time at which a bottleneck that is busy up to `busy_until` has sent the datagram; `None` if its queue is full.
fn through(busy_until: &mut u64, bandwidth: Option<Bandwidth>, now: u64, len: usize) -> Option<u64> {
    let Some(Bandwidth { bits_per_s, queue_bytes }) = bandwidth else {
        return Some(now);
    };
    let bits_per_s = u128::from(bits_per_s.max(1));
    let size = len as u64 + HEADER_BYTES;
    let backlog_nanos = busy_until.saturating_sub(now);
    let backlog_bytes = u128::from(backlog_nanos) * bits_per_s / 8_000_000_000;
    if backlog_nanos > 0 && backlog_bytes + u128::from(size) > u128::from(queue_bytes) {
        return None;
    }
    let takes = u64::try_from(u128::from(size) * 8_000_000_000 / bits_per_s).unwrap_or(u64::MAX);
    *busy_until = (*busy_until).max(now).saturating_add(takes);
    Some(*busy_until)
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
