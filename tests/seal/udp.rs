//! Sealed links on real sockets: the driver runs a seal like any other protocol.

use core::time::Duration;
use games::playground::Playground;
use rebout::Randomness;
use rebout::lab::seal::Seal;
use rebout::net::udp::UdpDriver;
use rebout::{Config, Input, Lobby};

#[test]
fn two_sealed_machines_meet_and_play_over_udp() {
    let mut udp = [0, 1].map(|_| UdpDriver::bind("127.0.0.1:0".parse().unwrap()).unwrap());
    let host = Seal::host(Randomness::System).unwrap();
    let key = host.public_key().unwrap();
    let join = Seal::join(Randomness::System, key, &[udp[0].local_addr()]).unwrap();
    let target = join.target().unwrap();
    let mut seals = [host, join];
    let config = || Config::new(0xB0).with(|config| config.rollback.delay_frames = Some(1));
    let mut lobbies = [Lobby::host(config()).unwrap(), Lobby::join(config(), target).unwrap()];
    while lobbies.iter().any(|lobby| lobby.agreed().unwrap().is_none()) {
        for id in 0..2 {
            let until = udp[id].now() + Duration::from_millis(1);
            udp[id].run_until(&mut seals[id].around(&mut lobbies[id]), until).unwrap();
        }
    }
    let peer = lobbies[0].agreed().unwrap().unwrap().peer;
    assert_eq!(seals[0].outer_addr(peer), Some(udp[1].local_addr()));
    let mut games = [0, 1].map(|_| Playground::new(7).unwrap());
    let [one, two] = lobbies;
    let mut sessions =
        [one.start(udp[0].now(), &games[0]).unwrap(), two.start(udp[1].now(), &games[1]).unwrap()];
    while sessions.iter().any(|session| session.settled().0 < 60) {
        for id in 0..2 {
            let (session, now) = (&mut sessions[id], udp[id].now());
            if session.frame_due(now) {
                session.advance(now, &mut games[id], Input::default());
            }
            let until = udp[id].now() + Duration::from_millis(1);
            udp[id].run_until(&mut seals[id].around(session), until).unwrap();
        }
        assert!(sessions.iter().all(|session| !session.ended()));
    }
    for (seal, session) in seals.iter().zip(&sessions) {
        assert_eq!((seal.stats().refused.total(), session.stats().refused.total()), (0, 0));
    }
}
