//! A simulated match of two machines, checked by an oracle.

use super::oracle::Oracle;
use super::sim::{EntryKind, NatKind, Recording, World};
use super::sim_peer::SimPeer;
use super::{Divergence, Flaw, Play, Setup, addresses, forge};
#[cfg(feature = "seal")]
use crate::connect::seal::{Randomness, Seal};
use crate::{Event, Frame, Game, Inputs, Lobby, Session};
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

/// A datagram that a machine of the match sent, delivered or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// The machine.
    pub by: usize,
    /// The address that it was sent to.
    pub to: SocketAddr,
    /// The bytes.
    pub datagram: &'a [u8],
}

/// Two machines, the network between them, and the oracle.
///
/// Every frame that both machines have confirmed is compared with a direct simulation of the true inputs.
/// [`flaw`](Self::flaw) returns the first thing that is wrong with a run.
pub struct SimMatch<G: Game> {
    /// The machines and the network: to change links, cut them, or reach into a machine.
    pub world: World<SimPeer<G>>,
    oracle: Oracle<G>,
    play: Play<G>,
    strict: bool,
    from_strangers: u64,
}

impl<G: Game> SimMatch<G> {
    /// A host and a joiner at time zero, before their first packet.
    #[must_use]
    pub fn new(setup: Setup, play: Play<G>) -> Self {
        let [host, join] = setup.configs.clone();
        let machines = [SimPeer::new(host, None, play), SimPeer::new(join, Some(addresses()[0]), play)];
        Self::of(setup, machines, play)
    }

    /// Two machines in lobbies that the caller made. The configs of the setup are not used.
    #[must_use]
    pub fn of_lobbies(setup: Setup, lobbies: [Lobby; 2], play: Play<G>) -> Self {
        Self::of(setup, lobbies.map(|lobby| SimPeer::in_lobby(lobby, play)), play)
    }

    fn of(setup: Setup, machines: [SimPeer<G>; 2], play: Play<G>) -> Self {
        let mut world = World::new(setup.seed);
        for ((machine, clock), addr) in machines.into_iter().zip(setup.clocks).zip(addresses()) {
            let start = world.draw(setup.start_within);
            world.add(addr, clock, start, machine);
        }
        world.network_mut().set_link(0, 1, setup.links[0]);
        world.network_mut().set_link(1, 0, setup.links[1]);
        world.network_mut().reserve(512);
        Self { world, oracle: Oracle::new(play), play, strict: false, from_strangers: 0 }
    }

    /// A copy of the match, which goes on from this moment on its own.
    ///
    /// # Panics
    ///
    /// When a machine or the oracle has closures ([`SimPeer::input_source`], [`SimPeer::watch`], ...), which cannot be
    /// copied.
    #[must_use]
    pub fn fork(&self) -> Self
    where
        G: Clone,
        G::Snapshot: Clone,
    {
        Self {
            world: self.world.fork(SimPeer::fork),
            oracle: self.oracle.fork(),
            play: self.play,
            strict: self.strict,
            from_strangers: self.from_strangers,
        }
    }

    // Commands.

    /// Seals the link by an invite, before the first packet.
    #[cfg(feature = "seal")]
    pub fn seal(&mut self, seed: u64) {
        let host = Seal::host(Randomness::Seeded(seed)).expect("a seed is random enough");
        let key = host.public_key().expect("a host has a key");
        let join = Seal::join(Randomness::Seeded(!seed), key, &addresses()[..1]).expect("an address");
        self.set_seals([host, join]);
    }

    /// Seals the link by address alone, before the first packet.
    #[cfg(feature = "seal")]
    pub fn seal_open(&mut self, seed: u64) {
        let host = Seal::host_open(Randomness::Seeded(seed)).expect("a seed is random enough");
        let join = Seal::join_open(Randomness::Seeded(!seed), addresses()[0]).expect("an address");
        self.set_seals([host, join]);
    }

    #[cfg(feature = "seal")]
    fn set_seals(&mut self, seals: [Seal; 2]) {
        for (id, seal) in seals.into_iter().enumerate() {
            self.world.machine_mut(id).seal = Some(seal);
        }
    }

    /// Makes a run panic at the first frame that differs from the direct simulation, instead of noting it.
    pub fn set_strict(&mut self, strict: bool) {
        self.strict = strict;
    }

    /// Makes the oracle's game with `make` instead of [`Play::build`]. The oracle then has no second game that nobody
    /// plays, and [`influenced`](Self::influenced) stays 0.
    pub fn make_direct(&mut self, make: impl FnOnce(u32) -> G + 'static) {
        self.oracle.make = Some(Box::new(make));
    }

    /// Records every datagram from now on, and follows the frame and sequence numbers of both machines. [`forge::Knows`]
    /// needs both.
    pub fn eavesdrop(&mut self) {
        self.world.network_mut().record(Recording::Full);
        for id in 0..2 {
            self.world.machine_mut(id).overheard.get_or_insert_with(super::Overheard::new);
        }
    }

    /// Loses the next `times` datagrams of a machine that have this [label](forge::label).
    pub fn lose(&mut self, by: usize, label: &str, times: u32) {
        let label = label.to_owned();
        self.world.network_mut().lose(by, times, move |datagram| forge::label(datagram) == label);
    }

    /// Puts a machine behind a NAT of its own, and returns the NAT's number. The machine keeps its address outside until
    /// the NAT forgets, and the way to and from the other machine is open, as after hole punching.
    pub fn place_behind_nat(&mut self, id: usize, kind: NatKind) -> usize {
        let now = self.world.now();
        let network = self.world.network_mut();
        let nat = network.add_nat(addresses()[id].ip(), kind);
        network.place_behind(id, nat);
        network.map(now, id, addresses()[1 - id]);
        nat
    }

    /// Delivers a datagram to a machine at once, with `from` as its source address.
    pub fn inject(&mut self, to: usize, from: SocketAddr, datagram: &[u8]) {
        if !addresses().contains(&from) {
            self.from_strangers += datagram.len() as u64;
        }
        let now = self.world.local_now(to);
        self.world.machine_mut(to).take_in(now, from, datagram);
    }

    /// Replaces a machine by one in `lobby`, like a program that is restarted. The oracle forgets the match; datagrams in
    /// flight still arrive.
    pub fn restart(&mut self, id: usize, lobby: Lobby) {
        let mut machine = SimPeer::in_lobby(lobby, self.play);
        let before = self.world.machine(id);
        machine.overheard = before.overheard.is_some().then(super::Overheard::new);
        self.world.restart(id, machine);
        for id in 0..2 {
            self.world.machine_mut(id).confirmed.clear();
        }
        self.oracle.anew();
    }

    /// Runs for `time` of virtual time, and checks every frame that both machines have confirmed.
    pub fn run_for(&mut self, time: Duration) {
        let end = self.world.now() + time;
        while self.world.now() < end {
            // In short stretches, so that few frames wait for the oracle.
            let stretch = (self.world.now() + Duration::from_millis(500)).min(end);
            self.world.run_until(stretch);
            self.check();
        }
    }

    /// Runs until `done` is true, at most for `limit` of virtual time; looks every 100 ms. Returns whether it was true.
    pub fn run_until(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        self.run_looking(limit, Duration::from_millis(100), &done)
    }

    /// As [`run_until`](Self::run_until), but looks every millisecond.
    pub fn step_until(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        self.run_looking(limit, Duration::from_millis(1), &done)
    }

    /// Runs until both machines have confirmed this frame. Returns whether they did within a generous limit.
    pub fn run_until_frame(&mut self, frame: u32) -> bool {
        self.run_until(Duration::from_secs(60 + u64::from(frame) / 10), |sim| sim.checked() >= Frame(frame))
    }

    /// Records the true inputs of every frame from now on.
    pub fn record(&mut self) {
        self.oracle.record.get_or_insert_default();
    }

    /// Takes the recorded inputs, and ends the recording.
    pub fn take_record(&mut self) -> Vec<Inputs> {
        self.oracle.record.take().unwrap_or_default()
    }

    // Getters.

    /// A machine.
    #[must_use]
    pub fn machine(&self, id: usize) -> &SimPeer<G> {
        self.world.machine(id)
    }

    /// A machine, to be acted on.
    pub fn machine_mut(&mut self, id: usize) -> &mut SimPeer<G> {
        self.world.machine_mut(id)
    }

    /// The match of a machine, to be acted on.
    ///
    /// # Panics
    ///
    /// When it has not begun.
    pub fn session_mut(&mut self, id: usize) -> &mut Session<G::Snapshot> {
        self.machine_mut(id).session_mut().expect("the match has begun")
    }

    /// The lobby of a machine, to be acted on.
    ///
    /// # Panics
    ///
    /// When the match has begun.
    pub fn lobby_mut(&mut self, id: usize) -> &mut Lobby {
        self.machine_mut(id).lobby_mut().expect("the match has not begun")
    }

    /// The local time of a machine.
    #[must_use]
    pub fn local_now(&self, id: usize) -> Duration {
        self.world.local_now(id)
    }

    /// The events that a session told its game, in order.
    pub fn told(&self, id: usize) -> impl Iterator<Item = &Event> {
        self.machine(id).events.iter().map(|(_, event)| event)
    }

    /// The last event of a machine's match, once it is over.
    #[must_use]
    pub fn ending(&self, id: usize) -> Option<&Event> {
        self.told(id).find(|event| matches!(event, Event::Ended(_) | Event::Disconnected { .. }))
    }

    /// Every datagram that the machines have sent since [`eavesdrop`](Self::eavesdrop).
    pub fn said(&self) -> impl DoubleEndedIterator<Item = Said<'_>> {
        let network = self.world.network();
        network.transcript().entries().iter().filter(|entry| entry.kind == EntryKind::Sent).filter_map(
            |entry| {
                let by = network.find(entry.from)?;
                Some(Said { by, to: entry.to, datagram: &entry.datagram })
            },
        )
    }

    /// The datagrams of a machine with this [label](forge::label), the newest first.
    #[must_use]
    pub fn said_by(&self, id: usize, label: &str) -> Vec<&[u8]> {
        let by = |said: &Said<'_>| said.by == id && forge::label(said.datagram) == label;
        self.said().rev().filter(by).map(|said| said.datagram).collect()
    }

    /// The bytes that were [injected](Self::inject) from addresses that are neither machine's.
    #[must_use]
    pub fn from_strangers(&self) -> u64 {
        self.from_strangers
    }

    /// The bytes that the machines sent to addresses that are neither machine's.
    #[must_use]
    pub fn to_strangers(&self) -> u64 {
        self.world.network().stats().unroutable.payload_bytes
    }

    /// The number of frames that both machines have confirmed and the oracle has checked.
    #[must_use]
    pub fn checked(&self) -> Frame {
        self.oracle.checked
    }

    /// The first frame that differs from the direct simulation.
    #[must_use]
    pub fn divergence(&self) -> Option<Divergence> {
        self.oracle.divergence
    }

    /// The number of checked frames whose state differs from that of the same game with neutral inputs.
    #[must_use]
    pub fn influenced(&self) -> u64 {
        self.oracle.influenced
    }

    /// The directly simulated game.
    #[must_use]
    pub fn direct(&self) -> Option<&G> {
        self.oracle.direct()
    }

    /// The worst flaw of the run so far. `latent` says that the link has latency, so that a run without a misprediction
    /// is a flaw.
    #[must_use]
    pub fn flaw(&self, latent: bool) -> Option<Flaw> {
        if let Some(divergence) = self.divergence() {
            return Some(Flaw::Diverged(divergence));
        }
        let machines = [self.machine(0), self.machine(1)];
        let alarm = |event: &&Event| matches!(event, Event::Desync(_) | Event::InputConflict { .. });
        let mut told = machines.iter().flat_map(|machine| &machine.events).map(|(_, event)| event);
        if let Some(event) = told.find(alarm) {
            return Some(Flaw::Reported(event.clone()));
        }
        if self.checked() == Frame::ZERO {
            return Some(Flaw::NoMatch);
        }
        if let Some(machine) = machines.iter().find(|machine| machine.ended()) {
            return Some(Flaw::Over(machine.events.last().map(|(_, event)| event.clone())));
        }
        if latent && machines.iter().any(|machine| machine.stats().rollback.rollbacks == 0) {
            return Some(Flaw::NoMisprediction);
        }
        if self.oracle.knows_idle() && self.influenced() < u64::from(self.checked().0) / 2 {
            return Some(Flaw::NoInfluence { frames: self.influenced() });
        }
        None
    }

    // Internal.

    /// Without the type of `done`: the tests of a game have dozens, and each would build this loop again.
    fn run_looking(&mut self, limit: Duration, every: Duration, done: &dyn Fn(&Self) -> bool) -> bool {
        let end = self.world.now() + limit;
        while self.world.now() < end {
            if done(self) {
                return true;
            }
            self.run_for(every);
        }
        done(self)
    }

    fn check(&mut self) {
        if let Some(agreed) = self.machine(0).agreed() {
            let seed = agreed.seed;
            self.oracle.begin(seed);
        }
        while self.oracle.check([self.world.machine(0), self.world.machine(1)]) {
            for id in 0..2 {
                self.world.machine_mut(id).confirmed.pop_front();
            }
        }
        if self.strict
            && let Some(divergence) = self.divergence()
        {
            panic!("{}", Flaw::Diverged(divergence));
        }
    }
}

impl<G: Game> fmt::Debug for SimMatch<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, joiner) = (self.machine(0), self.machine(1));
        write!(f, "{} frames checked; host: {host:?}; joiner: {joiner:?}", self.checked())
    }
}
