//! A machine that changes networks in the middle of a sealed match, on real sockets.

use crate::sums::Sums;
use core::time::Duration;
use rebout::Randomness;
use rebout::lab::seal::Seal;
use rebout::net::udp::UdpDriver;
use rebout::{Advanced, Config, Event, Input, Invite, Lobby, Session};

struct Machine {
    udp: UdpDriver,
    seal: Seal,
    game: Sums,
    session: Option<Session<Sums>>,
    events: Vec<Event>,
}

impl Machine {
    fn new(seal: Seal) -> Self {
        let udp = UdpDriver::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        Self { udp, seal, game: Sums { sums: [0; 2] }, session: None, events: Vec::new() }
    }

    fn turn(&mut self) {
        let Some(session) = &mut self.session else { return };
        self.udp.poll(&mut self.seal.around(session)).unwrap();
        let now = self.udp.now();
        if session.frame_due(now) {
            let buttons = rebout::Buttons((session.current().0 / 4 * 7) as u16);
            let advanced = session.advance(now, &mut self.game, Input::from(buttons));
            assert_ne!(advanced, Advanced::NotDue);
            self.udp.flush(&mut self.seal.around(session)).unwrap();
        }
        // How fast a busy machine runs is not the matter here.
        let of_speed = |event: &Event| matches!(event, Event::PeerSlow { .. } | Event::PeerRecovered);
        self.events.extend(core::iter::from_fn(|| session.poll_event()).filter(|event| !of_speed(event)));
    }

    fn settled(&self) -> u32 {
        self.session.as_ref().map_or(0, |session| session.settled().0)
    }
}

fn config() -> Config {
    let (interrupted_after, lost_after) = (Duration::from_secs(5), Duration::from_secs(20));
    // A delay that is measured would be told to the peer, and on a busy machine it changes.
    Config::new(0xB0).with(|config| {
        config.game.frame_rate = rebout::FrameRate::hz(480);
        config.rollback.delay_frames = Some(1);
        config.timeouts.interrupted_after = interrupted_after;
        config.timeouts.lost_after = lost_after;
    })
}

#[test]
fn player_who_changes_networks_plays_on_without_an_event() {
    let host = Seal::host(Randomness::System).unwrap();
    let key = host.public_key().unwrap();
    let mut host = Machine::new(host);
    let invite: Invite = Invite::new(key, [host.udp.local_addr()]).unwrap().to_string().parse().unwrap();
    let mut joiner = Machine::new(Seal::join(Randomness::System, *invite.key(), invite.addresses()).unwrap());
    let target = joiner.seal.target().unwrap();
    let mut lobbies = [Lobby::host(config()).unwrap(), Lobby::join(config(), target).unwrap()];
    while lobbies.iter().any(|lobby| lobby.agreed().unwrap().is_none()) {
        for (machine, lobby) in [&mut host, &mut joiner].into_iter().zip(&mut lobbies) {
            machine.udp.poll(&mut machine.seal.around(lobby)).unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    for (machine, lobby) in [&mut host, &mut joiner].into_iter().zip(lobbies) {
        machine.session = Some(lobby.start(machine.udp.now(), &machine.game).unwrap());
    }
    let mut machines = [host, joiner];
    for (frame, moves) in [(200, None), (500, Some(1)), (800, Some(0))] {
        if let Some(id) = moves {
            let udp: &mut UdpDriver = &mut machines[id].udp;
            udp.rebind("127.0.0.1:0".parse().unwrap()).unwrap();
        }
        while machines.iter().any(|machine| machine.settled() < frame) {
            for (id, machine) in machines.iter_mut().enumerate() {
                machine.turn();
                assert_eq!(machine.events, [], "machine {id}, frame {}", machine.settled());
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}
