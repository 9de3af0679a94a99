//! Two sealed lobbies meet in as many round trips as bare ones, and play a whole match.

use core::time::Duration;
use games::playground::PLAY;
use rebout::Randomness;
use rebout::lab::link::{Chance, LinkConfig};
use rebout::lab::seal::Seal;
use rebout::lab::sim::{Clock, EntryKind, Recording};
use rebout::lab::{HOST, JOINER, Setup, SimMatch, SimPeer, addresses};
use rebout::{Config, Event, Lobby, LobbyError, Reason};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Link {
    Bare,
    Invited,
    Open,
}

fn sim_match(seed: u64, link: LinkConfig, kind: Link) -> SimMatch<games::playground::Playground> {
    let mut setup = Setup::new(seed, link);
    setup.start_within = ms(1);
    let mut sim = SimMatch::new(setup, PLAY);
    match kind {
        Link::Bare => {}
        Link::Invited => sim.seal(seed),
        Link::Open => sim.seal_open(seed),
    }
    sim
}

/// When each machine has begun.
fn begun(sim: &mut SimMatch<games::playground::Playground>) -> [Duration; 2] {
    let both = |sim: &SimMatch<_>| [HOST, JOINER].iter().all(|id| sim.machine(*id).started_at.is_some());
    assert!(sim.step_until(Duration::from_secs(30), both), "{sim:?}");
    [HOST, JOINER].map(|id| sim.machine(id).started_at.unwrap())
}

#[test]
fn sealed_handshake_has_the_round_trips_of_a_bare_one() {
    let times = [Link::Bare, Link::Invited, Link::Open]
        .map(|kind| begun(&mut sim_match(1, LinkConfig::new(ms(40)), kind)));
    assert_eq!((times[0], times[0]), (times[1], times[2]));
    let [host, joiner] = times[0];
    assert!((ms(200)..ms(202)).contains(&host) && (ms(240)..ms(242)).contains(&joiner), "{times:?}");
}

#[test]
fn at_20_percent_loss_a_sealed_handshake_takes_no_longer() {
    let link = LinkConfig { loss: Chance::percent(20), ..LinkConfig::new(ms(40)) };
    let sorted = |kind| {
        let mut all: Vec<Duration> =
            (0..300).map(|seed| begun(&mut sim_match(seed, link, kind))[JOINER]).collect();
        all.sort();
        all
    };
    let bare = sorted(Link::Bare);
    for kind in [Link::Invited, Link::Open] {
        let sealed = sorted(kind);
        // The median, and the slowest of ten, of twenty and of a hundred: within a tenth of the interval of a HELLO.
        for at in [150, 270, 285, 297] {
            let (ours, theirs) = (sealed[at], bare[at]);
            assert!(
                ours <= theirs + ms(20) || at > 290 && ours <= theirs + ms(200),
                "{kind:?} {at}: {ours:?} {theirs:?}"
            );
        }
        let mean = |all: &[Duration]| all.iter().sum::<Duration>() / all.len() as u32;
        assert!(mean(&sealed) <= mean(&bare) + ms(20), "{kind:?}: {:?} {:?}", mean(&sealed), mean(&bare));
    }
}

#[test]
fn sealed_match_is_played_whole_and_nothing_of_it_is_plain() {
    for kind in [Link::Invited, Link::Open] {
        let link = LinkConfig { loss: Chance::percent(5), jitter: ms(10), ..LinkConfig::new(ms(40)) };
        let mut sim = sim_match(2, link, kind);
        sim.world.network_mut().record(Recording::Full);
        assert!(sim.run_until_frame(1_200), "{sim:?}");
        assert_eq!(sim.flaw(true), None);
        let entries = sim.world.network().transcript().entries();
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Sent) {
            assert!(rebout::lab::wire::seal::is_sealed(&entry.datagram), "{entry:?}");
        }
        for id in [HOST, JOINER] {
            let stats = sim.machine(id).seal.as_ref().unwrap().stats();
            assert_eq!((stats.refused.total(), stats.connections), (0, 1), "{kind:?} {stats:?}");
        }
    }
}

#[test]
fn goodbye_is_heard_at_once_and_both_know_how_it_ended() {
    let mut sim = sim_match(3, LinkConfig::new(ms(40)), Link::Invited);
    assert!(sim.run_until_frame(120));
    sim.session_mut(JOINER).leave();
    let left = sim.world.now();
    assert!(sim.step_until(Duration::from_secs(2), |sim| sim.ending(HOST).is_some()));
    assert!(sim.world.now() - left <= ms(70), "{:?}", sim.world.now() - left);
    assert_eq!(sim.ending(HOST), Some(&Event::Disconnected { reason: Reason::Left }));
}

#[test]
fn joiner_that_starts_anew_is_not_sent_away() {
    let mut sim = sim_match(4, LinkConfig::new(ms(40)), Link::Invited);
    assert!(sim.run_until_frame(120));
    let key = sim.machine(HOST).seal.as_ref().unwrap().public_key().unwrap();
    sim.machine_mut(JOINER).asleep = true;
    sim.run_for(ms(300));
    let seal = Seal::join(Randomness::Seeded(77), key, &addresses()[..1]).unwrap();
    // The host waits for the old connection for 30 s: a new one does not prove that it is the same player.
    let patient = Config::new(0xB0).with(|config| {
        (config.rollback.delay_frames, config.timeouts.join_timeout) = (Some(0), Duration::from_secs(60));
    });
    let lobby = Lobby::join(patient, addresses()[HOST]).unwrap();
    sim.restart(JOINER, lobby);
    sim.machine_mut(JOINER).seal = Some(seal);
    assert!(sim.run_until(Duration::from_secs(35), |sim| sim.ending(HOST).is_some()));
    assert_eq!(sim.machine(JOINER).error, None, "it still asks");
    // The host waits again, and is found.
    let lobby = Lobby::host(Config::new(0xB0).with(|config| config.rollback.delay_frames = Some(0))).unwrap();
    let seal = sim.machine_mut(HOST).seal.take();
    sim.restart(HOST, lobby);
    sim.machine_mut(HOST).seal = seal;
    assert!(sim.run_until_frame(60), "{sim:?}");
}

#[test]
fn stranger_who_asks_during_a_match_hears_that_it_is_full() {
    let mut sim = sim_match(5, LinkConfig::new(ms(40)), Link::Invited);
    assert!(sim.run_until_frame(120));
    let key = sim.machine(HOST).seal.as_ref().unwrap().public_key().unwrap();
    let config = Config::new(0xB0).with(|config| {
        config.rollback.delay_frames = Some(0);
        config.lobby.entropy = Some(5);
    });
    let mut third = SimPeer::new(config, Some(addresses()[HOST]), PLAY);
    third.seal = Some(Seal::join(Randomness::Seeded(78), key, &addresses()[..1]).unwrap());
    let now = sim.world.now();
    let id = sim.world.add("192.0.2.3:7003".parse().unwrap(), Clock::default(), now, third);
    sim.run_for(Duration::from_secs(2));
    assert_eq!(sim.world.machine(id).error, Some(LobbyError::Full));
    assert_eq!((sim.flaw(true), sim.told(HOST).count()), (None, 0));
}

#[test]
fn nothing_secret_is_printed() {
    let sim = sim_match(6, LinkConfig::new(ms(40)), Link::Invited);
    let seal = sim.machine(HOST).seal.as_ref().unwrap();
    let shown = format!("{seal:?}");
    for key in [seal.public_key().unwrap(), seal.secret_key().unwrap()] {
        assert!(!shown.contains(&format!("{:?}", &key[..4]).replace(['[', ']'], "")), "{shown}");
    }
    assert!(shown.starts_with("Seal { connections: 0, stats"), "{shown}");
}
