//! A live pair on a sealed link whose one machine is the attacker: it has the keys, and seals whatever it wants to say.
//!
//! The other machine bounds what it keeps and sends, and its match comes to an end or goes on. An attacker may end the match. Until
//! then every state of the honest machine is the one that its confirmed inputs lead to, its own inputs are those that its player
//! gave, and an agreed verdict has the checksum of that state.

use crate::attack::{MAX_ATTACKS, SEEN, change, random_seeds};
use crate::bytes::Bytes;
use crate::game_of_sums::Sums;
use crate::memory::Kept;
use crate::pair_bare::impatient;
use rebout::lab::forge::{Guesses, Knows};
use rebout::lab::link::LinkConfig;
use rebout::lab::seal::Seal;
use rebout::lab::sim::{Clock, Machine, World};
use rebout::lab::wire::message::{Message, Ordered};
use rebout::lab::{HOST, Setup, SimPeer, addresses, every_fourth, forge};
use rebout::wire::control::ControlHeader;
use rebout::{Buttons, Cues, Event, Frame, Game, Input, Protocol, Randomness, Session, Verdict, checksum};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

const MAX_KEPT: i64 = 4 << 20;
/// The most datagrams that a machine sends in a second, to whom it was told: 60 frames with copies, acks and notes of an autopsy.
const MAX_PER_SECOND: u64 = 1_500;
/// The frame that ends a match.
const LAST: u32 = 120;

/// The honest machine's match, stepped directly on the inputs that it has confirmed.
#[derive(Default)]
struct Direct {
    game: Option<Sums>,
    /// The inputs of its player, by the frame in which they were given.
    given: Vec<Input>,
    states: Vec<Sums>,
}

impl Direct {
    fn follow(&mut self, session: &Session<Sums>) {
        let game = self.game.get_or_insert_with(|| Sums::until(LAST, session.agreed().seed));
        for (frame, inputs) in session.confirmed() {
            assert_eq!(frame, Frame(self.states.len() as u32), "frames are confirmed in order, each once");
            let given = self.given.get(self.states.len());
            assert_eq!(Some(&inputs[session.local()]), given, "frame {frame} has an input that nobody gave");
            game.step(inputs, &mut Cues::new());
            self.states.push(*game);
            if let Some(snapshot) = session.snapshot(frame.next()) {
                assert_eq!(snapshot, game, "the state after frame {frame} is not that of its inputs");
            }
        }
    }

    fn check_end(&self, honest: &SimPeer<Sums>) {
        for (_, event) in &honest.events {
            if let Event::Ended(Verdict::Agreed { frame, checksum: agreed, .. }) = event {
                let state = self.states.get(frame.0 as usize - 1).expect("a frame that was confirmed");
                assert_eq!(*agreed, checksum(state), "the verdict about frame {frame}");
            }
        }
    }
}

/// Follows the honest machine.
fn follow(honest: &mut SimPeer<Sums>) -> Rc<RefCell<Direct>> {
    let direct = Rc::<RefCell<Direct>>::default();
    let gives = Rc::clone(&direct);
    honest.input_source = Some(Box::new(move |_, session, _| {
        let frame = session.current().0 as usize;
        let input = every_fourth(session.local(), frame as u32, session.agreed().seed);
        let given = &mut gives.borrow_mut().given;
        // A frame that has to wait is asked for again.
        given.truncate(frame);
        given.push(input);
        input
    }));
    let follows = Rc::clone(&direct);
    honest.watch = Some(Box::new(move |_, _, session, _| follows.borrow_mut().follow(session)));
    direct
}

/// The attacker's machine: its true lobby or match, and what it says besides.
struct Inside {
    peer: SimPeer<Sums>,
    /// The address inside the seal that the victim has, once it is known.
    victim: Option<SocketAddr>,
    heard: VecDeque<Vec<u8>>,
    said: VecDeque<Vec<u8>>,
    injected: VecDeque<Vec<u8>>,
    /// Whether the true protocol may speak.
    is_mute: bool,
}

fn remember(list: &mut VecDeque<Vec<u8>>, datagram: &[u8]) {
    if list.len() == SEEN {
        list.pop_back();
    }
    list.push_front(datagram.to_vec());
}

impl Protocol for Inside {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        self.victim = Some(from);
        remember(&mut self.heard, datagram);
        self.peer.handle_datagram(now, from, datagram);
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        if let (Some(victim), Some(datagram)) = (self.victim, self.injected.pop_front()) {
            let len = datagram.len().min(1_150).min(buf.len());
            buf[..len].copy_from_slice(&datagram[..len]);
            return Some((victim, len));
        }
        let (to, len) = self.peer.poll_transmit(now, buf)?;
        remember(&mut self.said, &buf[..len]);
        self.victim = Some(to);
        (!self.is_mute).then_some((to, len))
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.peer.poll_timeout()
    }

    fn wants_attention(&self, now: Duration) -> bool {
        self.peer.wants_attention(now)
    }
}

#[allow(clippy::large_enum_variant)]
enum Node {
    Honest(SimPeer<Sums>),
    Attacker { seal: Seal, inside: Inside },
}

impl Protocol for Node {
    fn handle_datagram(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        match self {
            Self::Honest(peer) => peer.handle_datagram(now, from, datagram),
            Self::Attacker { seal, inside } => seal.around(inside).handle_datagram(now, from, datagram),
        }
    }

    fn poll_transmit(&mut self, now: Duration, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        match self {
            Self::Honest(peer) => peer.poll_transmit(now, buf),
            Self::Attacker { seal, inside } => seal.around(inside).poll_transmit(now, buf),
        }
    }

    fn poll_timeout(&self) -> Option<Duration> {
        match self {
            Self::Honest(peer) => peer.poll_timeout(),
            Self::Attacker { seal, inside } => {
                inside.poll_timeout().into_iter().chain(seal.poll_timeout()).min()
            }
        }
    }

    fn wants_attention(&self, now: Duration) -> bool {
        match self {
            Self::Honest(peer) => peer.wants_attention(now),
            Self::Attacker { inside, .. } => inside.wants_attention(now),
        }
    }
}

impl Machine for Node {
    fn next_frame_at(&self) -> Option<Duration> {
        match self {
            Self::Honest(peer) => peer.next_frame_at(),
            Self::Attacker { inside, .. } => inside.peer.next_frame_at(),
        }
    }

    fn frame(&mut self, now: Duration) {
        match self {
            Self::Honest(peer) => peer.frame(now),
            Self::Attacker { inside, .. } => inside.peer.frame(now),
        }
    }
}

fn world(attacker: usize, bytes: &mut Bytes<'_>) -> (World<Node>, Rc<RefCell<Direct>>) {
    let link = LinkConfig::new(Duration::from_millis(15));
    let mut setup = Setup::new(1, link).configure(|config| {
        impatient(config);
        // A press is not kept for a later frame, so that a frame has the input that was given in it.
        config.rollback.kept_buttons = Buttons::NONE;
    });
    if bytes.flag() {
        setup.configs[HOST].lobby.first_state = vec![7; 5_000].into();
    }
    let play = const { Sums::play::<LAST>() };
    let mut direct = Rc::default();
    let host = Seal::host(Randomness::Seeded(5)).expect("a seed");
    let key = host.public_key().expect("a host has a key");
    let joiner = Seal::join(Randomness::Seeded(6), key, &addresses()[..1]).expect("an address");
    let mut world = World::new(1);
    world.network_mut().set_default_link(link);
    for (id, (seal, config)) in [host, joiner].into_iter().zip(setup.configs).enumerate() {
        let target = seal.target();
        let mut peer = SimPeer::new(config, target, play);
        let node = if id == attacker {
            let (heard, said, injected) = Default::default();
            Node::Attacker {
                seal,
                inside: Inside { peer, victim: None, heard, said, injected, is_mute: false },
            }
        } else {
            peer.seal = Some(seal);
            direct = follow(&mut peer);
            Node::Honest(peer)
        };
        world.add(addresses()[id], Clock::default(), Duration::ZERO, node);
    }
    (world, direct)
}

/// The numbers that the attacker knows as one side of the match.
fn knows(inside: &Inside) -> Knows {
    let header_of = |list: &VecDeque<Vec<u8>>| {
        list.iter().find_map(|datagram| {
            rebout::wire::control::ControlPacket::decode(datagram).ok().map(|one| one.header)
        })
    };
    let frames_of = |list: &VecDeque<Vec<u8>>| {
        let flags = rebout::wire::rbn1::Flags::ALL;
        list.iter().find_map(|datagram| {
            let packet = rebout::wire::rbn1::InputPacket::decode(datagram, flags).ok()?;
            Some((packet.start_frame().0, packet.start_frame().0.wrapping_add(packet.count() as u32)))
        })
    };
    let (said, heard) =
        (header_of(&inside.said).unwrap_or_default(), header_of(&inside.heard).unwrap_or_default());
    let (known, sent) =
        (frames_of(&inside.said).unwrap_or((1_000, 1_000)), frames_of(&inside.heard).unwrap_or((0, 1_000)));
    let offer =
        inside.heard.iter().chain(&inside.said).find_map(|datagram| match forge::message_of(datagram) {
            Some(Message::Offer(offer)) => Some((offer.token, offer.first_frame.0)),
            _ => None,
        });
    let (token, first) = offer.unwrap_or((0, 1_000));
    Knows {
        first,
        known: known.1,
        sent: sent.1,
        newest: Input::NEUTRAL,
        header: ControlHeader {
            sequence: said.sequence.wrapping_add(1),
            ack: heard.sequence,
            ack_bits: u32::MAX,
        },
        victims: heard.sequence,
        nonce: 0,
        token,
        first_number: 0,
        seat: 1,
        oldest: Vec::new(),
        last: Vec::new(),
    }
}

/// One datagram of the attacker.
fn forged(inside: &Inside, guesses: &mut Guesses, bytes: &mut Bytes<'_>) -> Vec<u8> {
    let knows = knows(inside);
    let seen: Vec<Vec<u8>> = inside.said.iter().chain(&inside.heard).cloned().collect();
    let mut datagram = match bytes.below(5) {
        0 => guesses.draw().to_vec(),
        // A note of an autopsy, or a message of the game, with the next numbers.
        1 => {
            let number = bytes.u16();
            let payload = bytes.slice(1_050);
            let body = if bytes.flag() {
                Ordered::Autopsy(payload)
            } else {
                Ordered::User(&payload[..payload.len().min(200)])
            };
            forge::message(knows.header, &Message::Ordered { number, body })
        }
        // Other inputs than those that were just said: inputs are the last bytes of their packet.
        2 => {
            let flags = rebout::wire::rbn1::Flags::ALL;
            let is_input = |said: &&Vec<u8>| rebout::wire::rbn1::InputPacket::decode(said, flags).is_ok();
            let mut datagram = inside.said.iter().find(is_input).cloned().unwrap_or_default();
            let at = datagram.len().saturating_sub(1 + bytes.below(32));
            datagram.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= bytes.u8());
            return datagram;
        }
        _ => seen.get(bytes.below(2 * SEEN)).cloned().unwrap_or_default(),
    };
    for _ in 0..bytes.below(4) {
        let change = change(bytes);
        if !seen.is_empty() {
            change.apply(&mut datagram, &seen, &knows);
        }
    }
    datagram
}

pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let attacker = usize::from(bytes.flag());
    let (mut world, direct) = world(attacker, &mut bytes);
    let kept = Kept::new(MAX_KEPT);
    let mut guesses = Guesses::new(bytes.u8().into());
    let mut until = Duration::from_millis(8) * u32::from(bytes.u8());
    world.run_until(until);
    for _ in 0..MAX_ATTACKS {
        if bytes.is_empty() {
            break;
        }
        let Node::Attacker { inside, .. } = world.machine_mut(attacker) else { unreachable!("the attacker") };
        match bytes.below(8) {
            0 => inside.is_mute ^= true,
            1 => {
                let now = until;
                if let Some(session) = inside.peer.session_mut() {
                    match bytes.below(4) {
                        0 => _ = session.pause(now),
                        1 => _ = session.resume(now),
                        2 => _ = session.set_delay(now, bytes.u8()),
                        _ => session.leave(),
                    }
                }
            }
            _ => {
                let datagram = forged(inside, &mut guesses, &mut bytes);
                inside.injected.push_back(datagram);
            }
        }
        until += bytes.wait();
        world.run_until(until);
    }
    let end = until + Duration::from_secs(12);
    world.run_until(end);
    let (sent, _) = world.traffic(1 - attacker);
    let limit = MAX_PER_SECOND * (end.as_secs() + 1);
    assert!(sent.datagrams <= limit, "{} datagrams in {end:?}", sent.datagrams);
    assert_eq!(world.network().stats().unroutable.datagrams, 0, "something went to a stranger");
    let Node::Honest(honest) = world.machine(1 - attacker) else { unreachable!("the other machine") };
    let is_playing = honest.session().is_some_and(|session| !session.ended() && session.paused().is_none());
    assert!(
        !is_playing || end < Duration::from_secs(2) || is_fed(&world, attacker),
        "it neither ends nor goes on: {honest:?}"
    );
    direct.borrow().check_end(honest);
    kept.check();
}

/// Whether the attacker still keeps the match alive.
fn is_fed(world: &World<Node>, attacker: usize) -> bool {
    let Node::Attacker { inside, .. } = world.machine(attacker) else { return false };
    inside.peer.session().is_some_and(|session| !session.ended())
}

pub fn seeds() -> Vec<Vec<u8>> {
    random_seeds(&[
        &[0, 0, 0, 5],
        &[0, 1, 0, 20],
        &[0, 0, 1, 40],
        &[1, 0, 0, 5],
        &[1, 1, 0, 20],
        &[1, 0, 1, 40],
        &[1, 0, 1, 200],
    ])
}
