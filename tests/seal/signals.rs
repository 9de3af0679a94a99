//! Handshakes by signalling, and a match whose paths come and go: by hand, in the place of a rendezvous and of ICE.

use crate::net::{addr, config, ms};
use crate::sums::Sums;
use core::time::Duration;
use rebout::Randomness;
use rebout::lab::seal::{Brought, Seal, SealRefusal};
use rebout::lab::sim::Machine as _;
use rebout::lab::{Play, SimPeer};
use rebout::{Buttons, Lobby, MAX_DATAGRAM, Protocol};
use std::net::SocketAddr;

const LATENCY: Duration = Duration::from_millis(20);

fn host() -> Seal {
    Seal::host(Randomness::Seeded(1)).unwrap()
}

fn joiner(host: &Seal, seed: u64) -> Seal {
    Seal::join_by_signal(Randomness::Seeded(seed), host.public_key().unwrap()).unwrap()
}

/// Host and joiner after their signals, and the host's name for its guest.
fn met() -> ([Seal; 2], [SocketAddr; 2]) {
    let mut host = host();
    let mut joiner = joiner(&host, 2);
    let ticket = host.renew_ticket().unwrap();
    let init = joiner.write_init(ms(0), ticket, b"where the joiner is").unwrap();
    let Ok(Brought::Guest(guest)) = host.handle_signal(ms(10), &init) else { panic!("a guest") };
    assert_eq!(host.take_signal(), Some((guest, b"where the joiner is".to_vec())));
    host.log_keys();
    joiner.log_keys();
    let resp = host.answer_signal(ms(10), guest, b"where the host is").unwrap();
    assert!(resp.len() < init.len(), "{} {}", resp.len(), init.len());
    let target = joiner.target().unwrap();
    assert_eq!(joiner.handle_signal(ms(20), &resp), Ok(Brought::Host(target)));
    assert_eq!(joiner.take_signal(), Some((target, b"where the host is".to_vec())));
    let [ours, theirs] = [&mut host, &mut joiner].map(|seal| seal.take_logged_keys().unwrap().to_string());
    assert_eq!(ours, theirs, "the same keys");
    ([host, joiner], [guest, target])
}

#[test]
fn signal_has_one_length_and_a_repeat_gets_the_same_answer() {
    let mut host = host();
    let mut joiner = joiner(&host, 2);
    let ticket = host.renew_ticket().unwrap();
    for len in [0, 1, 100, 254] {
        let init = joiner.write_init(ms(0), ticket, &vec![7; len]).unwrap();
        assert_eq!(init.len(), 333);
        let Ok(Brought::Guest(guest)) = host.handle_signal(ms(0), &init) else { panic!("a guest") };
        assert_eq!(host.take_signal(), Some((guest, vec![7; len])));
        let resp = host.answer_signal(ms(0), guest, b"yes").unwrap();
        assert_eq!(resp.len(), 309);
        assert_eq!(host.handle_signal(ms(5), &init), Ok(Brought::Again(guest)));
        assert_eq!(host.answer_signal(ms(5), guest, b"no"), Some(resp));
        assert_eq!(host.take_signal(), None);
    }
    assert_eq!(joiner.write_init(ms(0), ticket, &[7; 255]), None);
    assert_eq!(joiner.renew_ticket(), None, "a joiner has no room");
    assert_eq!(host.write_init(ms(0), ticket, b""), None, "a host posts nothing");
}

#[test]
fn init_needs_the_invite_and_one_of_the_newest_two_tickets() {
    let mut host = host();
    let mut joiner = joiner(&host, 2);
    let ticket = host.renew_ticket().unwrap();
    let refused = Err(SealRefusal::BadCookie);
    let init = joiner.write_init(ms(0), ticket ^ 1, b"x").unwrap();
    assert_eq!(host.handle_signal(ms(0), &init), refused);
    host.renew_ticket();
    let init = joiner.write_init(ms(0), ticket, b"x").unwrap();
    assert!(matches!(host.handle_signal(ms(0), &init), Ok(Brought::Guest(_))), "the one before stays good");
    host.renew_ticket();
    let init = joiner.write_init(ms(0), ticket, b"x").unwrap();
    assert_eq!(host.handle_signal(ms(0), &init), refused, "and no longer");
    let other = Seal::host(Randomness::Seeded(9)).unwrap();
    let mut stranger = Seal::join_by_signal(Randomness::Seeded(3), other.public_key().unwrap()).unwrap();
    let ticket = host.renew_ticket().unwrap();
    let init = stranger.write_init(ms(0), ticket, b"x").unwrap();
    assert_eq!(host.handle_signal(ms(0), &init), Err(SealRefusal::BadMac));
    let good = joiner.write_init(ms(0), ticket, b"x").unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert!(host.handle_signal(ms(0), &bad).is_err(), "byte {at}");
    }
    assert_eq!(host.stats().handshakes, 1);
    assert!(matches!(host.handle_signal(ms(0), &good), Ok(Brought::Guest(_))), "nothing was used up");
}

#[test]
fn init_is_worked_off_once_four_a_second_and_sixteen_wait() {
    let mut host = host();
    let ticket = host.renew_ticket().unwrap();
    let mut guests = 0;
    let mut first = None;
    for number in 0..400_u64 {
        let now = ms(number * 25);
        let mut joiner = joiner(&host, 100 + number);
        let init = joiner.write_init(now, ticket, b"x").unwrap();
        if let Ok(Brought::Guest(guest)) = host.handle_signal(now, &init) {
            guests += 1;
            host.take_signal().unwrap();
            host.answer_signal(now, guest, b"").unwrap();
            first.get_or_insert(init);
        }
    }
    assert_eq!(guests, 16, "in ten seconds, of 40 that four a second would be");
    assert_eq!(host.stats().handshakes, 16);
    // The first guest is forgotten after twelve seconds, but not its key.
    let mut lobby = Lobby::host(config(0)).unwrap();
    let mut buf = [0; MAX_DATAGRAM];
    while host.around(&mut lobby).poll_transmit(ms(13_000), &mut buf).is_some() {}
    assert_eq!(host.handle_signal(ms(13_000), &first.unwrap()), Err(SealRefusal::BadCookie));
    let init = joiner(&host, 7).write_init(ms(13_000), ticket, b"x").unwrap();
    assert!(host.handle_signal(ms(13_000), &init).is_ok());
}

#[test]
fn answer_of_another_host_is_refused() {
    let ([_, mut joiner], _) = met();
    let mut liar = Seal::host(Randomness::Seeded(8)).unwrap();
    let mut guest = Seal::join_by_signal(Randomness::Seeded(5), liar.public_key().unwrap()).unwrap();
    let ticket = liar.renew_ticket().unwrap();
    let init = guest.write_init(ms(0), ticket, b"x").unwrap();
    let Ok(Brought::Guest(shown)) = liar.handle_signal(ms(0), &init) else { panic!("a guest") };
    let resp = liar.answer_signal(ms(0), shown, b"come here").unwrap();
    assert!(joiner.handle_signal(ms(0), &resp).is_err());
    assert_eq!(joiner.take_signal(), None);
}

struct Machine {
    peer: SimPeer<Sums>,
    /// The address of the other machine inside the seal.
    inner: SocketAddr,
    /// The longest time without a decrypted packet.
    gap: Duration,
}

impl Machine {
    fn seal(&self) -> &Seal {
        self.peer.seal.as_ref().unwrap()
    }

    fn seal_mut(&mut self) -> &mut Seal {
        self.peer.seal.as_mut().unwrap()
    }
}

const PLAY: Play<Sums> =
    Play { build: |_| Sums { sums: [0; 2] }, script: |_, frame, _| Buttons((frame / 4 * 7) as u16).into() };

/// Two machines with a few paths between them: address 10 + n of one is path n to it from the other.
struct World {
    now: Duration,
    machines: [Machine; 2],
    flying: Vec<(Duration, usize, SocketAddr, Vec<u8>)>,
    /// Which paths carry packets, for each direction.
    open: [[bool; 4]; 2],
    /// Datagrams sent on each path.
    sent: [[u32; 4]; 2],
}

fn path(machine: usize, number: usize) -> SocketAddr {
    addr(10 + machine * 10 + number)
}

impl World {
    fn new() -> Self {
        let ([host, joiner], peers) = met();
        let target = joiner.target().unwrap();
        let lobbies = [Lobby::host(config(0)).unwrap(), Lobby::join(config(1), target).unwrap()];
        let mut parts = [host, joiner].into_iter().zip(lobbies).zip(peers);
        let machines = core::array::from_fn(|_| {
            let ((seal, lobby), inner) = parts.next().unwrap();
            let mut peer = SimPeer::in_lobby(lobby, PLAY);
            peer.seal = Some(seal);
            Machine { peer, inner, gap: Duration::ZERO }
        });
        Self { now: ms(20), machines, flying: Vec::new(), open: [[true; 4]; 2], sent: [[0; 4]; 2] }
    }

    fn turn(&mut self, id: usize) {
        let (now, machine) = (self.now, &mut self.machines[id]);
        if machine.peer.wants_attention(now) || machine.peer.next_frame_at().is_some_and(|at| at <= now) {
            machine.peer.frame(now);
        }
        if machine.peer.session().is_some() {
            machine.gap = machine.gap.max(machine.seal().silent_for(now, machine.inner).unwrap());
        }
        let mut buf = [0; MAX_DATAGRAM];
        while let Some((to, len)) = machine.peer.poll_transmit(now, &mut buf) {
            let number = (0..4).find(|number| path(1 - id, *number) == to).expect("a path that was offered");
            self.sent[id][number] += 1;
            if self.open[id][number] {
                self.flying.push((now + LATENCY, 1 - id, path(id, number), buf[..len].to_vec()));
            }
        }
    }

    fn run(&mut self, millis: u64) {
        for _ in 0..millis {
            self.now += ms(1);
            let now = self.now;
            for (_, to, from, datagram) in self.flying.extract_if(.., |(at, ..)| *at <= now) {
                self.machines[to].peer.handle_datagram(now, from, &datagram);
            }
            (0..2).for_each(|id| self.turn(id));
        }
    }

    fn offer(&mut self, number: usize) {
        for (id, machine) in self.machines.iter_mut().enumerate() {
            let inner = machine.inner;
            machine.seal_mut().offer_path(self.now, inner, path(1 - id, number), LATENCY * 2);
        }
    }

    fn fall_back_on(&mut self, numbers: &[usize]) {
        for (id, machine) in self.machines.iter_mut().enumerate() {
            let paths: Vec<_> = numbers.iter().map(|number| path(1 - id, *number)).collect();
            let inner = machine.inner;
            machine.seal_mut().set_fallbacks(inner, &paths);
        }
    }

    fn in_use(&self) -> [Option<SocketAddr>; 2] {
        [0, 1].map(|id| self.machines[id].seal().outer_addr(self.machines[id].inner))
    }

    /// Whether both play, without an event since the match began.
    fn assert_plays(&mut self) {
        let frames = self.frames();
        self.run(1_000);
        for (before, after) in frames.into_iter().zip(self.frames()) {
            assert!(after >= before + 50, "{before} {after}");
        }
        for machine in &self.machines {
            assert_eq!(machine.peer.events, []);
        }
    }

    fn frames(&self) -> [u32; 2] {
        [0, 1].map(|id| self.machines[id].peer.session().map_or(0, |session| session.settled().0))
    }
}

/// Two machines that play on path 0.
fn playing() -> World {
    let mut world = World::new();
    world.run(500);
    assert_eq!(world.sent, [[0; 4]; 2], "there is no path yet");
    world.offer(0);
    world.run(600);
    world.machines.iter_mut().for_each(|machine| machine.gap = Duration::ZERO);
    world.assert_plays();
    world
}

#[test]
fn hello_is_the_first_packet_on_the_path_that_is_found() {
    let mut world = World::new();
    world.run(3_050);
    assert_eq!((world.sent, world.in_use()), ([[0; 4]; 2], [None; 2]));
    world.offer(0);
    world.run(1);
    assert_eq!(world.sent, [[0; 4], [2, 0, 0, 0]], "the joiner's HELLO at once, and the first PING");
    world.run(81);
    assert!(
        world.machines.iter().all(|machine| machine.peer.has_agreed()),
        "HELLO, OFFER, ACCEPT and its ack: two round trips of the path"
    );
    world.run(500);
    world.machines.iter_mut().for_each(|machine| machine.gap = Duration::ZERO);
    world.assert_plays();
    assert_eq!(world.in_use(), [Some(path(1, 0)), Some(path(0, 0))]);
}

#[test]
fn better_path_takes_over_without_an_event() {
    let mut world = playing();
    world.open = [[true, false, true, true]; 2];
    world.offer(1);
    world.run(6_000);
    assert_eq!(world.in_use(), [Some(path(1, 0)), Some(path(0, 0))], "it never answers");
    world.offer(2);
    world.assert_plays();
    assert_eq!(world.in_use(), [Some(path(1, 2)), Some(path(0, 2))]);
    let before = world.sent;
    world.assert_plays();
    assert_eq!(world.sent[0][0], before[0][0], "the path of before gets no copies any more");
    assert!(world.machines.iter().all(|machine| machine.gap < ms(60)), "and nothing was missed");
}

#[test]
fn fallbacks_carry_the_match_when_the_path_fails() {
    for dead in [[true, true], [true, false], [false, true]] {
        let mut world = playing();
        world.fall_back_on(&[1, 2, 3]);
        world.assert_plays();
        assert_eq!(world.sent.map(|sent| sent[1..].to_vec()), [[0; 3]; 2], "nothing goes there before");
        for (id, dead) in dead.into_iter().enumerate() {
            world.open[id] = [!dead, false, true, false];
        }
        world.run(2_000);
        world.assert_plays();
        for machine in &world.machines {
            assert!(machine.gap < ms(600), "{dead:?} {:?}", machine.gap);
        }
        let used = world.in_use();
        if dead == [true, true] {
            assert_eq!(used, [Some(path(1, 2)), Some(path(0, 2))]);
        }
        // A direct path that is found again takes over.
        world.open = [[false, false, true, true]; 2];
        world.offer(3);
        world.assert_plays();
        assert_eq!(world.in_use(), [Some(path(1, 3)), Some(path(0, 3))], "{dead:?}");
    }
}

#[test]
fn signals_travel_sealed_during_the_match() {
    let mut world = playing();
    let peer = world.machines[0].inner;
    assert!(world.machines[0].seal_mut().send_signal(peer, b"I have moved"));
    world.run(30);
    let target = world.machines[1].inner;
    assert_eq!(world.machines[1].seal_mut().take_signal(), Some((target, b"I have moved".to_vec())));
    assert!(!world.machines[0].seal_mut().send_signal(peer, &[0; 255]));
    assert!(!world.machines[0].seal_mut().send_signal(addr(99), b""));
    // More than anybody takes are dropped and counted.
    for _ in 0..40 {
        world.machines[0].seal_mut().send_signal(peer, b"again");
        world.run(1);
    }
    world.run(30);
    let signals = core::iter::from_fn(|| world.machines[1].seal_mut().take_signal()).count();
    assert_eq!((signals, world.machines[1].seal().stats().refused.of(SealRefusal::Limited)), (4, 36));
}

/// Another holder of the invite has the joiner's nonce from its INIT, as a rendezvous sees it. Its own handshake was answered before
/// the joiner was confirmed, and its DATA comes in the middle of the match; a second handshake begins after that.
#[test]
fn handshake_by_signal_never_replaces_a_confirmed_guest() {
    let mut world = World::new();
    let host = world.machines[0].seal_mut();
    let ticket = host.renew_ticket().unwrap();
    let mut impostor = joiner(host, 2);
    impostor.write_init(ms(20), ticket, b"the joiner's own keys").unwrap();
    let init = impostor.write_init(ms(20), ticket, b"here I am").unwrap();
    let Ok(Brought::Guest(other)) = host.handle_signal(ms(20), &init) else { panic!("a guest") };
    let resp = host.answer_signal(ms(20), other, b"").unwrap();
    assert!(impostor.handle_signal(ms(20), &resp).is_ok() && host.take_signal().is_some());
    world.run(500);
    world.offer(0);
    world.run(600);
    world.machines.iter_mut().for_each(|machine| machine.gap = Duration::ZERO);
    let target = impostor.target().unwrap();
    impostor.offer_path(world.now, target, path(0, 0), LATENCY);
    let mut lobby = Lobby::join(config(66), target).unwrap();
    let mut buf = [0; MAX_DATAGRAM];
    let connections = world.machines[0].seal().stats().connections;
    while let Some((_, len)) = impostor.around(&mut lobby).poll_transmit(world.now, &mut buf) {
        world.flying.push((world.now, 0, path(1, 0), buf[..len].to_vec()));
    }
    world.run(30);
    assert_eq!(world.machines[0].seal().stats().connections, connections, "its handshake is void");
    assert_ne!(other, world.machines[0].inner);
    world.assert_plays();
    assert_eq!(world.in_use(), [Some(path(1, 0)), Some(path(0, 0))]);
    let again = impostor.write_init(world.now, ticket, b"here I am").unwrap();
    let refused = world.machines[0].seal_mut().handle_signal(world.now, &again);
    assert_eq!(refused, Err(SealRefusal::Unexpected));
}

/// The RESP of a handshake by address or invite is refused as a signal, and is good as the datagram that it is.
#[test]
fn resp_of_another_pattern_is_no_signal() {
    let mut net = crate::net::invited();
    net.filter = Box::new(|_, flying| flying.datagram[0] != 0xE3);
    assert!(net.run_until(ms(1_000), |net| !net.sent_by(0, 0xE3).is_empty()));
    let (now, resp) = (net.now, net.sent_by(0, 0xE3)[0].datagram.clone());
    let seal = &mut net.machines[1].seal;
    assert_eq!(seal.handle_signal(now, &resp), Err(SealRefusal::Unexpected));
    assert_eq!((seal.stats().refused.of(SealRefusal::Unexpected), seal.stats().connections), (1, 0));
    net.machines[1].hand_in(now, addr(0), &resp);
    assert_eq!(net.machines[1].seal.stats().connections, 1);
}

/// A RESP from an address and one by signalling are under way at once: the way that brings a path first stays.
#[test]
fn first_way_with_a_path_makes_the_other_void() {
    for is_path_first in [false, true] {
        let mut host = host();
        let mut joiner = joiner(&host, 2);
        let (ticket, target) = (host.renew_ticket().unwrap(), joiner.target().unwrap());
        joiner.ask_at(&[addr(0)]).unwrap();
        assert!(joiner.ask_at(&[addr(0); 9]).is_err());
        let mut lobbies = [Lobby::host(config(0)).unwrap(), Lobby::join(config(1), target).unwrap()];
        let init = joiner.write_init(ms(0), ticket, b"x").unwrap();
        let mut buf = [0; MAX_DATAGRAM];
        let mut sent = |seal: &mut Seal, lobby: &mut Lobby| {
            let (_, len) = seal.around(lobby).poll_transmit(ms(0), &mut buf).unwrap();
            buf[..len].to_vec()
        };
        // REQUEST, RETRY and INIT.
        for _ in 0..2 {
            let datagram = sent(&mut joiner, &mut lobbies[1]);
            host.around(&mut lobbies[0]).handle_datagram(ms(0), addr(1), &datagram);
            let datagram = sent(&mut host, &mut lobbies[0]);
            if datagram[0] == 0xE1 {
                joiner.around(&mut lobbies[1]).handle_datagram(ms(0), addr(0), &datagram);
                continue;
            }
            let Ok(Brought::Guest(inner)) = host.handle_signal(ms(0), &init) else { panic!("a guest") };
            let resp = host.answer_signal(ms(0), inner, b"y").unwrap();
            if is_path_first {
                assert_eq!(joiner.handle_signal(ms(0), &resp), Ok(Brought::Host(target)));
                joiner.offer_path(ms(0), target, addr(7), LATENCY);
            }
            joiner.around(&mut lobbies[1]).handle_datagram(ms(0), addr(0), &datagram);
            if !is_path_first {
                assert_eq!(joiner.handle_signal(ms(0), &resp), Err(SealRefusal::Unexpected));
            }
        }
        let used = if is_path_first { addr(7) } else { addr(0) };
        assert_eq!((joiner.outer_addr(target), joiner.stats().connections), (Some(used), 1));
        assert_eq!(joiner.stats().refused.of(SealRefusal::Unexpected), 1);
    }
}
