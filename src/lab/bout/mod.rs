//! A bout: two machines in a simulated network, and an oracle that knows what should have happened.
//!
//! Shared by the tests, `netlab` and `stress`. Every confirmed frame of both machines is compared with a direct
//! simulation of the true inputs.

use super::contestant::{Contestant, Play, digest};
use super::sim::{Clock, World};
use crate::net::link::LinkConfig;
use crate::{Config, Cues, Event, Frame, Game, Inputs, Player, Session};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// A frame that came out differently from the direct simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The frame.
    pub frame: Frame,
    /// Whose.
    pub player: Player,
    /// Whether it was given other inputs, or came to another state on the same inputs.
    pub inputs_differ: bool,
}

/// What is wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The machines came to different states.
    Diverged(Divergence),
    /// A machine reported that they do.
    Reported(Event),
    /// The match was over before the run was.
    Over(Option<Event>),
    /// It proved nothing: the machines never met, or never confirmed a frame.
    NoMatch,
    /// It proved nothing: no input was predicted wrongly, so nothing was mended.
    NoMisprediction,
    /// It proved nothing: the inputs hardly changed the state.
    NoInfluence {
        /// After how many frames it was another than with nobody playing.
        frames: u64,
    },
}

impl Flaw {
    /// Whether the machines, or what they say of each other, differ.
    pub fn is_divergence(&self) -> bool {
        matches!(self, Self::Diverged(_) | Self::Reported(_))
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged(Divergence { frame, player, inputs_differ }) => {
                let what = if *inputs_differ { "the inputs" } else { "the state" };
                write!(
                    f,
                    "{what} of frame {frame} differ at the machine of {player} from the direct simulation"
                )
            }
            Self::Reported(event) => write!(f, "a machine reported {event:?}"),
            Self::Over(event) => write!(f, "the match was over early: {event:?}"),
            Self::NoMatch => f.write_str("there was no match"),
            Self::NoMisprediction => f.write_str("nothing was mispredicted on a link with latency"),
            Self::NoInfluence { frames } => write!(f, "inputs changed the state of {frames} frames only"),
        }
    }
}

/// How two machines are brought together.
#[derive(Clone)]
pub struct Setup {
    /// From which everything random is drawn.
    pub seed: u64,
    /// The way from the first machine to the second, and back.
    pub links: [LinkConfig; 2],
    /// Both machines' configs; the first hosts.
    pub configs: [Config; 2],
    /// Both machines' clocks.
    pub clocks: [Clock; 2],
}

impl Setup {
    /// Two machines of the same kind on a link that is the same both ways. Delay 0, window 8.
    pub fn new(seed: u64, link: LinkConfig) -> Self {
        let config = |side: u64| {
            let mut config = Config::new(0xB0);
            config.entropy =
                Some(seed.wrapping_mul(2).wrapping_add(side).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            config.delay_frames = Some(0);
            config.seed = Some(seed as u32 | 1);
            config
        };
        Self {
            seed,
            links: [link; 2],
            configs: [config(0), config(1)],
            clocks: [Clock::default(), Clock::default()],
        }
    }

    /// Changes both configs.
    #[must_use]
    pub fn configure(mut self, change: impl Fn(&mut Config)) -> Self {
        self.configs.iter_mut().for_each(change);
        self
    }
}

/// The addresses of the two machines.
pub fn addresses() -> [SocketAddr; 2] {
    [SocketAddr::from(([192, 0, 2, 1], 7001)), SocketAddr::from(([192, 0, 2, 2], 7002))]
}

/// Two machines, the network between them, and the oracle.
pub struct Bout<G: Game> {
    /// The simulation.
    pub world: World<Contestant<G>>,
    direct: Option<G>,
    build: fn(u32) -> G,
    /// Makes the oracle's game instead of [`Play::build`].
    pub make_direct: Option<Box<dyn FnOnce(u32) -> G>>,
    checked: Frame,
    /// The same game with nobody playing it; not beside an oracle of one's own making.
    idle: Option<G>,
    influenced: u64,
    divergence: Option<Divergence>,
    /// The true inputs of every checked frame, if they are wanted.
    record: Option<Vec<Inputs>>,
}

impl<G: Game> Bout<G> {
    /// Brings two machines together; nothing has happened yet.
    pub fn new(setup: Setup, play: Play<G>) -> Self {
        let mut world = World::new(setup.seed);
        let addresses = addresses();
        let [host, join] = setup.configs;
        let [one, two] = setup.clocks;
        let start = world.draw(Duration::from_millis(17));
        world.add(addresses[0], one, start, Contestant::new(host, None, play));
        let start = world.draw(Duration::from_millis(17));
        world.add(addresses[1], two, start, Contestant::new(join, Some(addresses[0]), play));
        world.network_mut().set_link(0, 1, setup.links[0]);
        world.network_mut().set_link(1, 0, setup.links[1]);
        world.network_mut().reserve(512);
        Self {
            world,
            direct: None,
            build: play.build,
            make_direct: None,
            checked: Frame::ZERO,
            idle: None,
            influenced: 0,
            divergence: None,
            record: None,
        }
    }

    /// A machine.
    pub fn machine(&self, id: usize) -> &Contestant<G> {
        self.world.machine(id)
    }

    /// Runs for `time` of virtual time, and checks every frame that both have confirmed.
    pub fn run_for(&mut self, time: Duration) {
        let end = self.world.now() + time;
        while self.world.now() < end {
            // In short stretches, so that what waits for the oracle stays small.
            let stretch = (self.world.now() + Duration::from_millis(500)).min(end);
            self.world.run_until(stretch);
            self.check();
        }
    }

    /// Runs until `done` says so, or `limit` of virtual time is over. Whether it was done.
    pub fn run_until(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let end = self.world.now() + limit;
        while self.world.now() < end {
            if done(self) {
                return true;
            }
            self.run_for(Duration::from_millis(100));
        }
        done(self)
    }

    /// Runs until both machines have confirmed this frame.
    pub fn run_until_frame(&mut self, frame: u32) -> bool {
        self.run_until(Duration::from_secs(60 + u64::from(frame) / 10), |bout| bout.checked >= Frame(frame))
    }

    fn check(&mut self) {
        if self.direct.is_none()
            && let Some(seed) = self.machine(0).agreed().map(|agreed| agreed.seed)
        {
            (self.direct, self.idle) = match self.make_direct.take() {
                None => (Some((self.build)(seed)), Some((self.build)(seed))),
                Some(make) => (Some(make(seed)), None),
            };
        }
        let Some(direct) = &mut self.direct else { return };
        let mut cues = Cues::new();
        loop {
            let both = [0, 1].map(|id| self.world.machine(id).confirmed.front().copied());
            let [Some(one), Some(two)] = both else { return };
            let seats = [0, 1].map(|id| self.world.machine(id).session().map(Session::local));
            let mut truth = Inputs::default();
            for (seat, (_, inputs, _)) in seats.iter().zip([one, two]) {
                if let Some(player) = *seat {
                    truth[player] = inputs[player];
                }
            }
            cues.clear();
            direct.step(truth, &mut cues);
            if let Some(record) = &mut self.record {
                record.push(truth);
            }
            let expected = digest(&direct.snapshot());
            for ((frame, inputs, digest), seat) in [one, two].into_iter().zip(seats) {
                if self.divergence.is_none()
                    && (inputs != truth || digest != expected || frame != self.checked)
                {
                    let player = seat.unwrap_or(Player::One);
                    self.divergence = Some(Divergence { frame, player, inputs_differ: inputs != truth });
                }
            }
            if let Some(idle) = &mut self.idle {
                idle.step(Inputs::default(), &mut cues);
                self.influenced += u64::from(expected != digest(&idle.snapshot()));
            }
            self.checked = self.checked.next();
            for id in 0..2 {
                self.world.machine_mut(id).confirmed.pop_front();
            }
        }
    }

    /// Keeps the true inputs of every frame from here on.
    pub fn record(&mut self) {
        self.record.get_or_insert_default();
    }

    /// The true inputs that were kept.
    pub fn take_record(&mut self) -> Vec<Inputs> {
        self.record.take().unwrap_or_default()
    }

    /// How many frames both machines have confirmed and the oracle has checked.
    pub fn checked(&self) -> Frame {
        self.checked
    }

    /// The first frame that came out differently.
    pub fn divergence(&self) -> Option<Divergence> {
        self.divergence
    }

    /// After how many of the checked frames the state was another than it would be with nobody playing.
    pub fn influenced(&self) -> u64 {
        self.influenced
    }

    /// What is wrong with the run so far, the worst first; `latent` says that the link has latency, so that something
    /// must have been mispredicted.
    pub fn flaw(&self, latent: bool) -> Option<Flaw> {
        if let Some(divergence) = self.divergence {
            return Some(Flaw::Diverged(divergence));
        }
        let machines = [self.machine(0), self.machine(1)];
        let alarm = |event: &&Event| matches!(event, Event::Desync(_) | Event::InputConflict { .. });
        let mut told = machines.iter().flat_map(|machine| &machine.events).map(|(_, event)| event);
        if let Some(event) = told.find(alarm) {
            return Some(Flaw::Reported(event.clone()));
        }
        if self.checked == Frame::ZERO {
            return Some(Flaw::NoMatch);
        }
        if let Some(machine) = machines.iter().find(|machine| machine.ended()) {
            return Some(Flaw::Over(machine.events.last().map(|(_, event)| event.clone())));
        }
        if latent && machines.iter().any(|machine| machine.stats().rollback.rollbacks == 0) {
            return Some(Flaw::NoMisprediction);
        }
        if self.idle.is_some() && self.influenced < u64::from(self.checked.0) / 2 {
            return Some(Flaw::NoInfluence { frames: self.influenced });
        }
        None
    }

    /// The directly simulated game.
    pub fn direct(&self) -> Option<&G> {
        self.direct.as_ref()
    }
}
