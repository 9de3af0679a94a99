//! Named links: those of real players, and those that break engines.

use super::{Bandwidth, Burst, Chance, LinkConfig};
use std::time::Duration;

const fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const fn micros(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// All figures are one way.
impl LinkConfig {
    /// A latency of 30 ms and nothing else: a perfect path across a continent, as a baseline for the others.
    #[must_use]
    pub const fn clean() -> Self {
        Self::new(millis(30))
    }

    /// A wired local network: switches add microseconds of jitter, the scheduling of an operating system a few
    /// hundred.
    #[must_use]
    pub const fn lan() -> Self {
        Self { jitter: micros(200), keep_order: true, ..Self::new(micros(300)) }
    }

    /// Wired broadband within a country: the last mile dominates, loss is rare and single.
    #[must_use]
    pub const fn fibre() -> Self {
        Self { jitter: millis(2), keep_order: true, loss: Chance::per_million(500), ..Self::new(millis(9)) }
    }

    /// Wi-Fi in a busy house behind broadband. The radio retransmits, which turns loss into jitter that keeps the
    /// order; once in a while a neighbour's traffic takes the channel for some 60 ms.
    #[must_use]
    pub const fn wifi() -> Self {
        Self {
            jitter: millis(12),
            keep_order: true,
            reorder: Chance::percent(1),
            reorder_delay: millis(60),
            loss: Chance::per_million(5_000),
            burst: Some(Burst {
                mean_gap: millis(8_000),
                mean_length: millis(64),
                loss: Chance::percent(60),
            }),
            ..Self::new(millis(15))
        }
    }

    /// A phone in a loaded mobile cell: scheduling slots of some 10 ms, hand-overs of some 200 ms, a narrow
    /// uplink with a deep queue.
    #[must_use]
    pub const fn mobile() -> Self {
        Self {
            jitter: millis(30),
            keep_order: true,
            loss: Chance::percent(1),
            burst: Some(Burst {
                mean_gap: millis(16_000),
                mean_length: millis(200),
                loss: Chance::percent(90),
            }),
            bandwidth: Some(Bandwidth { bits_per_s: 1_000_000, queue_bytes: 64 * 1024 }),
            ..Self::new(millis(40))
        }
    }

    /// Satellites in low orbit: the path changes every few seconds, with a short burst of loss and another latency.
    #[must_use]
    pub const fn satellite() -> Self {
        Self {
            jitter: millis(15),
            keep_order: true,
            loss: Chance::percent(1),
            burst: Some(Burst { mean_gap: millis(5_600), mean_length: millis(84), loss: Chance::ALWAYS }),
            ..Self::new(millis(35))
        }
    }

    /// A geostationary satellite: light alone needs 240 ms. The latency exceeds any window: a match is slow, and must
    /// still be correct.
    #[must_use]
    pub const fn geostationary() -> Self {
        Self { jitter: millis(10), keep_order: true, loss: Chance::percent(1), ..Self::new(millis(280)) }
    }

    /// A peer on another continent: an RTT of 180 ms, which a window of 8 frames and some delay just covers.
    #[must_use]
    pub const fn distant() -> Self {
        Self {
            jitter: millis(8),
            keep_order: true,
            loss: Chance::per_million(5_000),
            ..Self::new(millis(90))
        }
    }

    /// Independent loss of one datagram in five, which redundant inputs must cover without a stall.
    #[must_use]
    pub const fn lossy() -> Self {
        Self { jitter: millis(5), loss: Chance::percent(20), ..Self::new(millis(30)) }
    }

    /// Bursts in which all is lost for a fifth of a second, every few seconds: too long for a few redundant inputs.
    #[must_use]
    pub const fn bursty() -> Self {
        Self {
            burst: Some(Burst { mean_gap: millis(4_150), mean_length: millis(200), loss: Chance::ALWAYS }),
            ..Self::new(millis(30))
        }
    }

    /// A congested link, on which sending more makes it worse: 64 kbit/s and a queue of half a second.
    #[must_use]
    pub const fn narrow() -> Self {
        Self {
            loss: Chance::percent(10),
            bandwidth: Some(Bandwidth { bits_per_s: 64_000, queue_bytes: 4_096 }),
            ..Self::new(micros(63_333))
        }
    }

    /// Parallel paths of different length: a third of the datagrams is late by up to 200 ms, a fifth arrives twice.
    #[must_use]
    pub const fn reordering() -> Self {
        Self {
            jitter: millis(10),
            reorder: Chance::percent(33),
            reorder_delay: millis(200),
            duplicate: Chance::percent(20),
            ..Self::new(millis(40))
        }
    }

    /// All impairments but bit flips and a bottleneck at once, each as bad as a match survives.
    #[must_use]
    pub const fn hostile() -> Self {
        Self {
            jitter: millis(60),
            reorder: Chance::percent(10),
            reorder_delay: millis(200),
            loss: Chance::percent(25),
            burst: Some(Burst {
                mean_gap: millis(8_000),
                mean_length: millis(320),
                loss: Chance::percent(90),
            }),
            duplicate: Chance::percent(20),
            truncate: Chance::percent(5),
            ..Self::new(millis(50))
        }
    }

    /// Bit flips that UDP's checksum does not detect. Not among the [`presets`](Self::presets): without
    /// authentication a corrupted input is accepted like any other, and a match may desync, which must then be
    /// reported.
    #[must_use]
    pub const fn corrupting() -> Self {
        Self { corrupt: Chance::percent(2), ..Self::new(millis(30)) }
    }

    /// The links on which a match must never desync, by name.
    #[must_use]
    pub const fn presets() -> [(&'static str, Self); 13] {
        [
            ("clean", Self::clean()),
            ("lan", Self::lan()),
            ("fibre", Self::fibre()),
            ("wifi", Self::wifi()),
            ("mobile", Self::mobile()),
            ("satellite", Self::satellite()),
            ("geostationary", Self::geostationary()),
            ("distant", Self::distant()),
            ("lossy", Self::lossy()),
            ("bursty", Self::bursty()),
            ("narrow", Self::narrow()),
            ("reordering", Self::reordering()),
            ("hostile", Self::hostile()),
        ]
    }

    /// The preset of that name, or [`corrupting`](Self::corrupting).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let more = [("corrupting", Self::corrupting())];
        Self::presets().into_iter().chain(more).find(|(known, _)| *known == name).map(|(_, config)| config)
    }

    /// Copies of this link, each without one of its impairments, by name. They are the next steps when a failure is
    /// shrunk.
    ///
    /// ```
    /// use rebout::lab::link::LinkConfig;
    ///
    /// let names: Vec<_> = LinkConfig::lossy().simpler().map(|(name, _)| name).collect();
    /// assert_eq!(names, ["latency", "jitter", "loss"]);
    /// assert_eq!(LinkConfig::default().simpler().count(), 0);
    /// ```
    pub fn simpler(self) -> impl Iterator<Item = (&'static str, Self)> {
        let never = Chance::NEVER;
        [
            ("latency", Self { latency: Duration::ZERO, ..self }),
            ("jitter", Self { jitter: Duration::ZERO, ..self }),
            ("reorder", Self { reorder: never, reorder_delay: Duration::ZERO, ..self }),
            ("loss", Self { loss: never, ..self }),
            ("burst", Self { burst: None, ..self }),
            ("duplicate", Self { duplicate: never, ..self }),
            ("corrupt", Self { corrupt: never, ..self }),
            ("truncate", Self { truncate: never, ..self }),
            ("bandwidth", Self { bandwidth: None, ..self }),
            ("policer", Self { policer: None, ..self }),
        ]
        .into_iter()
        .filter(move |(_, simpler)| *simpler != self)
    }
}
