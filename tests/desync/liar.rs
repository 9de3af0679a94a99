//! A machine that changes or withholds its own checksums and autopsy notes.

use core::time::Duration;
use games::faulty::{Faulty, LINK, PLAY};
use rebout::lab::sim::{Clock, Machine, World};
use rebout::lab::{Play, Setup, SimPeer, addresses};
use rebout::wire::Packet;
use rebout::wire::control::{ControlPacket, ControlPayload};
use rebout::wire::rbn1::{Flags, InputPacket};
use rebout::{Autopsy, Config, Event, Frame, Game, OnDesync, Player, Protocol};
use std::net::SocketAddr;

/// A machine whose messages of the game's own become messages of an autopsy on their way out.
pub(crate) struct Liar<G: Game = Faulty> {
    inner: SimPeer<G>,
    /// The payloads of the forged messages, by their number.
    pub(crate) lies: Vec<Vec<u8>>,
    from: Duration,
    pub(crate) said: usize,
    /// The frame whose checksum never leaves this machine, as if every packet with it were lost.
    pub(crate) hides: Option<Frame>,
    /// The frames whose checksum leaves this machine with another value.
    pub(crate) forges: Vec<u32>,
    /// Whether the notes of an autopsy confirm the forged checksums: this machine claims that it recorded those states.
    pub(crate) confirms_lies: bool,
    /// Whether this machine never says that it has mended its states: the message becomes one of another kind.
    pub(crate) hides_mended: bool,
    /// The wire number of the first frame that has a checksum, which is frame 0.
    first_checksum: Option<u32>,
    /// How many datagrams with a message of an autopsy have come.
    pub(crate) heard: u32,
}

/// The bits by which a forged checksum differs.
const FORGED: u32 = 0x55;

const USER: u8 = 17;
const AUTOPSY: u8 = 32;

impl<G: Game> Liar<G> {
    fn new(inner: SimPeer<G>, from: Duration, lies: Vec<Vec<u8>>) -> Self {
        Self {
            inner,
            lies,
            from,
            said: 0,
            hides: None,
            forges: Vec::new(),
            confirms_lies: false,
            hides_mended: false,
            first_checksum: None,
            heard: 0,
        }
    }

    /// The datagram without the checksum that this machine hides, or with the one that it forges.
    fn forge_or_hide_checksum(&mut self, datagram: &[u8], buf: &mut [u8]) -> Option<usize> {
        let packet = InputPacket::decode(datagram, Flags::ALL).ok()?;
        let mut header = packet.header();
        let checksum = header.checksum.as_mut()?;
        let first = *self.first_checksum.get_or_insert(checksum.frame.0);
        let frame = checksum.frame.0 - first;
        if self.forges.contains(&frame) {
            checksum.value ^= FORGED;
        } else if self.hides == Some(Frame(frame)) {
            header.checksum = None;
        } else {
            return None;
        }
        InputPacket::encode(&header, packet.inputs(), buf).ok()
    }

    /// The datagram with a TRACE as recorded that confirms the forged checksums.
    fn confirm_forged_checksums(&self, datagram: &[u8], buf: &mut [u8]) -> Option<usize> {
        const TRACE_AS_RECORDED: [u8; 2] = [2, 0];
        let Ok(Packet::Game(packet)) = Packet::decode(datagram, Flags::ALL) else { return None };
        let ControlPayload::ReliableEvent(message @ [AUTOPSY, ..]) = packet.payload else { return None };
        if !self.confirms_lies || message.get(3..5) != Some(&TRACE_AS_RECORDED) {
            return None;
        }
        let mut message = message.to_vec();
        let first = u32::from_be_bytes(message[6..10].try_into().unwrap());
        for frame in &self.forges {
            let at = 10 + 4 * frame.wrapping_sub(first) as usize + 3;
            message.get_mut(at).into_iter().for_each(|byte| *byte ^= FORGED as u8);
        }
        ControlPacket::encode(&packet.header, &ControlPayload::ReliableEvent(&message), buf).ok()
    }

    /// The datagram with a MENDED that is malformed.
    fn spoil_mended(&self, datagram: &[u8], buf: &mut [u8]) -> Option<usize> {
        let Ok(Packet::Game(packet)) = Packet::decode(datagram, Flags::ALL) else { return None };
        let ControlPayload::ReliableEvent(message @ [AUTOPSY, _, _, 7, ..]) = packet.payload else {
            return None;
        };
        let message = [message, &[0]].concat();
        let spoilt = ControlPayload::ReliableEvent(&message);
        self.hides_mended.then(|| ControlPacket::encode(&packet.header, &spoilt, buf).ok())?
    }

    fn replace_by_a_lie(&self, datagram: &[u8], buf: &mut [u8]) -> Option<usize> {
        let Ok(Packet::Game(packet)) = Packet::decode(datagram, Flags::ALL) else { return None };
        let ControlPayload::ReliableEvent([USER, high, low, ..]) = packet.payload else { return None };
        // Ordered messages of the joiner are numbered from bits 16 to 31 of the token on.
        let token = self.inner.session()?.agreed().token;
        let number = u16::from_be_bytes([*high, *low]).wrapping_sub((token >> 16) as u16);
        let lie = self.lies.get(usize::from(number))?;
        let message = [&[AUTOPSY, *high, *low], &lie[..]].concat();
        ControlPacket::encode(&packet.header, &ControlPayload::ReliableEvent(&message), buf).ok()
    }
}

impl<G: Game> Protocol for Liar<G> {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        if let Ok(Packet::Game(packet)) = Packet::decode(datagram, Flags::ALL) {
            self.heard += u32::from(matches!(packet.payload, ControlPayload::ReliableEvent([AUTOPSY, ..])));
        }
        self.inner.handle_datagram(now, from, datagram);
    }
    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        let (to, len) = self.inner.poll_transmit(now, buf)?;
        let datagram = buf[..len].to_vec();
        let changed =
            self.replace_by_a_lie(&datagram, buf).or_else(|| self.forge_or_hide_checksum(&datagram, buf));
        let changed = changed.or_else(|| self.confirm_forged_checksums(&datagram, buf));
        let changed = changed.or_else(|| self.spoil_mended(&datagram, buf));
        Some((to, changed.unwrap_or(len)))
    }
    fn poll_timeout(&self) -> Option<Duration> {
        self.inner.poll_timeout()
    }
    fn wants_attention(&self, now: Duration) -> bool {
        self.inner.wants_attention(now)
    }
    fn lingers(&self) -> bool {
        self.inner.lingers()
    }
}

impl<G: Game> Machine for Liar<G> {
    fn next_frame_at(&self) -> Option<Duration> {
        self.inner.next_frame_at()
    }
    fn frame(&mut self, now: Duration) {
        self.inner.frame(now);
        if let Some(session) = self.inner.session_mut()
            && now >= self.from
        {
            while self.said < self.lies.len() && session.send(now, b"-").is_ok() {
                self.said += 1;
            }
        }
    }
}

/// A victim, which hosts, and a liar that takes no part in an autopsy in the honest way. `tamper` says which of them is
/// faulty.
pub(crate) fn world(
    tamper: Option<fn(&mut Faulty, Player)>,
    from: Duration,
    lies: Vec<Vec<u8>>,
    change: impl Fn(&mut Config),
) -> World<Liar> {
    let mut setup = Setup::new(9, LINK);
    change(&mut setup.configs[0]);
    setup.configs[1].on_desync = OnDesync::GoOn;
    world_of(setup, ENDLESS, tamper, from, lies)
}

/// The reference game without an end.
pub(crate) const ENDLESS: Play<Faulty> =
    Play { build: |seed| Faulty { last: u32::MAX, ..(PLAY.build)(seed) }, ..PLAY };

/// A victim and a liar with these configs and this game.
pub(crate) fn world_of<G: Game>(
    setup: Setup,
    play: Play<G>,
    tamper: Option<fn(&mut G, Player)>,
    from: Duration,
    lies: Vec<Vec<u8>>,
) -> World<Liar<G>> {
    let [host, join] = setup.configs;
    let mut world = World::new(setup.seed);
    let [victim, liar] = addresses();
    let mut peers = [SimPeer::new(host, None, play), SimPeer::new(join, Some(victim), play)];
    peers.iter_mut().for_each(|peer| peer.tamper = tamper);
    let [one, two] = peers;
    world.add(victim, Clock::default(), Duration::ZERO, Liar::new(one, Duration::MAX, Vec::new()));
    world.add(liar, Clock::default(), Duration::ZERO, Liar::new(two, from, lies));
    world.network_mut().set_link(0, 1, setup.links[0]);
    world.network_mut().set_link(1, 0, setup.links[1]);
    world
}

pub(crate) fn victim(world: &World<Liar>) -> &SimPeer<Faulty> {
    machine(world, 0)
}

pub(crate) fn machine<G: Game>(world: &World<Liar<G>>, id: usize) -> &SimPeer<G> {
    &world.machine(id).inner
}

/// The autopsies that the victim told of.
pub(crate) fn told(world: &World<Liar>) -> Vec<(Duration, Autopsy)> {
    autopsies_of(world, 0)
}

pub(crate) fn autopsies_of<G: Game>(world: &World<Liar<G>>, id: usize) -> Vec<(Duration, Autopsy)> {
    let told = machine(world, id).events.iter().filter_map(|(at, event)| match event {
        Event::Autopsy(autopsy) => Some((*at, (**autopsy).clone())),
        _ => None,
    });
    told.collect()
}

pub(crate) fn words(head: &[u8], words: &[u32]) -> Vec<u8> {
    let mut bytes = head.to_vec();
    bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    bytes
}

pub(crate) fn start(frame: u32, last_match: u32) -> Vec<u8> {
    words(&[1], &[frame, last_match])
}
