//! A short game that can be made to desync, and two machines that play it in the simulated network.

use crate::sim_network::{Shared, SimNetwork, SimSocket, TICK, addr, socket};
use core::time::Duration;
use rebout::{
    Buttons, ConnectOptions, Connection, Cue, Cues, Event, Finish, Game, Inputs, Now, Online, Options,
    Player, Save, StateError, fields,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) sums: [u32; 2],
    pub(crate) frame: u32,
    pub(crate) last: u32,
}
fields!(Sums { sums, frame, last });

/// The game; `bias` is no part of its state, and makes it wrong from frame 20 on.
pub(crate) struct Tally {
    pub(crate) state: Sums,
    pub(crate) bias: u32,
}

impl Tally {
    pub(crate) fn new(seed: u32, last: u32) -> Self {
        Self::of(seed, last, &[])
    }

    /// The game of a match with a first state.
    pub(crate) fn of(seed: u32, last: u32, first_state: &[u8]) -> Self {
        let sum = first_state.iter().fold(0, |sum: u32, byte| sum.wrapping_mul(31) + u32::from(*byte));
        Self { state: Sums { sums: [seed, sum], frame: 0, last }, bias: 0 }
    }
}

impl Save for Tally {
    type Snapshot = Sums;

    fn snapshot(&self) -> Sums {
        self.state
    }

    fn save(&self, slot: &mut Sums) -> Result<(), StateError> {
        *slot = self.state;
        Ok(())
    }

    fn restore(&mut self, snapshot: &Sums) -> Result<(), StateError> {
        self.state = *snapshot;
        Ok(())
    }
}

impl Game for Tally {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        assert!(cues.as_slice().is_empty(), "cues of another step");
        cues.emit(Cue(self.state.frame % 3));
        for player in Player::BOTH {
            let sum = &mut self.state.sums[player.index()];
            *sum = sum.wrapping_mul(31).wrapping_add(u32::from(inputs[player].buttons().0));
        }
        cues.phase("sums", &self.state.sums);
        self.state.frame += 1;
        if self.state.frame >= 20 {
            self.state.sums[0] ^= self.bias;
        }
    }

    fn finished(&self) -> bool {
        self.state.frame >= self.state.last
    }
}

/// One player's machine: it does what `Now` says.
pub(crate) struct Machine<D = SimSocket> {
    pub(crate) online: Online<Sums, D>,
    pub(crate) game: Option<Tally>,
    pub(crate) last: u32,
    pub(crate) bias: u32,
    pub(crate) events: Vec<Event>,
    pub(crate) notices: Vec<String>,
    pub(crate) guests: Vec<String>,
    pub(crate) accepts: bool,
    pub(crate) progress: String,
    pub(crate) finish: Option<Finish>,
    /// Frames whose previous state was the one before the game's, and those of them that a rollback came before.
    pub(crate) interpolated: u32,
    pub(crate) after_rollback: u32,
}

impl<D: rebout::net::Datagrams> Machine<D> {
    pub(crate) fn new(online: Online<Sums, D>) -> Self {
        Self {
            online,
            game: None,
            last: 60,
            bias: 0,
            events: Vec::new(),
            notices: Vec::new(),
            guests: Vec::new(),
            accepts: true,
            progress: String::new(),
            finish: None,
            interpolated: 0,
            after_rollback: 0,
        }
    }

    /// Acts until there is nothing left to do. `true` if something was done.
    pub(crate) fn turn(&mut self) {
        loop {
            let now = self.online.poll().unwrap();
            if !self.act(now) {
                return;
            }
        }
    }

    /// Does what is to be done. `false` if that is to draw.
    pub(crate) fn act(&mut self, now: Now) -> bool {
        match now {
            Now::Connecting(text) => self.progress = text,
            Now::Guest { name, .. } => {
                self.guests.push(name);
                self.online.answer(self.accepts);
            }
            Now::Begin { seed, seat, first_state, .. } => {
                let agreed = self.online.agreed().expect("the terms");
                assert_eq!((agreed.seed, agreed.seat, &agreed.first_state), (seed, seat, &first_state));
                let game = Tally { bias: self.bias, ..Tally::of(seed, self.last, &first_state) };
                self.online.start(self.game.insert(game));
                return true;
            }
            Now::Frame => {
                let rollbacks =
                    |online: &Online<Sums, D>| online.stats().map(|stats| stats.rollback.rollbacks);
                let before = rollbacks(&self.online);
                let game = self.game.as_mut().unwrap();
                self.online.advance(game, Buttons((game.state.frame / 7 % 32) as u16));
                if let Some((previous, phase)) = self.online.previous() {
                    assert!((0.0..=1.0).contains(&phase));
                    assert_eq!(previous.frame + 1, game.state.frame);
                    for player in (0..2).filter(|_| self.bias == 0) {
                        let state = previous.sums[player].wrapping_mul(31);
                        let input = game.state.sums[player].wrapping_sub(state);
                        assert!(input < 32, "an input that nobody had leads from the previous state");
                    }
                    self.interpolated += 1;
                    self.after_rollback += u32::from(rollbacks(&self.online) != before);
                }
                return true;
            }
            Now::Event(event) => {
                self.events.push(event);
                return true;
            }
            Now::Notice(text) => {
                self.notices.push(text);
                return true;
            }
            Now::Finished(finish) => self.finish = Some(finish),
            _ => {}
        }
        false
    }
}

pub(crate) fn options(name: &str) -> Options {
    Options::new(0xB0, 1).name(name)
}

/// Two machines in a simulated network.
pub(crate) struct SimOnline {
    pub(crate) sim: Shared,
    pub(crate) machines: [Machine; 2],
}

impl SimOnline {
    pub(crate) fn new(options: [Options; 2]) -> Self {
        Self::connected(options, &ConnectOptions::new())
    }

    pub(crate) fn connected(options: [Options; 2], connect: &ConnectOptions) -> Self {
        let sim = SimNetwork::new(2);
        let host = Connection::host_on(connect, socket(&sim, 0), &[addr(0)]).unwrap();
        let joiner = Connection::join_on(connect, socket(&sim, 1), &[addr(1)], host.share()).unwrap();
        let [one, two] = options;
        let machines = [Online::on(one, host).unwrap(), Online::on(two, joiner).unwrap()].map(Machine::new);
        Self { sim, machines }
    }

    pub(crate) fn step(&mut self) {
        self.machines.iter_mut().for_each(Machine::turn);
        self.sim.borrow_mut().pass(TICK);
    }

    /// Runs until `done`, at most two minutes of virtual time.
    pub(crate) fn run(&mut self, mut done: impl FnMut(&mut [Machine; 2]) -> bool) {
        let end = self.sim.borrow().now() + Duration::from_secs(120);
        while !done(&mut self.machines) {
            self.step();
            let told = self.machines.each_ref().map(|one| (one.progress.clone(), one.finish.clone()));
            assert!(self.sim.borrow().now() < end, "{told:?}");
        }
    }

    pub(crate) fn run_to_the_end(&mut self) -> [Finish; 2] {
        self.run(|machines| machines.iter().all(|one| one.finish.is_some()));
        self.machines.each_ref().map(|one| one.finish.clone().unwrap())
    }
}
