//! Two machines on a virtual clock, by hand: everything that goes over the wire can be seen, withheld and forged, and
//! the whole can be cloned at any moment. Every frame that both have confirmed is compared with a direct simulation.

use core::time::Duration;
use games::playground::Playground;
use rebout::wire::{self, Packet, control, message::Message};
use rebout::{
    Advanced, Buttons, Config, Cues, Event, Frame, Game, Inputs, Lobby, LobbyError, Player, Protocol,
    Refusals, Session, fields,
};
use std::collections::VecDeque;
use std::net::SocketAddr;

pub(crate) const HOST: usize = 0;
pub(crate) const JOINER: usize = 1;
const STEP: Duration = Duration::from_millis(1);

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) fn addr(id: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1 + id as u8], 7_000 + id as u16))
}

pub(crate) fn stranger() -> SocketAddr {
    SocketAddr::from(([203, 0, 113, 9], 9_999))
}

/// The playground, with an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    play: Playground,
    last: u32,
}
fields!(Round { play, last });

impl Game for Round {
    fn step(&mut self, inputs: Inputs, cues: &mut Cues) {
        self.play.step(inputs, cues);
    }
    fn finished(&self) -> bool {
        self.play.frame >= self.last
    }
}

impl Round {
    fn new(seed: u32, last: u32) -> Self {
        Self { play: Playground::new(seed).expect("the seed is agreed on, so not 0"), last }
    }
}

/// What a player holds: something else every few frames.
fn held(player: Player, frame: Frame) -> Buttons {
    let mixed = (frame.0 / 3 + 1).wrapping_mul(0x9E37_79B9) ^ (player.index() as u32 + 1) << 20;
    Buttons((mixed.wrapping_mul(0xC2B2_AE35) >> 28) as u16)
}

#[derive(Clone)]
#[allow(clippy::large_enum_variant)]
pub(crate) enum Node {
    Lobby(Lobby),
    Match(Session<Round>, Round),
}

#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) node: Node,
    /// Does nothing and hears nothing: not started yet, or gone.
    pub(crate) asleep: bool,
    /// Does not begin the match before this.
    pub(crate) loads_until: Duration,
    pub(crate) events: Vec<Event>,
    pub(crate) error: Option<LobbyError>,
    confirmed: VecDeque<(Frame, Inputs, Round)>,
    /// The end of the inputs it has heard and said, as on the wire.
    pub(crate) heard_end: u32,
    pub(crate) heard_newest: Buttons,
    pub(crate) said_end: u32,
    /// The number of its newest control packet.
    pub(crate) sequence: u16,
    pub(crate) last_input: Vec<u8>,
}

impl Side {
    pub(crate) fn new(lobby: Lobby) -> Self {
        Self {
            node: Node::Lobby(lobby),
            asleep: false,
            loads_until: Duration::ZERO,
            events: Vec::with_capacity(16),
            error: None,
            confirmed: VecDeque::with_capacity(256),
            heard_end: 0,
            heard_newest: Buttons::NONE,
            said_end: 0,
            sequence: 0,
            last_input: Vec::with_capacity(128),
        }
    }

    pub(crate) fn protocol(&mut self) -> &mut dyn Protocol {
        match &mut self.node {
            Node::Lobby(lobby) => lobby,
            Node::Match(session, _) => session,
        }
    }

    pub(crate) fn lobby(&mut self) -> &mut Lobby {
        match &mut self.node {
            Node::Lobby(lobby) => lobby,
            Node::Match(..) => panic!("the match has begun"),
        }
    }

    pub(crate) fn session(&mut self) -> &mut Session<Round> {
        match &mut self.node {
            Node::Lobby(lobby) => panic!("no match yet: {:?}", lobby.agreed()),
            Node::Match(session, _) => session,
        }
    }

    pub(crate) fn refused(&self) -> Refusals {
        match &self.node {
            Node::Lobby(lobby) => *lobby.refused(),
            Node::Match(session, _) => session.stats().refused,
        }
    }

    pub(crate) fn ended(&self) -> bool {
        matches!(&self.node, Node::Match(session, _) if session.ended())
    }

    fn frame(&mut self, now: Duration, last_frame: u32) -> Option<Advanced> {
        if let Node::Lobby(lobby) = &mut self.node {
            match lobby.agreed() {
                Ok(Some(agreed)) if now >= self.loads_until => {
                    let round = Round::new(agreed.seed, last_frame);
                    let session = lobby.clone().start(now, &round).expect("it was agreed on");
                    self.node = Node::Match(session, round);
                }
                Err(error) => self.error = Some(error),
                Ok(_) => {}
            }
            return None;
        }
        let Node::Match(session, round) = &mut self.node else { return None };
        if session.ended() || now < session.next_frame_at() {
            self.events.extend(std::iter::from_fn(|| session.poll_event()));
            return None;
        }
        let buttons = held(session.local(), session.current());
        let advanced = session.advance(now, round, buttons);
        for (frame, inputs) in session.confirmed() {
            let after = frame.next();
            let state = session.snapshot(after).filter(|_| after < session.current());
            self.confirmed.push_back((frame, inputs, *state.unwrap_or(round)));
        }
        self.events.extend(std::iter::from_fn(|| session.poll_event()));
        Some(advanced)
    }
}

#[derive(Clone)]
struct Flight {
    at: Duration,
    from: SocketAddr,
    to: usize,
    bytes: Vec<u8>,
}

/// What a datagram is called.
pub(crate) fn label(datagram: &[u8]) -> String {
    match wire::decode(datagram) {
        Err(error) => format!("{error}"),
        Ok(Packet::Rbn1(_)) => "RBN1".into(),
        Ok(Packet::Game(packet)) => match packet.payload {
            control::Payload::ReliableEvent(payload) => match Message::decode(payload) {
                Ok(message) => message.kind().to_string(),
                Err(error) => format!("{error}"),
            },
            payload => payload.packet_type().to_string(),
        },
    }
}

#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) now: Duration,
    pub(crate) sides: [Side; 2],
    pub(crate) last_frame: u32,
    pub(crate) latency: Duration,
    /// From which side, what, and how many of it are lost from now on.
    pub(crate) losses: Vec<(usize, String, u32)>,
    flights: VecDeque<Flight>,
    /// Everything that was sent: by whom, to whom, what.
    pub(crate) tape: Vec<(usize, SocketAddr, Vec<u8>)>,
    /// Bytes from and to addresses that are neither machine's.
    pub(crate) from_strangers: usize,
    pub(crate) to_strangers: usize,
    direct: Option<Round>,
    pub(crate) checked: u32,
    /// Goes on after a divergence, which is noted.
    pub(crate) forgiving: bool,
    pub(crate) diverged: Option<String>,
}

pub(crate) fn config(side: usize) -> Config {
    let mut config = Config::new(0xB0);
    config.entropy = Some(0x1234_5678_9ABC_DEF0 ^ (side as u64 + 1) << 40);
    config.delay_frames = Some(0);
    config.seed = Some(77);
    config.user_data = if side == HOST { b"host".to_vec() } else { b"joiner".to_vec() };
    config
}

impl Pair {
    pub(crate) fn new(configs: [Config; 2]) -> Self {
        let [host, joiner] = configs;
        Self::of([Lobby::host(host).unwrap(), Lobby::join(joiner, addr(HOST)).unwrap()])
    }

    pub(crate) fn of(lobbies: [Lobby; 2]) -> Self {
        Self {
            now: Duration::from_secs(5),
            sides: lobbies.map(Side::new),
            last_frame: u32::MAX,
            latency: ms(30),
            losses: Vec::new(),
            flights: VecDeque::with_capacity(64),
            tape: Vec::new(),
            from_strangers: 0,
            to_strangers: 0,
            direct: None,
            checked: 0,
            forgiving: false,
            diverged: None,
        }
    }

    /// Lets a millisecond pass.
    pub(crate) fn step(&mut self) {
        self.now += STEP;
        let now = self.now;
        while self.flights.front().is_some_and(|flight| flight.at <= now) {
            let Flight { from, to, bytes, .. } = self.flights.pop_front().unwrap();
            self.deliver(to, from, &bytes);
        }
        for id in 0..2 {
            let side = &mut self.sides[id];
            if side.asleep {
                continue;
            }
            side.frame(now, self.last_frame);
            self.transmit(id);
        }
        self.check();
    }

    fn deliver(&mut self, to: usize, from: SocketAddr, bytes: &[u8]) {
        let side = &mut self.sides[to];
        if side.asleep {
            return;
        }
        if let Ok(Packet::Rbn1(packet)) = wire::decode(bytes) {
            let end = packet.start_frame().wrapping_add(packet.count() as u32);
            if end > side.heard_end {
                (side.heard_end, side.heard_newest) =
                    (end, packet.input(packet.count() - 1).unwrap_or_default());
            }
        }
        side.protocol().handle_datagram(self.now, from, bytes);
    }

    fn transmit(&mut self, id: usize) {
        let mut buf = [0; rebout::MAX_DATAGRAM];
        for _ in 0..64 {
            let Some((to, len)) = self.sides[id].protocol().poll_transmit(self.now, &mut buf) else { return };
            self.send(id, to, &buf[..len]);
        }
        panic!("a machine that never stops sending");
    }

    fn send(&mut self, id: usize, to: SocketAddr, bytes: &[u8]) {
        assert!(bytes.len() <= rebout::MAX_DATAGRAM);
        let side = &mut self.sides[id];
        match wire::decode(bytes).expect("what a machine sends is in order") {
            Packet::Rbn1(packet) => {
                side.said_end = packet.start_frame().wrapping_add(packet.count() as u32);
                side.last_input.clear();
                side.last_input.extend_from_slice(bytes);
            }
            // The desk has no numbers.
            Packet::Game(packet) if packet.header.sequence == 0 && packet.header.ack_bits == 0 => {}
            Packet::Game(packet) => side.sequence = packet.header.sequence,
        }
        if self.tape.capacity() > 0 {
            self.tape.push((id, to, bytes.to_vec()));
        }
        let Some(other) = (0..2).find(|other| addr(*other) == to) else {
            self.to_strangers += bytes.len();
            return;
        };
        let name = label(bytes);
        if let Some((_, _, left)) =
            self.losses.iter_mut().find(|(from, what, left)| *from == id && *what == name && *left > 0)
        {
            *left -= 1;
            return;
        }
        let at = self.now + self.latency;
        self.flights.push_back(Flight { at, from: addr(id), to: other, bytes: bytes.to_vec() });
    }

    /// Lets a datagram arrive, as if from `from`.
    pub(crate) fn inject(&mut self, to: usize, from: SocketAddr, datagram: &[u8]) {
        if (0..2).all(|id| addr(id) != from) {
            self.from_strangers += datagram.len();
        }
        self.sides[to].protocol().handle_datagram(self.now, from, datagram);
    }

    /// Puts another lobby in the place of a machine, as a program that is started again. What is under way to it
    /// still arrives.
    pub(crate) fn restart(&mut self, id: usize, lobby: Lobby) {
        self.sides[id] = Side::new(lobby);
        self.sides.iter_mut().for_each(|side| side.confirmed.clear());
        (self.direct, self.checked) = (None, 0);
    }

    /// Whether one side has agreed, in a lobby or since.
    pub(crate) fn agreed(&self, id: usize) -> bool {
        match &self.sides[id].node {
            Node::Lobby(lobby) => matches!(lobby.agreed(), Ok(Some(_))),
            Node::Match(..) => true,
        }
    }

    /// Takes room for a flood of answers, so that it does not count as taken by a machine.
    pub(crate) fn reserve_flights(&mut self) {
        self.flights.reserve(4_096);
    }

    /// Begins to keep what is sent.
    pub(crate) fn record(&mut self) {
        self.tape.reserve(1_024);
    }

    /// What was sent so far under this name by one side, the newest first.
    pub(crate) fn sent(&self, id: usize, name: &str) -> Vec<Vec<u8>> {
        let tape = self.tape.iter().rev();
        tape.filter(|(from, _, bytes)| *from == id && label(bytes) == name)
            .map(|(_, _, bytes)| bytes.clone())
            .collect()
    }

    /// Lets time pass until `done` says so; whether it did within `limit`.
    pub(crate) fn run_until(&mut self, limit: Duration, done: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + limit;
        while self.now < end {
            if done(self) {
                return true;
            }
            self.step();
        }
        done(self)
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        self.run_until(time, |_| false);
    }

    fn check(&mut self) {
        loop {
            let [Some(one), Some(two)] = [0, 1].map(|id| self.sides[id].confirmed.front().copied()) else {
                return;
            };
            let seats = [0, 1].map(|id| self.sides[id].session().local());
            let seed = self.sides[0].session().agreed().seed;
            let direct = self.direct.get_or_insert_with(|| Round::new(seed, self.last_frame));
            let mut truth = Inputs::default();
            truth[seats[0]] = one.1[seats[0]];
            truth[seats[1]] = two.1[seats[1]];
            direct.step(truth, &mut Cues::new());
            for (frame, inputs, state) in [one, two] {
                let wrong = if frame != Frame(self.checked) {
                    "frames are confirmed once and in order"
                } else if inputs != truth {
                    "the inputs are not those of the players"
                } else if state != *direct {
                    "the state is not what the inputs lead to"
                } else {
                    continue;
                };
                assert!(self.forgiving, "frame {frame}: {wrong}");
                self.diverged.get_or_insert_with(|| format!("frame {frame}: {wrong}"));
            }
            self.checked += 1;
            for side in &mut self.sides {
                side.confirmed.pop_front();
            }
        }
    }

    /// Whether the match is over for one side, and how.
    pub(crate) fn ending(&self, id: usize) -> Option<&Event> {
        let last = |event: &&Event| matches!(event, Event::Ended(_) | Event::Disconnected { .. });
        self.sides[id].events.iter().find(last)
    }

    /// Everything about how one side fares that a failing test wants to show.
    pub(crate) fn story(&self, id: usize) -> String {
        let side = &self.sides[id];
        let stage = match &side.node {
            Node::Lobby(lobby) => format!("{:?}", lobby.agreed()),
            Node::Match(session, _) => format!("frame {}", session.current()),
        };
        format!("{stage}, {:?}, refused {:?}", side.events, side.refused().iter().collect::<Vec<_>>())
    }
}
