//! The setup of a simulated match: its links, configs and clocks, and the game that is played.

use super::sim::Clock;
use crate::lab::link::LinkConfig;
use crate::{Buttons, Config, Input, Player};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// The number of the machine that hosts.
pub const HOST: usize = 0;
/// The number of the machine that joins.
pub const JOINER: usize = 1;

/// The links, configs and clocks of two machines.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The seed of all randomness of the run.
    pub seed: u64,
    /// The link from the host to the joiner, and back.
    pub links: [LinkConfig; 2],
    /// The configs of the host and of the joiner.
    pub configs: [Config; 2],
    /// The clocks of the host and of the joiner.
    pub clocks: [Clock; 2],
    /// Each machine is started at a time drawn from zero up to this.
    pub start_within: Duration,
}

impl Setup {
    /// Two machines of the same kind on a link that is the same both ways, with an input delay of 0. They start within
    /// one frame of each other.
    #[must_use]
    pub fn new(seed: u64, link: LinkConfig) -> Self {
        let config = |side: u64| {
            let mut config = Config::new(0xB0);
            config.lobby.entropy =
                Some(seed.wrapping_mul(2).wrapping_add(side).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            config.rollback.delay_frames = Some(0);
            config.lobby.seed = Some(seed as u32 | 1);
            config
        };
        Self {
            seed,
            links: [link; 2],
            configs: [config(0), config(1)],
            clocks: [Clock::default(), Clock::default()],
            start_within: Duration::from_millis(17),
        }
    }

    /// Changes both configs.
    #[must_use]
    pub fn configure(mut self, change: impl Fn(&mut Config)) -> Self {
        self.configs.iter_mut().for_each(change);
        self
    }
}

/// The addresses of the two machines of a simulated match.
#[must_use]
pub fn addresses() -> [SocketAddr; 2] {
    [SocketAddr::from(([192, 0, 2, 1], 7001)), SocketAddr::from(([192, 0, 2, 2], 7002))]
}

/// The buttons that a player holds, by the number of the frame that is being played and the agreed seed.
pub type Script = fn(player: Player, frame: u32, seed: u32) -> Input;

/// A [`Script`] whose buttons change every fourth frame. The figures of other libraries were measured with such a load.
#[must_use]
pub fn every_fourth(player: Player, frame: u32, seed: u32) -> Input {
    let mixed =
        (frame / 4 + 1).wrapping_mul(0x9E37_79B9) ^ seed.wrapping_mul(0x85EB_CA6B) ^ player.index() as u32;
    Buttons((mixed.wrapping_mul(0xC2B2_AE35) >> 28) as u16).into()
}

/// A game: how its first state is built, and which buttons its players hold.
pub struct Play<G> {
    /// Makes the first state from a seed.
    pub build: fn(seed: u32) -> G,
    /// The buttons of both players in every frame.
    pub script: Script,
}

impl<G> Copy for Play<G> {}
impl<G> Clone for Play<G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G> fmt::Debug for Play<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Play").finish_non_exhaustive()
    }
}
