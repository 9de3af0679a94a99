//! Links by name: the paths that players sit behind, and the ones that break engines.

use super::chance::Chance;
use super::link::{Bandwidth, Burst, LinkConfig};
use std::time::Duration;

const fn millis(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const fn micros(us: u64) -> Duration {
    Duration::from_micros(us)
}

/// All figures are one way.
impl LinkConfig {
    /// Nothing but 30 ms: a round trip across a continent on a perfect path. The line to compare the others with.
    #[must_use]
    pub const fn clean() -> Self {
        Self::new(millis(30))
    }

    /// A cable in one house: switches add microseconds, an operating system's scheduling a few hundred.
    #[must_use]
    pub const fn lan() -> Self {
        Self { jitter: micros(200), keep_order: true, ..Self::new(micros(300)) }
    }

    /// Wired broadband within a country: the last mile dominates, loss is rare and single.
    #[must_use]
    pub const fn fibre() -> Self {
        Self { jitter: millis(2), keep_order: true, loss: Chance::per_million(500), ..Self::new(millis(9)) }
    }

    /// Wireless in a busy house behind broadband. The radio retries, so that trouble shows as jitter in order rather
    /// than as loss; once in a while a neighbour's traffic takes the channel for a few datagrams.
    #[must_use]
    pub const fn wifi() -> Self {
        Self {
            jitter: millis(12),
            keep_order: true,
            reorder: Chance::percent(1),
            reorder_delay: millis(60),
            loss: Chance::per_million(5_000),
            burst: Some(Burst {
                enter: Chance::per_million(2_000),
                leave: Chance::percent(25),
                loss: Chance::percent(60),
            }),
            ..Self::new(millis(15))
        }
    }

    /// A telephone on a loaded cell: scheduled in slots of some 10 ms, hand-overs that swallow a dozen datagrams, a
    /// narrow uplink with a deep queue.
    #[must_use]
    pub const fn mobile() -> Self {
        Self {
            jitter: millis(30),
            keep_order: true,
            loss: Chance::percent(1),
            burst: Some(Burst {
                enter: Chance::per_million(1_000),
                leave: Chance::percent(8),
                loss: Chance::percent(90),
            }),
            bandwidth: Some(Bandwidth { bits_per_s: 1_000_000, queue_bytes: 64 * 1024 }),
            ..Self::new(millis(40))
        }
    }

    /// Satellites in low orbit: the path changes every few seconds, which costs a short burst and moves the latency.
    #[must_use]
    pub const fn satellite() -> Self {
        Self {
            jitter: millis(15),
            keep_order: true,
            loss: Chance::percent(1),
            burst: Some(Burst {
                enter: Chance::per_million(3_000),
                leave: Chance::percent(20),
                loss: Chance::ALWAYS,
            }),
            ..Self::new(millis(35))
        }
    }

    /// A satellite over the equator: light alone needs 240 ms. Far outside any window: a match crawls, and must still
    /// be right.
    #[must_use]
    pub const fn geostationary() -> Self {
        Self { jitter: millis(10), keep_order: true, loss: Chance::percent(1), ..Self::new(millis(280)) }
    }

    /// Another continent: 180 ms round trip, which a window of 8 frames and some delay just covers.
    #[must_use]
    pub const fn distant() -> Self {
        Self {
            jitter: millis(8),
            keep_order: true,
            loss: Chance::per_million(5_000),
            ..Self::new(millis(90))
        }
    }

    /// One datagram in five lost on its own: what redundancy has to carry without a stall.
    #[must_use]
    pub const fn lossy() -> Self {
        Self { jitter: millis(5), loss: Chance::percent(20), ..Self::new(millis(30)) }
    }

    /// Bursts of a dozen datagrams (a fifth of a second) every few seconds: no redundancy of the last few helps.
    #[must_use]
    pub const fn bursty() -> Self {
        Self {
            burst: Some(Burst {
                enter: Chance::per_million(4_000),
                leave: Chance::per_million(83_000),
                loss: Chance::ALWAYS,
            }),
            ..Self::new(millis(30))
        }
    }

    /// A link on which sending more is the problem: 64 kbit/s and a queue of half a second.
    #[must_use]
    pub const fn narrow() -> Self {
        Self {
            loss: Chance::percent(10),
            bandwidth: Some(Bandwidth { bits_per_s: 64_000, queue_bytes: 4_096 }),
            ..Self::new(micros(63_333))
        }
    }

    /// Parallel paths of different length: a third of the datagrams is overtaken by up to 200 ms, a fifth comes twice.
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

    /// Everything at once that a bare link survives, each as bad as it may get with the match still alive.
    #[must_use]
    pub const fn hostile() -> Self {
        Self {
            jitter: millis(60),
            reorder: Chance::percent(10),
            reorder_delay: millis(200),
            loss: Chance::percent(25),
            burst: Some(Burst {
                enter: Chance::per_million(2_000),
                leave: Chance::percent(5),
                loss: Chance::percent(90),
            }),
            duplicate: Chance::percent(20),
            truncate: Chance::percent(5),
            ..Self::new(millis(50))
        }
    }

    /// Bits that flip past UDP's checksum. Not among the [`presets`](Self::presets): without authentication a flipped
    /// button is an input like any other, so that a match here may differ, and has to say so.
    #[must_use]
    pub const fn corrupting() -> Self {
        Self { corrupt: Chance::percent(2), ..Self::new(millis(30)) }
    }

    /// The links on which a match must never diverge, by name.
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

    /// The preset of that name; `corrupting` too.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let more = [("corrupting", Self::corrupting())];
        Self::presets().into_iter().chain(more).find(|(known, _)| *known == name).map(|(_, config)| config)
    }

    /// This link with each one of its impairments taken away, by name: the next steps when a failure is shrunk.
    ///
    /// ```
    /// use rebout::net::sim::LinkConfig;
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
        ]
        .into_iter()
        .filter(move |(_, simpler)| *simpler != self)
    }
}
