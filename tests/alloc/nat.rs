//! A match on a path that was searched for takes memory for its checks, which are rare, and for nothing else.

use crate::counted;
use core::time::Duration;
use rebout::Randomness;
use rebout::lab::nat::{NatConfig, NatTraversal};
use rebout::lab::seal::Seal;
use rebout::{Config, Cues, Game, Input, Inputs, Lobby, Protocol, Session, fields};
use std::net::SocketAddr;

const FRAME: Duration = Duration::from_nanos(16_666_667);
const ADDRS: [SocketAddr; 2] = [addr(1), addr(2)];

const fn addr(n: u8) -> SocketAddr {
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, n)), 7)
}

#[derive(Clone, Copy)]
struct Count {
    frames: u32,
}
fields!(Count { frames });

impl Game for Count {
    fn step(&mut self, _: Inputs, _: &mut Cues) {
        self.frames += 1;
    }
}

struct Machine {
    nat: NatTraversal,
    seal: Seal,
    lobby: Option<Lobby>,
    session: Option<Session<Count>>,
    game: Count,
}

impl Machine {
    fn new(nat: NatTraversal, seal: Seal, lobby: Lobby) -> Self {
        Self { nat, seal, lobby: Some(lobby), session: None, game: Count { frames: 0 } }
    }

    fn with<R>(&mut self, call: impl FnOnce(&mut dyn Protocol) -> R) -> R {
        match (&mut self.session, &mut self.lobby) {
            (Some(session), _) => call(&mut self.nat.around(&mut self.seal, session)),
            (None, Some(lobby)) => call(&mut self.nat.around(&mut self.seal, lobby)),
            (None, None) => unreachable!("a machine has one of them"),
        }
    }
}

/// Hands datagrams over until neither machine has one.
fn exchange(machines: &mut [Machine; 2], now: Duration) {
    let mut buf = [0; 1_264];
    loop {
        let mut quiet = true;
        for from in 0..2 {
            while let Some((to, len)) = machines[from].with(|protocol| protocol.poll_transmit(now, &mut buf))
            {
                assert_eq!(to, ADDRS[1 - from]);
                machines[1 - from].with(|protocol| protocol.handle_datagram(now, ADDRS[from], &buf[..len]));
                quiet = false;
            }
        }
        if quiet {
            return;
        }
    }
}

pub(crate) fn all() {
    a_frame_on_a_searched_path_allocates_nothing_between_checks();
    println!("a frame on a searched path allocates nothing between checks: ok");
}

fn a_frame_on_a_searched_path_allocates_nothing_between_checks() {
    let config = |n: usize| Config::new(7).with(|config| config.lobby.entropy = Some(5 + n as u64));
    let mut seal = Seal::host(Randomness::Seeded(1)).unwrap();
    let mut host = NatTraversal::host_manual(NatConfig::new(std::time::Instant::now(), [ADDRS[0]])).unwrap();
    let offer = host.offer(Duration::ZERO, &mut seal).unwrap();
    let mut joiner =
        NatTraversal::join_manual(NatConfig::new(std::time::Instant::now(), [ADDRS[1]]), &offer).unwrap();
    let mut joining = Seal::join_by_signal(Randomness::Seeded(2), *offer.key()).unwrap();
    let answer = joiner.answer(Duration::ZERO, &mut joining).unwrap();
    host.take_answer(Duration::ZERO, &mut seal, &answer).unwrap();
    let target = joining.target().unwrap();
    let mut machines = [
        Machine::new(host, seal, Lobby::host(config(0)).unwrap()),
        Machine::new(joiner, joining, Lobby::join(config(1), target).unwrap()),
    ];
    let mut now = Duration::ZERO;
    let agreed =
        |machine: &Machine| machine.lobby.as_ref().is_some_and(|lobby| lobby.agreed().unwrap().is_some());
    while !machines.iter().all(agreed) {
        now += Duration::from_millis(5);
        assert!(now < Duration::from_secs(9), "{}", machines[1].nat.progress());
        exchange(&mut machines, now);
    }
    for machine in &mut machines {
        machine.session = Some(machine.lobby.take().unwrap().start(now, &machine.game).unwrap());
    }
    let mut with_memory = 0;
    for frame in 0..1_200 {
        now += FRAME;
        let (calls, ..) = counted(|| {
            for machine in &mut machines {
                let session = machine.session.as_mut().unwrap();
                session.advance(now, &mut machine.game, Input::NEUTRAL);
                while session.poll_event().is_some() {}
            }
            exchange(&mut machines, now);
        });
        with_memory += u32::from(frame >= 300 && calls > 0);
    }
    assert!(machines[0].session.as_ref().unwrap().settled().0 > 1_000);
    // Fifteen seconds, a check every five of each machine and its answer.
    assert!(with_memory <= 12, "{with_memory} of 900 frames");
}
