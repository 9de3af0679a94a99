//! A peer whose address changes plays on, and somebody who forwards its packets pulls nothing away.

use crate::net::ms;
use core::time::Duration;
use games::playground::{PLAY, Playground};
use rebout::lab::sim::NatKind;
use rebout::lab::{Bout, HOST, JOINER, Setup, addresses};
use rebout::net::link::{Chance, LinkConfig};
use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

const SECOND: Duration = Duration::from_secs(1);

/// A match with an input delay of four frames, by invite with an even seed and by address with an odd one. If `behind` is a machine, it is behind a NAT that filters by address and
/// port, with the outside address that the machine would have without it.
fn playing(seed: u64, link: LinkConfig, behind: Option<usize>) -> Bout<Playground> {
    let setup = Setup::new(seed, link).configure(|config| config.rollback.delay_frames = Some(4));
    let mut bout = Bout::new(setup, PLAY);
    if seed.is_multiple_of(2) {
        bout.seal(seed);
    } else {
        bout.seal_open(seed);
    }
    if let Some(id) = behind {
        let network = bout.world.network_mut();
        let nat = network.add_nat(addresses()[id].ip(), NatKind::PortRestricted);
        network.place_behind(id, nat);
        let outside = network.map(Duration::ZERO, id, addresses()[1 - id]);
        assert_eq!(outside, addresses()[id]);
    }
    assert!(bout.run_until_frame(180), "{bout:?}");
    bout
}

/// The longest time between two frames that were stepped, on each machine, from now on.
fn gaps(bout: &mut Bout<Playground>) -> [Rc<Cell<Duration>>; 2] {
    [HOST, JOINER].map(|id| {
        let longest = Rc::new(Cell::new(Duration::ZERO));
        let (writer, mut last) = (Rc::clone(&longest), None);
        bout.world.machine_mut(id).watch = Some(Box::new(move |now, advanced, _, _| {
            if advanced == rebout::Advanced::Stepped {
                if let Some(last) = last {
                    writer.set(writer.get().max(now - last));
                }
                last = Some(now);
            }
        }));
        longest
    })
}

#[test]
fn a_port_change_of_either_side_is_no_event() {
    for id in [HOST, JOINER] {
        for seed in 0..6 {
            let link = LinkConfig { loss: Chance::percent(5), ..LinkConfig::new(ms(100)) };
            let mut bout = playing(seed, link, Some(id));
            let gaps = gaps(&mut bout);
            let real = |bout: &Bout<Playground>| {
                let machine = bout.machine(1 - id);
                machine.seal.as_ref().unwrap().real(machine.agreed().unwrap().peer).unwrap()
            };
            let mut ports = vec![real(&bout).port()];
            for change in 1..4 {
                let now = bout.world.now();
                bout.world.network_mut().forget(0, now + ms(10));
                bout.run_for(10 * SECOND);
                assert!(!ports.contains(&real(&bout).port()), "change {change} of machine {id}, seed {seed}");
                ports.push(real(&bout).port());
            }
            assert_eq!(bout.flaw(true), None);
            assert_eq!((bout.told(HOST).count(), bout.told(JOINER).count()), (0, 0), "{bout:?}");
            let longest = gaps.map(|gap| gap.get());
            assert!(longest.iter().all(|gap| *gap < ms(300)), "{longest:?} for machine {id}, seed {seed}");
        }
    }
}

#[test]
fn a_racing_forwarder_pulls_nothing_away() {
    let longest = against_a_forwarder(2, ms(80), 60 * SECOND);
    assert!(longest.iter().all(|gap| *gap < ms(40)), "no stall: {longest:?}");
}

/// On a link so long that the forwarder has always answered a challenge that the joiner itself has not.
#[test]
fn a_forwarder_who_answers_sooner_pulls_nothing_away() {
    against_a_forwarder(2, ms(130), 10 * SECOND);
    against_a_forwarder(3, ms(130), 10 * SECOND);
}

/// Lets a forwarder race for a while, and returns the longest times between two frames. Everything that the joiner says is
/// at the host first from another address, and everything that the host says there is forwarded too.
fn against_a_forwarder(seed: u64, latency: Duration, time: Duration) -> [Duration; 2] {
    let mut bout = playing(seed, LinkConfig::new(latency), None);
    let forwarder = bout.world.add_stranger(SocketAddr::from(([198, 51, 100, 7], 666)));
    bout.world.network_mut().set_links(forwarder, HOST, LinkConfig::new(ms(1)));
    bout.world.network_mut().set_links(forwarder, JOINER, LinkConfig::new(ms(1)));
    bout.world.network_mut().record(rebout::lab::sim::Recording::Full);
    let gaps = gaps(&mut bout);
    let (mut seen, mut mailed) = (0, 0);
    let end = bout.world.now() + time;
    while bout.world.now() < end {
        bout.run_for(ms(1));
        for id in [HOST, JOINER] {
            let machine = bout.machine(id);
            let real = machine.seal.as_ref().unwrap().real(machine.agreed().unwrap().peer);
            assert_eq!(real, Some(addresses()[1 - id]), "at machine {id}, {:?}", bout.world.now());
        }
        let now = bout.world.now();
        let entries = bout.world.network().transcript().entries();
        let sent: Vec<_> = entries[seen..]
            .iter()
            .filter(|entry| entry.kind == rebout::lab::sim::EntryKind::Sent)
            .filter(|entry| entry.from == addresses()[JOINER] && entry.to == addresses()[HOST])
            .map(|entry| entry.datagram.clone())
            .collect();
        seen = entries.len();
        for packet in sent {
            bout.world.network_mut().send(now, forwarder, addresses()[HOST], &packet);
        }
        let mail: Vec<_> =
            bout.world.mail()[mailed..].iter().map(|mail| (mail.from, mail.datagram.clone())).collect();
        mailed += mail.len();
        for (from, packet) in mail {
            let to = if from == addresses()[HOST] { JOINER } else { HOST };
            bout.world.network_mut().send(now, forwarder, addresses()[to], &packet);
        }
        if mailed > 2_000 {
            bout.world.clear_mail();
            mailed = 0;
        }
    }
    assert_eq!(bout.flaw(false), None);
    assert_eq!((bout.told(HOST).count(), bout.told(JOINER).count()), (0, 0));
    let forwarded = u128::from(bout.world.network().received(forwarder).datagrams);
    assert!(forwarded > time.as_millis() / 20, "it was taken for a second address: {forwarded}");
    gaps.map(|gap| gap.get())
}
